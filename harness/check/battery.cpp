// SPDX-License-Identifier: Apache-2.0
#include "harness/check/battery.hpp"
#include "harness/check/samples.hpp"
#include "harness/core/text.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

// The factors of the covering array (battery.hpp) and their values. A value of the first factor is a pair of lengths T;
// the cases with this value use the two lengths alternately.
constexpr int lengths[4][2] = {{1, 2}, {63, 64}, {65, 130}, {250, 250}};
constexpr Recipe::Gates gate_kinds[4] = {Recipe::whole_range, Recipe::exact, Recipe::strong, Recipe::rates};
constexpr Recipe::Keys key_kinds[4] = {Recipe::unit, Recipe::gaussian, Recipe::repeated, Recipe::norms};
constexpr int widths[4][2] = {{64, 64}, {48, 60}, {60, 96}, {128, 48}}; // Dk, Dv
constexpr int heads[4][2] = {{1, 2}, {2, 2}, {3, 1}, {2, 3}};           // B, H

const char *name_of(Recipe::Gates gates) {
  switch (gates) {
  case Recipe::exact:
    return "gates01";
  case Recipe::strong:
    return "strong";
  case Recipe::rates:
    return "rates";
  default:
    return "";
  }
}
const char *name_of(Recipe::Keys keys) {
  switch (keys) {
  case Recipe::gaussian:
    return "gaussian";
  case Recipe::repeated:
    return "repeated";
  case Recipe::norms:
    return "norms";
  default:
    return "";
  }
}
const char *meaning_of(Recipe::Gates gates) {
  switch (gates) {
  case Recipe::exact:
    return "gates of exactly 1 and 0";
  case Recipe::strong:
    return "gates whose logarithms sum to less than -88 in a chunk";
  case Recipe::rates:
    return "strong decay, with a different rate in each head";
  default:
    return "gates in the whole of (0, 1)";
  }
}
const char *meaning_of(Recipe::Keys keys) {
  switch (keys) {
  case Recipe::gaussian:
    return "queries and keys N(0,1)";
  case Recipe::repeated:
    return "repeated keys";
  case Recipe::norms:
    return "keys of norms 0 and 1e-3 to 1e3";
  default:
    return "unit keys";
  }
}

/// A case as the covering array asks for it. The layer may not support all of it.
struct Asked {
  Shape shape;
  Recipe recipe;
  bool state = false;
  std::string label = ""; // label in the case's name, in place of the recipe's label
  std::string also = "";  // added to BatteryCase::why
};

/// Number of operations of the definition; exp and similar functions count as twenty each. If the descriptor states
/// only a lower bound of the cost, the definition is assumed to visit all earlier steps at every step.
double work(const Variant &variant, const Params &params, const Shape &s) {
  const double token = variant.cost.flops.at(s, params) + 20 * variant.cost.functions.at(s, params);
  return token * double(s.heads()) * s.T * (variant.cost.least ? std::max(1.0, s.T / 16.0) : 1);
}
constexpr double most_work = 6e8, most_state = 40000; // state: numbers per head

/// Halves the widths Dk and Dv until a token is cheap and the layer accepts the widths, then shortens T. Returns a text
/// that says what was changed.
std::string fit(const Variant &variant, const Params &params, Shape &s) {
  std::vector<std::string> done;
  const auto too_wide = [&] {
    Shape token = s;
    token.T = 64;
    return work(variant, params, token) > most_work / 4 || double(variant.state_shape(s, params).size()) > most_state ||
           (variant.unsuitable && !variant.unsuitable(s, params).empty());
  };
  const Shape asked = s;
  while (too_wide() && s.Dk > 4) s.Dk /= 2, s.Dv /= 2;
  if (s.Dk != asked.Dk) done.push_back("widths are divided by " + std::to_string(asked.Dk / s.Dk));
  for (int T : {250, 130, 65, 64, 63})
    if (work(variant, params, s) > most_work) s.T = std::min(s.T, T);
  if (s.T != asked.T) done.push_back("T is " + std::to_string(s.T) + ", not " + std::to_string(asked.T));
  return done.empty() ? "" : join(done, ", ") + ": the definition takes long";
}

class Battery {
public:
  Battery(const Variant &variant, const Params &params, Precision precision, bool gradient, std::uint64_t seed,
          int most_steps, const std::vector<Tensor> &without)
      : variant_(variant), params_(params), precision_(precision), gradient_(gradient), seed_(seed),
        most_steps_(most_steps), without_(without) {}

