// SPDX-License-Identifier: Apache-2.0
#include "harness/check/check.hpp"
#include "harness/check/diagnosis.hpp"
#include "harness/check/where.hpp"
#include "harness/core/in_pieces.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <atomic>
#include <cmath>

namespace recollect {
namespace {

std::vector<std::array<double, 3>> octaves(const Part &reference, const std::vector<double> &candidate) {
  double scale = 0;
  for (double x : reference.values) scale = std::max(scale, std::fabs(x));
  std::vector<std::array<double, 3>> curve;
  for (size_t begin = 0, end = 1; begin < reference.rows; begin = end, end *= 2) {
    const size_t stop = std::min(end, reference.rows);
    double worst = 0;
    for (size_t head = 0; head < reference.heads; ++head)
      for (size_t i = (head * reference.rows + begin) * reference.columns;
           i < (head * reference.rows + stop) * reference.columns; ++i) {
        const double error = std::fabs(candidate[i] - reference.values[i]);
        worst = std::isnan(error) ? HUGE_VAL : std::max(worst, error);
      }
    curve.push_back({double(begin), double(stop), scale > 0 ? worst / scale : worst});
  }
  return curve;
}

bool exact(const std::vector<double> &values, Precision precision) {
  std::atomic<bool> all = true;
  in_pieces(values.size(), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end && all; ++i)
      if (rounded(values[i], precision) != values[i]) all = false;
  });
  return all;
}

std::vector<std::string> inexact_inputs(const CheckCase &problem, Precision precision) {
  const Precision storage = storage_of(precision);
  std::vector<std::string> names;
  for (Tensor tensor : all_tensors)
    if (!exact(problem.given[tensor], storage)) names.push_back(name_of(tensor));
  if (!exact(problem.given.state, storage)) names.push_back("state");
  if (!exact(problem.weights.o, storage)) names.push_back("do");
  if (!exact(problem.weights.state, storage)) names.push_back("dstate");
  return names;
}

/// The gradient of a symmetric matrix in a state may be split between its triangles in any way (variant.hpp).
PartList in_one_convention(PartList candidate, const CheckCase &problem) {
  if (Part *dstate = find_part(candidate, "dstate"))
    dstate->values = symmetrised(problem.variant, problem.given.shape, std::move(dstate->values));
  return candidate;
}

std::string drowned(const std::vector<Judged> &parts, Precision precision) {
  std::vector<std::string> names;
  for (const Judged &part : parts)
    if (part.judgement == Judgement::undecided)
      names.push_back(part.name + " (" + std::to_string(part.without_power.size()) + " heads)");
  return std::string("rounding in ") + name_of(precision) + " is as large as the values of " + join(names, ", ") +
         " on these inputs: zeros would pass for right";
}

} // namespace

Reference::Reference(CheckCase problem, int chunk)
    : problem_(std::move(problem)), chunk_(chunk), results_(definition_of(problem_)) {}

Reference::Reference(CheckCase problem, PartList results, std::function<Noise(Precision)> noise)
    : problem_(std::move(problem)), results_(std::move(results)), given_noise_(std::move(noise)) {}

const Noise &Reference::noise(Precision precision) const {
  const auto known = noise_.find(precision);
  if (known != noise_.end()) return known->second;
  if (given_noise_) return noise_.emplace(precision, given_noise_(precision)).first->second;
  if (rounding_.empty()) rounding_ = float32_rounding(problem_, results_);
  return noise_.emplace(precision, noise_of(problem_, results_, rounding_, precision, chunk_)).first->second;
}

std::vector<Judged> judge_all(const Reference &reference, const PartList &candidate, Precision precision) {
  const Noise &noise = reference.noise(precision);
  std::vector<size_t> given; // parts
  for (size_t i = 0; i < noise.size(); ++i)
    if (find_part(candidate, noise[i].name)) given.push_back(i);
  std::vector<Judged> all(given.size());
  const auto judge_some = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Part &part = reference.results()[given[i]];
      all[i] = judge(part, noise[given[i]], find_part(candidate, part.name)->values, reference.heads_in(part));
    }
  };
  size_t largest = 1; // an empty text and the parameters of gates have no o
  for (size_t i : given) largest = std::max(largest, reference.results()[i].values.size());
  in_pieces(given.size(), judge_some, largest);
  return all;
}

bool all_right(const std::vector<Judged> &judged) {
  return std::all_of(judged.begin(), judged.end(),
                     [](const Judged &part) { return part.judgement != Judgement::wrong; });
}

Checked check(const Reference &reference, const PartList &given, Precision precision, const Diagnosis &diagnosis) {
  const PartList candidate = in_one_convention(given, reference.problem());
  Checked found;
  found.parts = judge_all(reference, candidate, precision);
  for (const Part &part : reference.results())
    if (!find_part(candidate, part.name) && !(part.name == "dstate" && reference.problem().given.state.empty()))
      found.not_checked.push_back(part.name);
  found.inexact = inexact_inputs(reference.problem(), precision);
  if (const Part *o = find_part(candidate, "o"))
    found.by_step = octaves(*find_part(reference.results(), "o"), o->values);
  const auto any = [&](Judgement judgement) {
    return std::any_of(found.parts.begin(), found.parts.end(),
                       [&](const Judged &part) { return part.judgement == judgement; });
  };
  if (any(Judgement::wrong)) {
    found.judgement = Judgement::wrong;
    found.where = where_wrong(reference, candidate, found.parts, reference.noise(precision));
    found.diagnosis =
        diagnosis ? diagnosis(candidate, found.parts) : diagnose(reference, candidate, found.parts, precision);
  } else if (found.parts.empty()) {
    found.reason = "the candidate holds nothing that could be judged";
  } else if (any(Judgement::undecided)) {
    found.reason = drowned(found.parts, precision);
  } else {
    found.judgement = Judgement::right;
  }
  return found;
}

} // namespace recollect
