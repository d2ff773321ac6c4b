// SPDX-License-Identifier: Apache-2.0
#include "harness/check/diagnosis.hpp"
#include "harness/check/remake.hpp"
#include "harness/core/error.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

constexpr int mistake_draws = 3;
constexpr size_t most_examined = 12; // number of nearest mistakes whose own noise is measured

bool is_forward(const std::string &name) { return name == "o" || name == "state"; }

std::vector<std::string> wrong_parts(const std::vector<Judged> &judged) {
  std::vector<std::string> names;
  for (const Judged &part : judged)
    if (part.judgement == Judgement::wrong) names.push_back(part.name);
  return names;
}

std::vector<std::string> of_kind(std::vector<std::string> names, bool forward) {
  names.erase(
      std::remove_if(names.begin(), names.end(), [&](const std::string &name) { return is_forward(name) != forward; }),
      names.end());
  return names;
}

PartList of_kind(const PartList &results, bool forward) {
  PartList found;
  for (const Part &part : results)
    if (is_forward(part.name) == forward) found.push_back(part);
  return found;
}

const PartNoise &noise_of_part(const Noise &noise, const std::string &name) {
  return *std::find_if(noise.begin(), noise.end(), [&](const PartNoise &one) { return one.name == name; });
}

/// Sum over rows of (RMS of a - b in the row / noise of the row)^2; infinity if an element is finite in one part only.
double squared_distance(const Part &a, const Part &b, const PartNoise &noise) {
  double sum = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    const bool finite = std::isfinite(a.values[i]);
    if (finite != std::isfinite(b.values[i])) return HUGE_VAL;
    if (!finite) continue;
    const double error = (a.values[i] - b.values[i]) / noise.rows[i / a.columns];
    sum += error * error / double(a.columns);
  }
  return sum;
}

/// Sets numbers beyond the range of the type to infinity.
void overflow(PartList &made, Precision precision) {
  constexpr double held_by_all = 65504; // the largest number of f16; every other type holds it too
  for (Part &part : made)
    for (double &x : part.values)
      if (std::fabs(x) > held_by_all && std::isinf(rounded(x, storage_of(precision)))) x = std::copysign(HUGE_VAL, x);
}

/// Whether every wrong part of the candidate is less than half as far from the mistake's results, `made`, as from the
/// definition's results, `right`.
bool nearer(const PartList &candidate, const PartList &made, const PartList &right, const Noise &noise,
            const std::vector<std::string> &wrong) {
  return std::all_of(wrong.begin(), wrong.end(), [&](const std::string &name) {
    const Part *mine = find_part(candidate, name), *other = find_part(made, name), *truth = find_part(right, name);
    if (!other) return false;
    const PartNoise &unit = noise_of_part(noise, name);
    return squared_distance(*mine, *other, unit) < 0.25 * squared_distance(*mine, *truth, unit);
  });
}

/// Noise of one part, `made`, of the mistake's results: the effect of disturbed inputs on it plus half a spacing of the
/// type, but at least the definition's noise.
PartNoise own_noise(const Part &made, const std::vector<PartList> &disturbed, const PartNoise &definition,
                    Precision precision) {
  PartNoise noise{made.name, Numbers(made.heads * made.rows, 0.0), precision};
  for (size_t i = 0; i < made.values.size(); ++i) {
    if (!std::isfinite(made.values[i])) continue;
    double squares = 0;
    for (const PartList &one : disturbed) {
      const double moved = find_part(one, made.name)->values[i] - made.values[i];
      if (std::isfinite(moved)) squares += moved * moved / double(disturbed.size());
    }
    const double spacing = half_spacing(made.values[i], precision);
    noise.rows[i / made.columns] += (squares + spacing * spacing) / double(made.columns);
  }
  for (size_t row = 0; row < noise.rows.size(); ++row)
    noise.rows[row] = std::max(std::sqrt(noise.rows[row]), definition.rows[row]);
  return noise;
}

