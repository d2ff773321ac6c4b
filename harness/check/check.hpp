// SPDX-License-Identifier: Apache-2.0
// Decides whether a kernel is right: compares its results with the float64 definition and, if they are wrong, names the
// mistake.
#pragma once
#include "harness/check/judge.hpp"
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>

namespace recollect {

/// A problem, its float64 results, and the rounding noise of each type. They are computed once and serve all
/// candidates.
class Reference {
public:
  explicit Reference(CheckCase problem, int chunk = 64);
  /// This constructor is for results in arrays that are not the layer's own; `noise` gives the noise of these arrays.
  Reference(std::shared_ptr<const CheckCase> problem, PartList results, std::function<Noise(Precision)> noise);
  const CheckCase &problem() const { return *problem_; }
  std::shared_ptr<const CheckCase> shared_problem() const { return problem_; }
  const PartList &results() const { return results_; }
  const Noise &noise(Precision precision) const; // computed when first asked for
  size_t heads_per_text() const { return size_t(problem_->given.shape.H); }
  /// Heads per batch entry in this part. They are fewer than H in an array whose heads are shared.
  size_t heads_in(const Part &part) const { return std::max<size_t>(1, part.heads / size_t(problem_->given.shape.B)); }

private:
  std::shared_ptr<const CheckCase> problem_;
  int chunk_ = 0;
  PartList results_;
  std::function<Noise(Precision)> given_noise_;       // null: the noise of the layer's own arrays
  mutable std::vector<std::vector<double>> rounding_; // float32_rounding(), computed when noise() is first called
  mutable std::map<Precision, Noise> noise_;
};

/// Judges every part of `candidate` against the reference, except parts that the candidate lacks.
std::vector<Judged> judge_all(const Reference &reference, const PartList &candidate, Precision precision);
/// Whether no part is wrong.
bool all_right(const std::vector<Judged> &judged);

/// Maps the definition's name of a part to the user's name, for instance dalpha to dg. Parts whose two names agree are
/// left out.
using PartNames = std::map<std::string, std::string>;

struct Checked {
  Judgement judgement = Judgement::undecided;
  std::string reason;                         // if undecided: what could not be decided and why
  std::vector<Judged> parts;                  // in the order of the reference
  PartNames names;                            // names of the parts in `parts` and in `not_checked`
  std::vector<std::string> not_checked;       // parts of the reference that the candidate lacks
  std::vector<std::string> inexact;           // the user's arrays whose types cannot represent their numbers
  std::vector<std::array<double, 3>> by_step; // worst error of o in ranges of doubling length: first step, end, error
  std::vector<std::string> diagnosis; // the nearest known mistake, or two that explain the candidate equally well
  std::string where;                  // where the error is located
  bool right() const { return judgement == Judgement::right; }
};

/// The user's name with the definition's name in parentheses, such as "dg (dalpha)". One name if both agree.
std::string called(const std::string &part, const PartNames &names);

/// The verdict, without a diagnosis. The caller must have symmetrised the gradients of symmetric states.
Checked verdict(const Reference &reference, const PartList &candidate, Precision precision,
                const PartNames &names = {});
/// The verdict, and the diagnosis from the catalogue of mistakes.
Checked check(const Reference &reference, const PartList &candidate, Precision precision);

} // namespace recollect
