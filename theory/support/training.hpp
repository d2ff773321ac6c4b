// SPDX-License-Identifier: Apache-2.0
// Models that claims train themselves, in seconds.
#pragma once
#include "harness/numerics/statistics.hpp"
#include "harness/system/memory.hpp"
#include "harness/train/trainer.hpp"
#include "theory/support/claims.hpp"
#include <cmath>

namespace recollect::theory {

/// Settings with some of them changed.
inline Assignments changed(Assignments settings, const Assignments &changes) {
  for (const auto &[name, value] : changes) settings[name] = value;
  return settings;
}

/// Accuracy on held-out texts, and the standard error from drawing the texts; that of one model, not of all models.
inline Mean trained_accuracy(const Assignments &settings, std::uint64_t seed) {
  keep_freed_memory();
  train::Trainer trainer(train::resolve_setup(settings), seed);
  while (!trainer.done()) trainer.step(trainer.together());
  std::vector<double> accuracies;
  for (const train::Judged &batch : trainer.evaluate_batches()) accuracies.push_back(batch.accuracy());
  return mean_of(accuracies);
}

/// Of independent means.
inline Mean difference(const Mean &a, const Mean &b) {
  return {a.mean - b.mean, std::hypot(a.standard_error, b.standard_error)};
}

/// A point's parameters.
inline Params place_of(const Assignments &settings) {
  Params at;
  for (const auto &[name, value] : settings) at.set(name, value);
  return at;
}

/// Controls that must stay below the bound that the settings reach: accuracy(settings), shown at place(settings).
template <class Accuracy, class Place>
std::vector<Point> training_rivals(const Assignments &right, double bound, const Accuracy &accuracy,
                                   const Place &place) {
  const Assignments shuffled = changed(right, {{"labels", "shuffled"}}), removed = changed(right, {{"mixer", "none"}});
  return {rival_system(at_least_point(accuracy(shuffled), bound), place(shuffled), "answers in random order"),
          rival_system(at_least_point(accuracy(removed), bound), place(removed), "no mixer")};
}

/// Settings that reach `most`, and exceed others by `gain`.
struct Gain {
  Assignments with, without;
  double most, gain;
  std::string reached, above; // what the points are called
};
/// Points that hold for every seed from 1 to `seeds` by accuracy(settings, seed), while no rival reaches `most`.
template <class Accuracy> std::vector<Point> gain_points(const Gain &g, int seeds, const Accuracy &accuracy) {
  const auto place = [](const Assignments &shown, int seed) {
    return place_of(changed(shown, {{"seed", number(seed)}}));
  };
  std::vector<Point> points;
  for (int seed = 1; seed <= seeds; ++seed) {
    const Mean with = accuracy(g.with, seed);
    append(points, {as_statement(at_least_point(with, g.most), place(g.with, seed), g.reached),
                    as_statement(at_least_point(difference(with, accuracy(g.without, seed)), g.gain),
                                 place(g.without, seed), g.above)});
  }
  append(points, training_rivals(
                     g.with, g.most, [&](const Assignments &shown) { return accuracy(shown, 1); },
                     [&](const Assignments &shown) { return place(shown, 1); }));
  return points;
}

/// A claim that trains these layers for up to a quarter of a minute. It is no row of the ledger, and in the full suite
/// only.
inline Claim reduced(const Claim &claim, std::vector<std::string> layers) {
  Claim c = running(claim, std::move(layers));
  c.covers = {}, c.suite = Effort::full;
  return c;
}

} // namespace recollect::theory