Noise own_noise(const PartList &made, const std::vector<PartList> &disturbed, const Noise &definition,
                Precision precision) {
  Noise noise;
  for (const Part &part : made)
    noise.push_back(own_noise(part, disturbed, noise_of_part(definition, part.name), precision));
  return noise;
}

struct Agreement {
  bool within_limits = true;
  double squares = 0;
  size_t rows = 0;
  double distance() const { return rows ? std::sqrt(squares / double(rows)) : 0; }
};

/// Compares the candidate with the mistake's results `made`. Elements that are NaN or infinite in both count as equal.
Agreement agreement(const PartList &candidate, const PartList &made, const Noise &noise, size_t H) {
  Agreement found;
  for (Part mine : candidate) {
    if (!find_part(made, mine.name)) continue;
    Part other = *find_part(made, mine.name);
    for (size_t i = 0; i < mine.values.size(); ++i)
      if (!std::isfinite(mine.values[i]) && !std::isfinite(other.values[i])) mine.values[i] = other.values[i] = 0;
    const Judged judged = judge(other, noise_of_part(noise, mine.name), mine.values, H);
    found.within_limits = found.within_limits && judged.judgement != Judgement::wrong;
    for (double ratio : judged.ratios) found.squares += ratio * ratio;
    found.rows += judged.ratios.size();
  }
  return found;
}

/// The nearest explanation, and the second nearest if it is about as near. If one mistake explains the candidate in
/// several ways, only the nearest way counts.
std::vector<Explanation> nearest(std::vector<Explanation> all) {
  constexpr double about_as_near = 1.5;
  std::stable_sort(all.begin(), all.end(),
                   [](const Explanation &a, const Explanation &b) { return a.distance < b.distance; });
  std::vector<Explanation> found;
  for (const Explanation &one : all) {
    const bool known = std::any_of(found.begin(), found.end(),
                                   [&](const Explanation &other) { return other.mistakes == one.mistakes; });
    if (known) continue;
    if (found.size() == 2 || (!found.empty() && one.distance > about_as_near * found.front().distance)) break;
    found.push_back(one);
  }
  return found;
}

/// Pairs of mistakes that often occur together, by name. The first of each pair misreads inputs.
constexpr std::pair<const char *, const char *> common_pairs[] = {
    {"initial_state_transposed", "state_returned_transposed"},
    {"initial_state_ignored", "state_not_handed_over"},
    {"initial_state_ignored", "state_returned_transposed"},
    {"initial_state_ignored", "tail_not_written"},
    {"scale_wrong", "initial_state_ignored"},
    {"scale_wrong", "initial_state_transposed"},
    {"scale_wrong", "state_returned_transposed"},
    {"scale_wrong", "gate_taken_for_its_logarithm"},
    {"scale_wrong", "tensors_read_as_bthd"},
    {"gate_taken_for_its_logarithm", "tensors_read_as_bthd"},
    {"logarithm_taken_for_gate", "tensors_read_as_bthd"},
    {"beta_not_applied", "gate_not_applied"},
    {"initial_state_of_batch_0", "state_of_batch_0"},
};

} // namespace

Suspects::Suspects(const Reference &reference) : reference_(reference) {
  size_t numbers = 0;
  for (const Part &part : reference.results()) numbers += part.values.size();
  keeps_ = numbers < 200'000;
  for (const Mistake &mistake : all_mistakes()) {
    size_t number = 0;
    for (Made &made : ways_to_make(mistake, reference.problem(), reference.results()))
      ways_.push_back({&mistake, number++, std::move(made), {}, {}, {}});
  }
}

/// The results of a kernel with the mistake, of the forward or of the backward pass; empty if this layer cannot make
/// it.
PartList Suspects::made_by(const Way &way, bool forward) const {
  PartList &kept = forward ? way.forward : way.backward;
  if (!kept.empty()) return kept;
  const auto &compute = forward ? way.made.forward : way.made.backward;
  PartList made = of_kind(reference_.results(), forward);
  try {
    if (compute)
      for (Part &part : compute())
        if (Part *place = find_part(made, part.name)) *place = std::move(part);
  } catch (const Error &) {
    return {};
  }
  if (keeps_) kept = made;
  return made;
}

