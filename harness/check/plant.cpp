// SPDX-License-Identifier: Apache-2.0
#include "harness/check/plant.hpp"
#include "harness/call/backward.hpp"
#include "harness/check/remake.hpp"
#include "harness/core/error.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/random.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

constexpr int chunk = 64, first_draw = 97, right_kernels = 8; // draws from first_draw on do not measure noise

void round_all(Numbers &values, Precision precision) {
  for (double &x : values) x = rounded(x, storage_of(precision));
}

/// Changes the gates of head h according to h mod 4. 0: unchanged, mild. 1: half of them are exactly 1. 2: some are
/// down to 1e-3, and some are exactly 0. 3: strong decay.
void vary_gates(Numbers &gates, const Shape &n, size_t width, std::uint64_t seed) {
  const Stream random(seed, "plant/gates");
  for (size_t i = 0; i < gates.size(); ++i) {
    const size_t step = i / width, kind = step / size_t(n.T) % size_t(n.H) % 4, t = step % size_t(n.T);
    const double u = random.uniform(width == 1 ? i : i + gates.size());
    if (kind == 1) gates[i] = t % 2 ? 1 : gates[i];
    if (kind == 2) gates[i] = t % 30 == 29 ? 0 : t % 3 == 0 ? std::pow(10, -3 * u) : gates[i];
    if (kind == 3) gates[i] = std::exp(-2 - 4 * u);
  }
}

void vary_norms(Numbers &rows, size_t width, double low, double high, std::uint64_t seed) {
  const Stream random(seed, "plant/norms");
  for (size_t i = 0; i < rows.size(); ++i) rows[i] *= low + (high - low) * random.uniform(i / width);
}

double effect_of(const std::vector<Judged> &judged, const PartList &right, const Limits &limits) {
  double effect = 0;
  for (const Judged &part : judged) {
    effect = std::max({effect, part.row / limits.row, part.head / limits.head_of(find_part(right, part.name)->rows)});
    if (!part.finite) effect = HUGE_VAL;
  }
  return effect;
}

class Ground {
public:
  Ground(const Variant &variant, Precision precision, bool wide)
      : wide_(wide), precision_(precision), reference_(planting_ground(variant, precision, wide), chunk),
        suspects_(reference_) {}

  void plant_all(size_t most_ways, const std::function<void(const Planted &)> &told) {
    const CheckCase moved = disturbed_but_for_ones(reference_.problem(), precision_, first_draw);
    const PartList moved_right = results_in(moved, Real::f64);
    for (const Mistake &mistake : all_mistakes()) {
      const std::vector<Made> exact = ways_to_make(mistake, reference_.problem(), reference_.results()),
                              ways = ways_to_make(mistake, moved, moved_right);
      const size_t count = std::min({most_ways, exact.size(), ways.size()});
      for (size_t i = 0; i < count; ++i) {
        const size_t way = i * exact.size() / count;
        try {
          const PartList without_rounding = results_of(exact[way], reference_.problem(), reference_.results());
          Planted planted = judged(results_of(ways[way], moved, moved_right));
          planted.mistake = mistake.name, planted.what = exact[way].what;
          planted.effect = effect_of(judge_all(reference_, without_rounding, precision_), reference_.results(),
                                     limits_of(precision_));
          told(planted);
        } catch (const Error &) { // this layer cannot make the mistake
        }
      }
    }
  }

  void right_ones(const std::function<void(const Planted &)> &told) {
    for (int draw = 1; draw <= right_kernels; ++draw)
      told(judged(results_in(disturbed(reference_.problem(), precision_, first_draw + draw, chunk), Real::f64)));
    if (precision_ != Precision::f32) return;
    for (int length : {16, 64})
      told(judged(fast_form(length))); // candidates with real rounding instead of disturbed inputs
  }

private:
  /// The layer's own fast form and backward pass in float32.
  PartList fast_form(int length) const {
    const CheckCase &problem = reference_.problem();
    Run run{"fast", Real::f32, length, problem.params};
    Output output = forward(problem.variant, problem.given, run);
    run.form = backward_form(problem.variant);
    return as_results(problem, std::move(output), gradient_by(problem.variant, problem.given, run, problem.weights));
  }

  Planted judged(PartList candidate) const {
    for (Part &part : candidate) round_all(part.values, precision_);
    const std::vector<Judged> parts = judge_all(reference_, candidate, precision_);
    Planted found{reference_.problem().variant.name, "", "", wide_, 0, !all_right(parts), {}, {}};
    for (const Criterion &criterion : criteria_in_use()) {
      bool accepted = true;
      for (const Part &part : reference_.results())
        accepted = accepted && criterion.accepts(part, *find_part(candidate, part.name), precision_);
      found.caught.push_back(!accepted);
    }
    if (found.refused)
      for (const Explanation &one : suspects_.explain(candidate, parts, precision_))
        for (const Mistake *mistake : one.mistakes) found.named.push_back(mistake->name);
    return found;
  }

  bool wide_;
  Precision precision_;
  Reference reference_;
  Suspects suspects_;
};

} // namespace

const std::vector<std::string> &planted_layers() {
  static const std::vector<std::string> layers{"linear",          "retnet", "gated_linear", "delta_net",
                                               "gated_delta_net", "rwkv6",  "rwkv7",        "mamba2",
                                               "softmax",         "mesa",   "longhorn"};
  return layers;
}

bool Planted::named_right() const {
  return named.size() <= 2 && std::find(named.begin(), named.end(), mistake) != named.end();
}

CheckCase planting_ground(const Variant &variant, Precision precision, bool wide) {
  const Shape shape = wide ? Shape{2, 2, 40, 12, 20} : Shape{2, 4, 120, 20, 20};
  const std::uint64_t seed = wide ? 2 : 1;
  const auto takes = [&](Tensor tensor) {
    return tensor <= Tensor::v || std::any_of(variant.inputs.begin(), variant.inputs.end(), [&](const Input &input) {
             return input.tensor() == tensor && (!wide || input.required || input.name != "w");
           });
  };
  const Params params = variant_params(variant);
  CheckCase problem{variant, params, random_sequence(shape, seed, Keys::unit, takes), {}};
  Sequence &s = problem.given;
  vary_norms(s.k, size_t(shape.Dk), 0.5, 1.2, seed), vary_norms(s.w, size_t(shape.Dk), 0.5, 1.2, seed + 1);
  const double sharp = has_state(problem) ? 1 : 12; // attention scores above 1
  vary_norms(s.q, size_t(shape.Dk), 0.5 * sharp, 2 * sharp, seed);
  vary_gates(s.alpha, shape, 1, seed), vary_gates(s.lambda, shape, size_t(shape.Dk), seed);
  if (has_state(problem)) {
    CheckCase before{
        variant, params, random_sequence({shape.B, shape.H, 12, shape.Dk, shape.Dv}, seed + 10, Keys::unit, takes), {}};
    s.state = outputs_of(before).state;
  }
  for (Tensor tensor : all_tensors) round_all(s[tensor], precision);
  round_all(s.state, precision);
  problem.weights = {Stream(seed, "plant/do").normals(s.v.size()),
                     Stream(seed, "plant/dstate").normals(s.state.size())};
  round_all(problem.weights.o, precision), round_all(problem.weights.state, precision);
  return problem;
}

void plant(const Variant &variant, Precision precision, size_t most_ways,
           const std::function<void(const Planted &)> &told) {
  for (bool wide : {false, true}) {
    Ground ground(variant, precision, wide);
    ground.right_ones(told);
    ground.plant_all(most_ways, told);
  }
}

} // namespace recollect
