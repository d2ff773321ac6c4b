// SPDX-License-Identifier: Apache-2.0
// The type that a file in tasks/ must return.
#pragma once
#include "harness/core/variant.hpp"

namespace recollect {

/// One instance of a task: the input, and the correct answers.
struct Problem {
  Sequence sequence;
  std::vector<int> scored;    // [T] 1 where the read is scored
  std::vector<double> target; // [B,H,T,Dv] the correct read at scored steps
  /// [B,H,N,Dv] the values among which a decoder chooses by the largest inner product. If empty, nothing is decoded.
  std::vector<double> candidates;
  std::vector<int> answer; // [B,H,T] index of the correct candidate at scored steps; -1: the head is not scored there
};

/// A number that Task::score reports.
struct Metric {
  const char *name;
  enum Better { neither, larger, smaller } better = neither;
};
const char *name_of(Metric::Better);
/// The metrics that score_reads (harness/numerics/scoring.hpp) reports.
constexpr Metric mse{"mse", Metric::smaller}, cosine{"cosine", Metric::larger}, accuracy{"accuracy", Metric::larger};

/// Chance and ceiling of the headline metric. Chance is the score of a layer without knowledge, which guesses among the
/// answers or reads zero. The ceiling is the score of a layer that reads the target itself.
struct Ends {
  double chance, ceiling;
};

struct Task {
  std::string name; // set by the registry
  std::string summary;
  std::string source;
  std::vector<ParamSpec> params;
  std::vector<Metric> metrics;                // the first is the headline
  std::function<Shape(const Params &)> shape; // shape of the sequence that `generate` makes
  std::function<Problem(const Params &, std::uint64_t seed)> generate;
  std::function<Score(const Params &, const Problem &, const Output &)> score;
  std::function<Ends(const Params &)> ends; // chance and ceiling of the headline metric; null: not known
  /// Why this variant's result on this task would be meaningless; "" if it is meaningful. The record of the case holds
  /// this reason.
  std::function<std::string(const Variant &, const Params &)> meaningless;
};

} // namespace recollect