const std::vector<Suspects::Draw> &Suspects::draws(Precision precision) const {
  std::vector<Draw> &all = draws_[precision];
  for (int draw = int(all.size()); draw < mistake_draws; ++draw) {
    CheckCase moved = disturbed_but_for_ones(reference_.problem(), precision, draw);
    PartList right = results_in(moved, Real::f64);
    all.push_back({std::move(moved), std::move(right)});
  }
  return all;
}

/// Noise of the mistake's results: how far they move if the inputs are disturbed.
const Noise &Suspects::noise_by(const Way &way, Precision precision) const {
  const auto known = way.noise.find(precision);
  if (known != way.noise.end()) return known->second;
  std::vector<PartList> moved;
  for (const Draw &draw : draws(precision)) {
    const std::vector<Made> ways = ways_to_make(*way.mistake, draw.problem, draw.right);
    if (way.number < ways.size()) moved.push_back(results_of(ways[way.number], draw.problem, draw.right));
  }
  PartList made = made_by(way, true);
  for (const Part &part : made_by(way, false)) made.push_back(part);
  return way.noise.emplace(precision, own_noise(made, moved, reference_.noise(precision), precision)).first->second;
}

std::vector<Explanation> Suspects::singles(const PartList &candidate, const std::vector<std::string> &wrong,
                                           Precision precision) const {
  const Noise &noise = reference_.noise(precision);
  const std::vector<std::string> wrong_forward = of_kind(wrong, true), wrong_backward = of_kind(wrong, false);
  const bool has_gradients = !of_kind(candidate, false).empty();
  struct Near {
    const Way *way;
    PartList made;
    double distance;
  };
  std::vector<Near> near;
  for (const Way &way : ways_) {
    if (bool(way.made.forward) == wrong_forward.empty()) continue;
    if (!way.made.backward && !wrong_backward.empty()) continue;
    PartList made = made_by(way, true);
    overflow(made, precision);
    if (!nearer(candidate, made, reference_.results(), noise, wrong_forward)) continue;
    if (has_gradients) {
      PartList backward = made_by(way, false);
      overflow(backward, precision);
      if (!nearer(candidate, backward, reference_.results(), noise, wrong_backward)) continue;
      made.insert(made.end(), backward.begin(), backward.end());
    }
    double distance = 0;
    for (const Part &part : candidate)
      if (const Part *other = find_part(made, part.name))
        distance += squared_distance(part, *other, noise_of_part(noise, part.name));
    near.push_back({&way, std::move(made), distance});
  }
  std::stable_sort(near.begin(), near.end(), [](const Near &a, const Near &b) { return a.distance < b.distance; });
  if (near.size() > most_examined) near.resize(most_examined);

  std::vector<Explanation> found;
  for (const Near &one : near) {
    const Agreement agrees = agreement(candidate, one.made, noise_by(*one.way, precision), reference_.heads_per_text());
    if (agrees.within_limits) found.push_back({{one.way->mistake}, one.way->made.what, agrees.distance()});
  }
  return nearest(std::move(found));
}

std::vector<Explanation> Suspects::pairs(const PartList &candidate, const std::vector<std::string> &wrong,
                                         Precision precision) const {
  const Noise &noise = reference_.noise(precision);
  CheckCase forward = reference_.problem();
  forward.weights = {};
  std::vector<Explanation> found;
  for (const auto &[first_name, second_name] : common_pairs) {
    const Mistake &first = find_mistake(first_name), &second = find_mistake(second_name);
    for (const Misread &misread : first.misread(forward)) {
      try {
        const CheckCase changed_inputs = with_inputs(forward, misread.inputs());
        const PartList right = results_in(changed_inputs, Real::f64);
        for (const Made &made : ways_to_make(second, changed_inputs, right)) {
          PartList both = results_of(made, changed_inputs, right);
          overflow(both, precision);
          if (!nearer(candidate, both, reference_.results(), noise, wrong)) continue;
          // The first mistake has changed the inputs. The second one is made on disturbed copies of them.
          std::vector<PartList> moved;
          for (int draw = 0; draw < mistake_draws; ++draw) {
            const CheckCase other = disturbed_but_for_ones(changed_inputs, precision, draw);
            const PartList other_right = results_in(other, Real::f64);
            for (const Made &again : ways_to_make(second, other, other_right))
              if (again.what == made.what) moved.push_back(results_of(again, other, other_right));
          }
          const Agreement agrees =
              agreement(candidate, both, own_noise(both, moved, noise, precision), reference_.heads_per_text());
          if (agrees.within_limits)
            found.push_back({{&first, &second}, misread.what + ", and " + made.what, agrees.distance()});
        }
      } catch (const Error &) { // this layer cannot make the mistake
      }
    }
  }
  return nearest(std::move(found));
}

