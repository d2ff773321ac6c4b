// SPDX-License-Identifier: Apache-2.0
// Statements of papers about trained models, judged by the models that were trained.
//
// In a comparison, each side has the learning rate with the best mean over seeds, out of the same rates. The exact
// permutation test over seeds (numerics/permutation.hpp) decides; it selects the rates again in every permutation.
// p-values are adjusted for the number of a suite's comparisons (numerics/false_discovery.hpp): of the comparisons
// called significant, at most one in twenty is expected to be false. If the 90 % interval of the difference of
// accuracies lies within +-.01, the verdict is "no difference that matters". A number is decided by the 95 % interval
// of the mean over seeds (Student's t). Each seed has the rate that is best for the other seeds, so that selecting the
// rate does not bias the mean. A diverged run decides nothing, unless the statement is about divergence.
#pragma once
#include "harness/train/training_record.hpp"

namespace recollect::train {

constexpr double level = 0.05;   // false discovery rate, for each direction
constexpr double matters = 0.01; // a difference of accuracies

/// One model of a results file.
struct TrainedModel {
  std::string experiment;
  std::uint64_t seed;
  Assignments settings; // with the layer's parameters as "LAYER.name"
  std::optional<Trained> trained;
  std::vector<CurvePoint> curve;
};
std::vector<TrainedModel> models_of(const Results &results);

/// One side of a statement.
struct Side {
  std::string rate; // the best rate; for a number the rates that are best for the other seeds, which may differ by seed
  double mean = std::nan(""), low = std::nan(""), high = std::nan(""); // low, high: the 95 % interval
  int seeds = 0, diverged = 0;
};

struct Ruling {
  /// holds, refuted (the opposite is shown, or the number lies outside), no difference that matters, undecided,
  /// undecided (why), or not run.
  std::string verdict = "not run";
  double p = std::nan("");                           // p-value of the comparison in the direction of the difference
  double adjusted = std::nan("");                    // adjusted for all comparisons of the suite
  double above = std::nan(""), below = std::nan(""); // p-values of both directions
  double low = std::nan(""), high = std::nan("");    // 90 % interval of the difference, if both have 3 seeds
  Side first, second;
};

/// Judges one statement, as if it were the suite's only one. Usage error if the statement names an experiment or
/// setting that no model has, if models of one side differ in more than rate and seed, if the sides have different
/// rates, or if there are more seeds than can be tested (most_permuted).
Ruling rule(const Statement &statement, const std::vector<TrainedModel> &models);
/// Judges all statements of a suite; comparisons are adjusted for their number, in each direction.
std::vector<Ruling> rule_all(const std::vector<Statement> &statements, const std::vector<TrainedModel> &models);
/// "accuracy of vla above softmax, pairs=24".
std::string says(const Statement &statement);
/// /trained_statements
Table table_of(const std::vector<Statement> &statements, const std::vector<Ruling> &rulings);

} // namespace recollect::train
