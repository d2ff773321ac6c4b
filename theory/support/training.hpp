// SPDX-License-Identifier: Apache-2.0
// Models that a claim trains within seconds while it is measured.
#pragma once
#include "harness/train/trainer.hpp"
#include "theory/support/measure.hpp"

namespace recollect::theory {
/// Settings as the command line has them: "width=12 heads=1".
inline Assignments settings(const std::string &text) {
  Assignments all;
  for (const std::string &one : split(text, ' ')) parse_assignment(one, all);
  return all;
}
/// The settings, with some of them changed.
inline Assignments changed(Assignments settings, const Assignments &changes) {
  for (const auto &[name, value] : changes) settings[name] = value;
  return settings;
}

/// The accuracy of one model on held-out texts. Its standard error is over texts, not over models.
inline Mean trained_accuracy(const Assignments &settings, std::uint64_t seed) {
  train::Trainer trainer(train::resolve_setup(settings), seed);
  while (!trainer.done()) trainer.step(trainer.together());
  std::vector<double> accuracies;
  for (const train::Judged &batch : trainer.evaluate_batches()) accuracies.push_back(batch.accuracy());
  return mean_of(accuracies);
}

/// The difference of two independent means.
inline Mean difference(const Mean &a, const Mean &b) {
  return {a.mean - b.mean, std::hypot(a.standard_error, b.standard_error)};
}

/// The parameters that label a point.
inline Params place_of(const Assignments &settings) {
  Params at;
  for (const auto &[name, value] : settings) at.set(name, value);
  return at;
}

/// Adds two rivals: training with answers in random order, and a model without a mixer. Their accuracy must stay below
/// the bound that the right settings reach. accuracy(settings) measures, place(settings) labels the point.
template <class Accuracy, class Place>
void training_rivals(Points &points, const Assignments &right, double bound, const Accuracy &accuracy,
                     const Place &place) {
  const auto control = [&](const char *name, const Assignments &wrong) {
    points.at(place(wrong)).wrong_system(name, at_least_point(accuracy(wrong), bound));
  };
  control("answers in random order", changed(right, {{"labels", "shuffled"}}));
  control("no mixer", changed(right, {{"mixer", "none"}}));
}

/// The accuracy `most` that some settings must reach, and the `gain` by which they must exceed others.
struct Gain {
  Assignments with, without;
  double most, gain;
  std::string reached, above; // labels of the points
};
/// Adds two points for every seed from 1 to `seeds`: the accuracy with g.with is at least g.most, and it exceeds the
/// accuracy with g.without by at least g.gain. Then adds training_rivals(), at seed 1.
template <class Accuracy> void gain_points(Points &points, const Gain &g, int seeds, const Accuracy &accuracy) {
  const auto place = [](const Assignments &shown, int seed) {
    return place_of(changed(shown, {{"seed", number(seed)}}));
  };
  for (int seed = 1; seed <= seeds; ++seed) {
    const Mean with = accuracy(g.with, seed);
    points.at(place(g.with, seed)).statement(g.reached, at_least_point(with, g.most));
    points.at(place(g.without, seed))
        .statement(g.above, at_least_point(difference(with, accuracy(g.without, seed)), g.gain));
  }
  training_rivals(
      points, g.with, g.most, [&](const Assignments &shown) { return accuracy(shown, 1); },
      [&](const Assignments &shown) { return place(shown, 1); });
}
} // namespace recollect::theory