std::vector<Explanation> Suspects::explain(const PartList &candidate, const std::vector<Judged> &judged,
                                           Precision precision) const {
  const std::vector<std::string> wrong = wrong_parts(judged);
  if (wrong.empty()) return {};
  for (const std::string &name : wrong) { // a part without a finite number would agree with too many mistakes
    const Numbers &values = find_part(candidate, name)->values;
    if (std::none_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); })) return {};
  }
  std::vector<Explanation> found = singles(candidate, wrong, precision);
  if (!found.empty()) return found;
  const std::vector<std::string> wrong_forward = of_kind(wrong, true), wrong_backward = of_kind(wrong, false);
  if (!wrong_forward.empty() && !wrong_backward.empty()) {
    found = singles(of_kind(candidate, true), wrong_forward, precision);
    for (const Explanation &one : singles(of_kind(candidate, false), wrong_backward, precision)) found.push_back(one);
  }
  if (found.empty() && !wrong_forward.empty()) found = pairs(of_kind(candidate, true), wrong_forward, precision);
  return found;
}

namespace {

/// The 16-bit type that represents every number of the candidate exactly; f64 if there is none. States do not count,
/// because kernels keep them in float32.
Precision type_of_numbers(const PartList &candidate) {
  for (const Precision type : {Precision::bf16, Precision::f16}) {
    size_t numbers = 0; // a few numbers could be exact by chance
    const auto holds = [&](double x) { return numbers += x != 0, !std::isfinite(x) || rounded(x, type) == x; };
    const auto holds_part = [&](const Part &part) {
      return part.name.find("state") != std::string::npos || std::all_of(part.values.begin(), part.values.end(), holds);
    };
    if (std::all_of(candidate.begin(), candidate.end(), holds_part) && numbers >= 16) return type;
  }
  return Precision::f64;
}

std::vector<std::string> names_of_mistakes(const Suspects &suspects, const PartList &candidate,
                                           const std::vector<Judged> &judged, Precision precision) {
  std::vector<std::string> said;
  for (const Explanation &one : suspects.explain(candidate, judged, precision)) {
    std::string names;
    for (const Mistake *mistake : one.mistakes) names += (names.empty() ? "" : " + ") + mistake->name;
    said.push_back(one.what + " (" + names + ")");
  }
  return said;
}

} // namespace

std::vector<std::string> diagnose(const Reference &reference, const PartList &candidate,
                                  const std::vector<Judged> &judged, Precision precision) {
  if (all_right(judged)) return {};
  const Suspects suspects(reference);
  std::vector<std::string> said = names_of_mistakes(suspects, candidate, judged, precision);
  if (!said.empty()) return said;
  if (const Precision type = type_of_numbers(candidate); type > precision) {
    const std::vector<Judged> in_type = judge_all(reference, candidate, type);
    const std::string name = name_of(type);
    said = names_of_mistakes(suspects, candidate, in_type, type);
    said.insert(said.begin(), "every number is exact in " + name + "; with --dtype " + name + " the candidate is " +
                                  (all_right(in_type) ? "right" : "wrong too"));
    return said;
  }
  for (Precision coarser : all_precisions)
    if (coarser > precision && all_right(judge_all(reference, candidate, coarser)))
      return {std::string("the errors are of the size of ") + name_of(coarser) + ", not of " + name_of(precision)};
  return {};
}

} // namespace recollect
