// SPDX-License-Identifier: Apache-2.0
// What a paper asserts of trained models, judged on those that were trained.
//
// Each side is taken at its best learning rate, by its mean over seeds, and both sides have the same rates to choose from.
// A comparison is decided by the exact permutation test over seeds (numerics/permutation.hpp), a number by the 95 %
// interval of the mean over seeds (Student's t). Both err once in twenty. That is what three seeds a side can show at all:
// fully apart they are 1 of 20 splits, five 1 of 252, and p is shown. A run that diverged has accuracy 0.
#pragma once
#include "harness/train/training_record.hpp"

namespace recollect::train {

constexpr double level = 0.05; // of an error, of a comparison one way and the other

/// A model of a results file.
struct TrainedModel {
  std::string experiment;
  std::uint64_t seed;
  Assignments settings; // with the layer's parameters as "LAYER.name"
  std::optional<Trained> trained;
  std::vector<CurvePoint> curve;
};
std::vector<TrainedModel> models_of(const Results &results);

/// One side of a statement at its best rate.
struct Side {
  std::string rate;
  double mean = std::nan(""), low = std::nan(""), high = std::nan(""); // of the 95 % interval
  int seeds = 0, diverged = 0;
};

struct Ruling {
  /// holds, refuted (the reverse is shown, or a number outside), undecided, or not run.
  std::string verdict = "not run";
  double p = std::nan(""); // of the comparison, the way that the difference goes
  Side first, second;
};

/// Usage error where the statement names no experiment or setting of these models, or leaves more open than rate and seed,
/// where its sides have other rates to choose from, or more seeds than are tested (most_permuted).
Ruling rule(const Statement &statement, const std::vector<TrainedModel> &models);
/// "accuracy of vla above softmax, pairs=24".
std::string says(const Statement &statement);
/// /trained_statements
Table table_of(const std::vector<Statement> &statements, const std::vector<Ruling> &rulings);

} // namespace recollect::train
