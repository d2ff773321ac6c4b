// SPDX-License-Identifier: Apache-2.0
// Is a kernel right? Its results are compared with the float64 definition; where they are wrong, the mistake is named.
#pragma once
#include "harness/check/judge.hpp"
#include <algorithm>
#include <array>
#include <functional>
#include <map>

namespace recollect {

/// A problem with its float64 results and the noise of each type: computed once, shared by candidates and types.
class Reference {
public:
  explicit Reference(CheckCase problem, int chunk = 64);
  /// With results in other arrays than the layer's, and their noise.
  Reference(CheckCase problem, PartList results, std::function<Noise(Precision)> noise);
  const CheckCase &problem() const { return problem_; }
  const PartList &results() const { return results_; }
  const Noise &noise(Precision precision) const; // computed when first asked for
  size_t heads_per_text() const { return size_t(problem_.given.shape.H); }
  /// Heads of each batch entry in this part, whose arrays may share heads.
  size_t heads_in(const Part &part) const { return std::max<size_t>(1, part.heads / size_t(problem_.given.shape.B)); }

private:
  CheckCase problem_;
  int chunk_ = 0;
  PartList results_;
  std::function<Noise(Precision)> given_noise_;       // null: that of the layer's own arrays
  mutable std::vector<std::vector<double>> rounding_; // float32_rounding(), computed with the first noise
  mutable std::map<Precision, Noise> noise_;
};

/// Every part of `candidate` against the reference. Parts that the candidate lacks are not judged.
std::vector<Judged> judge_all(const Reference &reference, const PartList &candidate, Precision precision);
/// Whether every part is within the limits: what a mistake must be to explain a candidate, with itself as the reference.
bool all_right(const std::vector<Judged> &judged);

/// What the user calls a part, by the definition's name for it: dg for dalpha. Parts that go by one name are left out.
using PartNames = std::map<std::string, std::string>;

struct Checked {
  Judgement judgement = Judgement::undecided;
  std::string reason;                         // of `undecided`: what could not be decided and why
  std::vector<Judged> parts;                  // in the order of the reference
  PartNames names;                            // of these parts and of the missing ones
  std::vector<std::string> not_checked;       // parts of the reference that the candidate lacks
  std::vector<std::string> inexact;           // arrays of the user that their types cannot represent
  std::vector<std::array<double, 3>> by_step; // first step, one past the last, worst error of o there: octaves
  std::vector<std::string> diagnosis; // the nearest known mistake, or two that explain the candidate equally well
  std::string where;                  // where the error lives
  bool right() const { return judgement == Judgement::right; }
};

/// "dg (dalpha)", or the one name.
std::string called(const std::string &part, const PartNames &names);

/// The verdict, without a diagnosis.
Checked verdict(const Reference &reference, const PartList &candidate, Precision precision,
                const PartNames &names = {});
/// The verdict and, by the catalogue of mistakes, the diagnosis.
Checked check(const Reference &reference, const PartList &candidate, Precision precision);

} // namespace recollect
