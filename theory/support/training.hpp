// SPDX-License-Identifier: Apache-2.0
// Models that claims train for themselves, in seconds.
#pragma once
#include "harness/numerics/statistics.hpp"
#include "harness/train/trainer.hpp"
#include <cmath>

namespace recollect::theory {

/// With some of them changed.
inline Assignments changed(Assignments settings, const Assignments &changes) {
  for (const auto &[name, value] : changes) settings[name] = value;
  return settings;
}

/// Accuracy on held-out texts, and the standard error of their draw: that of a model, not of all models.
inline Mean trained_accuracy(const Assignments &settings, std::uint64_t seed) {
  train::keep_freed_memory();
  train::Trainer trainer(train::resolve_setup(settings), seed);
  while (!trainer.done()) trainer.step();
  std::vector<double> accuracies;
  for (const train::Judged &batch : trainer.evaluate_batches()) accuracies.push_back(batch.accuracy());
  return mean_of(accuracies);
}

/// Of independent means.
inline Mean difference(const Mean &a, const Mean &b) {
  return {a.mean - b.mean, std::hypot(a.standard_error, b.standard_error)};
}

} // namespace recollect::theory