  std::vector<BatteryCase> run() {
    int count[4] = {};
    for (const BatteryRow &row : battery_rows()) add(asked(row, count[row.steps]++));
    Asked longest{{1, 2, 1000, 64, 60}, {}, true};
    add(longest);
    longest.shape = {2, 2, 130, 60, 48}, longest.state = false, longest.label = "prefill";
    if (add(longest)) add_decode();
    return std::move(cases_);
  }

private:
  static Asked asked(const BatteryRow &row, int turn) {
    Asked a;
    a.shape = {heads[row.heads][0], heads[row.heads][1], lengths[row.steps][turn % 2], widths[row.widths][0],
               widths[row.widths][1]};
    a.recipe.keys = key_kinds[row.keys], a.recipe.gates = gate_kinds[row.gates];
    a.recipe.beta_ends = row.beta == 1, a.recipe.w_norms = row.w == 1;
    a.state = row.state == 1;
    return a;
  }

  double largest() const { return storage_of(precision_) == Precision::f16 ? 3e4 : 1e30; }

  bool in_range(const Output &out) const { return max_abs(out.o) <= largest() && max_abs(out.state) <= largest(); }

  void round(std::vector<double> &all) const {
    for (double &x : all) x = rounded(x, precision_);
  }

  bool known(const std::string &name) const {
    return std::any_of(cases_.begin(), cases_.end(), [&](const BatteryCase &one) { return one.name == name; });
  }

  bool given(Tensor tensor) const {
    return variant_.takes(tensor) && std::find(without_.begin(), without_.end(), tensor) == without_.end();
  }
  bool gates_given() const { return given(Tensor::alpha) || given(Tensor::lambda); }

  /// The case without gates, beta, w or state where the layer has none or where they are not given.
  Asked relevant(Asked a) const {
    a.recipe.without = without_;
    a.recipe.spread = std::max(0.01, 128 * half_spacing(1, precision_)); // rounding must not make keys equal
    if (!gates_given()) a.recipe.gates = Recipe::whole_range;
    if (!given(Tensor::beta)) a.recipe.beta_ends = false;
    if (!given(Tensor::w)) a.recipe.w_norms = false;
    if (variant_.state_shape(a.shape, params_).size() == 0) a.state = false;
    return a;
  }
  std::string name(const Asked &a) const {
    std::vector<std::string> parts{"T" + std::to_string(a.shape.T)};
    const auto put = [&](bool has, const char *part) {
      if (has && *part) parts.push_back(part);
    };
    put(true, a.label.c_str());
    put(true, name_of(a.recipe.gates));
    put(true, name_of(a.recipe.keys));
    put(a.recipe.beta_ends, "beta02");
    put(a.recipe.w_norms, "w");
    put(a.state, "S0");
    return join(parts, "-");
  }
  std::string why(const Asked &a, const std::string &toned_down) const {
    std::vector<std::string> parts{meaning_of(a.recipe.keys)};
    if (gates_given()) parts.push_back(meaning_of(a.recipe.gates));
    if (a.recipe.beta_ends) parts.push_back("beta 0 and 2");
    if (a.recipe.w_norms) parts.push_back("w of norms from 1/4 to 1.4");
    if (a.state) parts.push_back("a state is given");
    std::string said = join(parts, ", ");
    if (!toned_down.empty()) said += "; but " + toned_down + ", because the layer is not stable otherwise";
    return a.also.empty() ? said : said + "; " + a.also;
  }

  std::uint64_t seed_of(const std::string &called) const { return Stream(seed_, "battery/" + called).bits(0); }

  /// Halves T until draw_stable() finds inputs, perhaps with a milder recipe, whose outputs and state are in range.
  /// Returns these inputs.
  Drawn draw_in_range(Asked &a) const {
    for (;; a.shape.T /= 2) {
      Drawn drawn = draw_stable(variant_, a.shape, params_, a.recipe, seed_of(name(a)), largest());
      if (drawn.stable || a.shape.T == 1) return drawn;
    }
  }

