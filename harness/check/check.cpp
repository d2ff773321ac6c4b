// SPDX-License-Identifier: Apache-2.0
#include "harness/check/check.hpp"
#include "harness/check/diagnosis.hpp"
#include "harness/check/where.hpp"
#include "harness/core/in_pieces.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
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

/// Symmetrises dstate if the state is symmetric, because kernels may split the gradient of a symmetric matrix between
/// its two triangles in any way (variant.hpp).
PartList in_one_convention(PartList candidate, const CheckCase &problem) {
  if (Part *dstate = find_part(candidate, "dstate"))
    dstate->values = symmetrised(problem.variant, problem.given.shape, std::move(dstate->values));
  return candidate;
}

/// A correct kernel writes infinity for a number beyond the range of its type. Replaces infinities by the reference's
/// value where the reference rounds to infinity, or may do so within rounding. Other infinities stay, and count as
/// wrong.
void accept_overflows(Part &candidate, const Part &right, const PartNoise &noise, Precision written) {
  const double limit = limits_of(noise.precision).row;
  for (size_t i = 0; i < candidate.values.size(); ++i) {
    double &x = candidate.values[i];
    if (!std::isinf(x)) continue;
    const double value = right.values[i], error = std::min(limit * noise.rows[i / right.columns], std::fabs(value) / 2);
    if (rounded(value + std::copysign(error, x), written) == x) x = value;
  }
}
bool has_infinity(const PartList &parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Part &part) {
    const auto infinite = [&](size_t i) { return std::isinf(part.values[i]); };
    return first_in_pieces(part.values.size(), infinite, cost_of_copies) < part.values.size();
  });
}
/// Returns the candidate itself if it has no infinity. Otherwise copies it to `changed`, applies accept_overflows() to
/// the copy, and returns `changed`.
const PartList &with_overflows_accepted(const PartList &candidate, const Reference &reference, Precision precision,
                                        PartList &changed) {
  if (!has_infinity(candidate)) return candidate;
  changed = candidate;
  for (const PartNoise &noise : reference.noise(precision))
    if (Part *const part = find_part(changed, noise.name))
      accept_overflows(*part, *find_part(reference.results(), noise.name), noise,
                       reference.problem().types.written(noise.name, precision));
  return changed;
}

std::string drowned(const std::vector<Judged> &parts, Precision precision, const PartNames &names) {
  std::vector<std::string> said;
  for (const Judged &part : parts)
    if (part.judgement == Judgement::undecided)
      said.push_back(called(part.name, names) + " (" + std::to_string(part.without_power.size()) + " heads)");
  return std::string("rounding in ") + name_of(precision) + " is as large as the values of " + join(said, ", ") +
         " on these inputs: zeros would be judged right";
}

} // namespace

Reference::Reference(CheckCase problem, int chunk)
    : problem_(std::make_shared<const CheckCase>(std::move(problem))), chunk_(chunk),
      results_(definition_of(*problem_)) {}

Reference::Reference(std::shared_ptr<const CheckCase> problem, PartList results, std::function<Noise(Precision)> noise)
    : problem_(std::move(problem)), results_(std::move(results)), given_noise_(std::move(noise)) {}

const Noise &Reference::noise(Precision precision) const {
  const auto known = noise_.find(precision);
  if (known != noise_.end()) return known->second;
  if (given_noise_) return noise_.emplace(precision, given_noise_(precision)).first->second;
  if (rounding_.empty()) rounding_ = float32_rounding(*problem_, results_);
  return noise_.emplace(precision, noise_of(*problem_, results_, rounding_, precision, chunk_)).first->second;
}

namespace {

/// judge_all() for a candidate whose overflows have been accepted already.
std::vector<Judged> judge_parts(const Reference &reference, const PartList &candidate, Precision precision) {
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
  size_t largest = 1; // not 0 even if all parts are empty
  for (size_t i : given) largest = std::max(largest, reference.results()[i].values.size());
  in_pieces(given.size(), judge_some, largest);
  return all;
}

} // namespace

std::vector<Judged> judge_all(const Reference &reference, const PartList &candidate, Precision precision) {
  PartList changed;
  return judge_parts(reference, with_overflows_accepted(candidate, reference, precision, changed), precision);
}

bool all_right(const std::vector<Judged> &judged) {
  return std::all_of(judged.begin(), judged.end(),
                     [](const Judged &part) { return part.judgement != Judgement::wrong; });
}

std::string called(const std::string &part, const PartNames &names) {
  const auto found = names.find(part);
  return found == names.end() ? part : found->second + " (" + part + ")";
}

Checked verdict(const Reference &reference, const PartList &given, Precision precision, const PartNames &names) {
  PartList changed;
  const PartList &candidate = with_overflows_accepted(given, reference, precision, changed);
  Checked found;
  found.names = names;
  found.parts = judge_parts(reference, candidate, precision);
  for (const Part &part : reference.results())
    if (!find_part(candidate, part.name) && !(part.name == "dstate" && reference.problem().given.state.empty()))
      found.not_checked.push_back(part.name);
  if (const Part *o = find_part(candidate, "o"))
    found.by_step = octaves(*find_part(reference.results(), "o"), o->values);
  const auto any = [&](Judgement judgement) {
    return std::any_of(found.parts.begin(), found.parts.end(),
                       [&](const Judged &part) { return part.judgement == judgement; });
  };
  if (any(Judgement::wrong)) {
    found.judgement = Judgement::wrong;
    found.where = where_wrong(reference, candidate, found.parts, reference.noise(precision), names);
  } else if (found.parts.empty()) {
    found.reason = "the candidate holds nothing that could be judged";
  } else if (any(Judgement::undecided)) {
    found.reason = drowned(found.parts, precision, names);
  } else {
    found.judgement = Judgement::right;
  }
  return found;
}

Checked check(const Reference &reference, const PartList &given, Precision precision) {
  const PartList candidate = in_one_convention(given, reference.problem());
  Checked found = verdict(reference, candidate, precision);
  if (found.judgement == Judgement::wrong) found.diagnosis = diagnose(reference, candidate, found.parts, precision);
  return found;
}

} // namespace recollect
