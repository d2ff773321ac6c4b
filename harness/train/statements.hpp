// SPDX-License-Identifier: Apache-2.0
// Judges statements of papers about trained models by the results of our own trainings.
//
// A comparison says that the first of two sides is larger. Both sides are trained at the same learning rates, and each
// side uses the rate whose mean over seeds is best. An exact permutation test over seeds (numerics/permutation.hpp)
// decides; it selects the best rates again in every permutation. The p-values are adjusted for the number of
// comparisons in the suite (numerics/false_discovery.hpp): of the comparisons called significant, at most one in twenty
// is expected to be false. If the 90 % interval of the difference of accuracies lies within +-.01, the verdict is "no
// difference that matters".
//
// A statement about a number is decided by the 95 % interval of the mean over seeds (Student's t). Each seed is
// measured at the rate that is best for the other seeds, so that selecting the rate does not bias the mean.
//
// If one of the runs that decide a statement diverged, the statement is undecided, unless it is about divergence.
#pragma once
#include "harness/train/training_record.hpp"

namespace recollect::train {

constexpr double level = 0.05;   // false discovery rate, for each direction
constexpr double matters = 0.01; // smaller differences of accuracies do not matter

/// One planned model of a results file. `trained` is empty if it is not trained yet.
struct TrainedModel {
  std::string experiment;
  std::uint64_t seed;
  Assignments settings; // includes the layer's parameters, named "LAYER.name"
  std::optional<Trained> trained;
  std::vector<CurvePoint> curve;
};
std::vector<TrainedModel> models_of(const Results &results);

/// One side of a statement.
struct Side {
  std::string rate; // for a comparison, the best rate; for a number, every rate at which a seed was measured
  double mean = std::nan(""), low = std::nan(""), high = std::nan(""); // low, high: the 95 % interval
  int seeds = 0, diverged = 0;
};

struct Ruling {
  /// "holds", "refuted" (the second side is larger, or the number lies outside the statement's limits), "no difference
  /// that matters", "undecided", "undecided (REASON)" or "not run".
  std::string verdict = "not run";
  double p = std::nan("");                           // the smaller of `above` and `below`
  double adjusted = std::nan("");                    // p, adjusted for all comparisons of the suite
  double above = std::nan(""), below = std::nan(""); // p-values for "the first side is larger" and "the second is"
  double low = std::nan(""), high = std::nan("");    // 90 % interval of the difference, if each side has 3 seeds
  Side first, second;
};

/// Judges one statement, without adjusting p-values for other statements. Usage error if no model has the experiment
/// and the settings of the statement, if models of one side differ in more than rate and seed, if the two sides have
/// different rates, or if a side has more than most_permuted seeds.
Ruling rule(const Statement &statement, const std::vector<TrainedModel> &models);
/// Judges all statements of a suite. In each direction, p-values are adjusted for the number of comparisons.
std::vector<Ruling> rule_all(const std::vector<Statement> &statements, const std::vector<TrainedModel> &models);
/// The statement in words: "accuracy of vla above softmax, pairs=24".
std::string says(const Statement &statement);
/// The table /trained_statements of a results file.
Table table_of(const std::vector<Statement> &statements, const std::vector<Ruling> &rulings);

} // namespace recollect::train