  bool add(Asked a) {
    a = relevant(std::move(a));
    const std::string fitted = fit(variant_, params_, a.shape);
    if (!fitted.empty()) a.also = fitted;
    const bool well = (a.recipe.keys == Recipe::unit || a.recipe.keys == Recipe::gaussian) &&
                      a.recipe.gates == Recipe::whole_range && !a.recipe.beta_ends;
    if (!variant_.traits.stable && !well) return false;
    if (variant_.unsuitable && !variant_.unsuitable(a.shape, params_).empty()) return false;
    if (a.shape.T > most_steps_) return false;
    const int T = a.shape.T;
    Drawn drawn = draw_in_range(a);
    if (a.shape.T != T)
      a.also =
          "T is " + std::to_string(a.shape.T) + ", not " + std::to_string(T) + ": the layer is not stable for longer";
    const std::string called = name(a);
    if (known(called)) return false;
    const std::uint64_t seed = seed_of(called);
    if (a.state) drawn.inputs.state = plausible_state(variant_, a.shape, params_, seed);
    push(called, why(a, drawn.toned_down), well, std::move(drawn.inputs), seed);
    if (!a.state || in_range(outputs_of(cases_.back().problem))) return true;
    cases_.pop_back(); // with the initial state, outputs exceed the range of the type
    return false;
  }

  void push(const std::string &called, const std::string &because, bool well, Sequence inputs, std::uint64_t seed) {
    for (Tensor tensor : all_tensors) round(inputs[tensor]);
    round(inputs.state);
    const size_t state = variant_.state_shape(inputs.shape, params_).size() * inputs.shape.heads();
    OutputWeights weights;
    if (gradient_) {
      weights = {Stream(seed, "battery/do").normals(inputs.v.size()), Stream(seed, "battery/dstate").normals(state)};
      round(weights.o), round(weights.state);
    }
    cases_.push_back({called, because, well, {variant_, params_, std::move(inputs), std::move(weights)}});
  }

  /// One decode step from the final state of the last case.
  void add_decode() {
    const CheckCase &prefill = cases_.back().problem;
    Shape shape = prefill.given.shape;
    if (variant_.state_shape(shape, params_).size() == 0) return;
    Output out = outputs_of(prefill);
    if (!in_range(out)) return;
    shape.T = 1;
    const std::uint64_t seed = seed_of("decode");
    Recipe recipe;
    recipe.without = without_;
    Sequence inputs = draw(variant_, shape, recipe, seed);
    inputs.state = std::move(out.state);
    push("T1-decode-S0", "one step that starts from the final state of " + cases_.back().name, true, std::move(inputs),
         seed);
  }

  const Variant &variant_;
  const Params &params_;
  const Precision precision_;
  const bool gradient_;
  const std::uint64_t seed_;
  const int most_steps_;
  const std::vector<Tensor> without_;
  std::vector<BatteryCase> cases_;
};

} // namespace

const std::vector<BatteryRow> &battery_rows() {
  // L16(4^5), an orthogonal array of the first five factors (steps to heads), and five more rows, which pair these
  // factors with state, beta and w.
  static const std::vector<BatteryRow> rows{
      {0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 3, 1, 0, 1, 1, 0}, {0, 1, 1, 2, 3, 0, 1, 1}, {0, 2, 2, 3, 1, 1, 1, 1},
      {0, 3, 3, 1, 2, 0, 0, 0}, {0, 3, 3, 2, 1, 0, 1, 1}, {1, 0, 1, 1, 1, 1, 0, 1}, {1, 1, 0, 0, 0, 0, 0, 0},
      {1, 1, 0, 3, 2, 0, 1, 1}, {1, 2, 3, 2, 0, 1, 0, 1}, {1, 3, 2, 0, 3, 1, 1, 0}, {2, 0, 2, 2, 2, 0, 1, 1},
      {2, 1, 3, 0, 1, 0, 1, 0}, {2, 2, 0, 1, 3, 0, 0, 0}, {2, 2, 2, 3, 0, 0, 1, 0}, {2, 3, 1, 3, 0, 1, 0, 1},
      {3, 0, 1, 3, 1, 1, 1, 0}, {3, 0, 3, 3, 3, 0, 0, 1}, {3, 1, 2, 1, 0, 1, 0, 0}, {3, 2, 1, 0, 2, 1, 0, 1},
      {3, 3, 0, 2, 1, 1, 0, 0}};
  return rows;
}

std::vector<BatteryCase> battery(const Variant &variant, const Params &params, Precision precision, bool gradient,
                                 std::uint64_t seed, int most_steps, const std::vector<Tensor> &without) {
  return Battery(variant, params, precision, gradient, seed, most_steps, without).run();
}

} // namespace recollect
