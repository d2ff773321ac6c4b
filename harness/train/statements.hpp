// SPDX-License-Identifier: Apache-2.0
// What a paper asserts of trained models, judged on those that were trained.
//
// A comparison takes each side at its best learning rate, by its mean over seeds, and both sides have the same
// rates to choose from. It is decided by the exact permutation test over seeds (numerics/permutation.hpp), whose
// every split chooses its rates anew, adjusted for the number of a suite's comparisons
// (numerics/false_discovery.hpp): of what a suite says is shown at most one in twenty is expected to be false. Where
// the 90 % interval of the difference of accuracies lies within +-.01 it is "no difference that matters". A number
// is decided by the 95 % interval of the mean over seeds (Student's t), every seed at the rate that is best for the
// other seeds, so that choosing favours nobody. A run that diverged decides nothing, unless divergence is what is
// stated.
#pragma once
#include "harness/train/training_record.hpp"

namespace recollect::train {

constexpr double level = 0.05;   // of false ones among what is shown, one way and the other
constexpr double matters = 0.01; // a difference of accuracies

/// A model of a results file.
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
  std::string rate; // the best; of a number the best for the other seeds, several where seeds differ in it
  double mean = std::nan(""), low = std::nan(""), high = std::nan(""); // of the 95 % interval
  int seeds = 0, diverged = 0;
};

struct Ruling {
  /// holds, refuted (the reverse is shown, or a number outside), no difference that matters, undecided, undecided (why), or
  /// not run.
  std::string verdict = "not run";
  double p = std::nan("");                           // of the comparison, the way that the difference goes
  double adjusted = std::nan("");                    // the same among all comparisons of the suite
  double above = std::nan(""), below = std::nan(""); // p one way and the other
  double low = std::nan(""), high = std::nan("");    // 90 % interval of first less second, where both have 3 seeds
  Side first, second;
};

/// One statement, as though its suite had no other. Usage error where it names no experiment or setting of these models, or
/// leaves more open than rate and seed, where its sides have other rates to choose from, or more seeds than are tested
/// (most_permuted).
Ruling rule(const Statement &statement, const std::vector<TrainedModel> &models);
/// All of a suite, their comparisons adjusted for their number, one way and the other.
std::vector<Ruling> rule_all(const std::vector<Statement> &statements, const std::vector<TrainedModel> &models);
/// "accuracy of vla above softmax, pairs=24".
std::string says(const Statement &statement);
/// /trained_statements
Table table_of(const std::vector<Statement> &statements, const std::vector<Ruling> &rulings);

} // namespace recollect::train
