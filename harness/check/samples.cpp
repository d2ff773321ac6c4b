// SPDX-License-Identifier: Apache-2.0
#include "harness/check/samples.hpp"
#include "harness/call/segment.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

/// Position of a number in an array: its head out of `heads`, and its step out of `steps`.
struct Place {
  size_t head, heads;
  int step, steps;
};

constexpr int few = 8; // shorter sequences get milder extremes, so that outputs do not vanish

/// Each of the unusual norms occurs at one step in eight. In short sequences every second step has an unusual norm,
/// which depends on the head.
double key_norm(const Place &at, bool large) {
  const double most = !large ? 1 : at.steps < few ? 30 : at.head % 2 ? 1e3 : 1;
  const double odd[] = {1e-3, most, 0};
  if (at.steps < few) return (size_t(at.step) + at.head) % 2 ? odd[at.head % 3] : 1;
  const size_t turn = (size_t(at.step) + at.head) % 8;
  return turn < 3 ? odd[turn] : 1;
}

double slow(double u) { return 1 - std::pow(10, -1 - 3 * u); }

double exact_gate(const Place &at, double which, double u) {
  const int edge = 63 + int(at.head % 3); // last step of a chunk of 64, or first or second step of the next chunk
  if (at.step == edge || (at.steps <= 2 && at.head % 2 == 0)) return 0;
  return which < 0.5 ? 1 : which < 0.52 ? 0 : slow(u);
}

double strong_gate(const Place &at, double u) {
  if (at.head % 2 == 0) return std::exp(-4 * u);
  return at.step / 8 % 4 == 1 ? std::exp(-12 - u) : slow(u);
}

double rate_gate(const Place &at, double u) {
  if (at.step / 4 % 4 == 1) return slow(u); // some gates are mild: gradients of gates near 1e-7 are below rounding
  const double place = at.heads < 2 ? 1 : double(at.head) / double(at.heads - 1);
  return std::exp(-(at.steps < few ? 2 : 16) * place * place * (0.5 + u / 2));
}

double gate(Recipe::Gates kind, const Place &at, double which, double u) {
  switch (kind) {
  case Recipe::whole_range:
    return which < 0.25 ? 1 - std::pow(10, -4 * u) : slow(u);
  case Recipe::exact:
    return exact_gate(at, which, u);
  case Recipe::strong:
    return strong_gate(at, u);
  case Recipe::rates:
    return rate_gate(at, u);
  case Recipe::tiny:
    return at.step % 4 == 0 ? std::pow(10, -6 * u) : slow(u);
  case Recipe::gentle:
    return slow(u);
  }
  throw std::logic_error("unknown kind of gates");
}

bool is_among(Tensor tensor, const std::vector<Tensor> &all) {
  return std::find(all.begin(), all.end(), tensor) != all.end();
}

class Draw {
public:
  Draw(const Variant &variant, const Shape &shape, const Recipe &recipe, std::uint64_t seed)
      : variant_(variant), recipe_(recipe), seed_(seed) {
    s_.shape = shape;
  }

  Sequence run() {
    for (Tensor tensor : {Tensor::q, Tensor::k, Tensor::v}) s_[tensor] = normals(tensor);
    shape_keys();
    for (const Input &input : variant_.inputs) {
      const Tensor tensor = input.tensor();
      if (is_among(tensor, recipe_.without)) continue;
      s_[tensor] = tensor == Tensor::beta ? betas() : tensor == Tensor::w ? erase_keys() : gates(input);
    }
    if (!s_.beta.empty() && s_.shape.T >= few) limit_steps();
    return std::move(s_);
  }

private:
  Stream stream(Tensor tensor, const char *what = "") const {
    return Stream(seed_, "sample/" + std::string(name_of(tensor)) + what);
  }
  size_t count(Tensor tensor) const {
    return s_.shape.heads() * size_t(s_.shape.T) * size_t(width_of(tensor, s_.shape));
  }
  std::vector<double> normals(Tensor tensor) const { return stream(tensor).normals(count(tensor)); }
  Place place(size_t row) const {
    const size_t T = size_t(s_.shape.T);
    return {row / T, s_.shape.heads(), int(row % T), s_.shape.T};
  }

  void shape_keys() {
    const size_t Dk = size_t(s_.shape.Dk);
    if (recipe_.keys == Recipe::gaussian) return;
    if (recipe_.keys == Recipe::repeated)
      for (size_t i = Dk; i < s_.k.size(); ++i) s_.k[i] = s_.k[i % Dk] + recipe_.spread * s_.k[i];
    normalise_rows(s_.q, Dk);
    normalise_rows(s_.k, Dk);
    if (recipe_.keys == Recipe::norms || recipe_.keys == Recipe::small_norms)
      for (size_t i = 0; i < s_.k.size(); ++i) s_.k[i] *= key_norm(place(i / Dk), recipe_.keys == Recipe::norms);
  }

  std::vector<double> gates(const Input &input) const {
    const Tensor tensor = input.tensor();
    const size_t width = size_t(width_of(tensor, s_.shape));
    std::vector<double> all(count(tensor));
    const Stream which = stream(tensor, "/which"), draw = stream(tensor);
    for (size_t i = 0; i < all.size(); ++i) {
      all[i] = gate(recipe_.gates, place(i / width), which.uniform(i), draw.uniform(i));
      if (all[i] == 0 && input.range == Input::positive) all[i] = 0.5;
    }
    return all;
  }

  std::vector<double> betas() const {
    const Stream draw = stream(Tensor::beta);
    std::vector<double> all = draw.uniforms(count(Tensor::beta), 0, 1);
    if (recipe_.beta_ends)
      for (size_t i = 0; i < all.size(); ++i) {
        const Place at = place(i);
        const size_t turn =
            at.steps < 4 ? at.head : draw.bits(i) >> 20; // every head has both values if it has enough steps
        if (turn % 4 == 0) all[i] = 0;
        if (turn % 4 == 1) all[i] = 2;
      }
    return all;
  }

  std::vector<double> erase_keys() const {
    const size_t Dk = size_t(s_.shape.Dk);
    std::vector<double> w = normals(Tensor::w);
    normalise_rows(w, Dk);
    const Stream norms = stream(Tensor::w, "/norm");
    if (recipe_.w_norms)
      for (size_t i = 0; i < w.size(); ++i) w[i] *= 0.25 * std::pow(5.6, norms.uniform(i / Dk));
    return w;
  }

  void limit_steps() {
    const size_t Dk = size_t(s_.shape.Dk);
    for (size_t row = 0; row < s_.beta.size(); ++row)
      for (const auto *keys : {&s_.k, &s_.w}) {
        if (keys->empty()) continue;
        double square = 0;
        for (size_t j = 0; j < Dk; ++j) square += (*keys)[row * Dk + j] * (*keys)[row * Dk + j];
        if (square > 1 + 1e-9) s_.beta[row] /= square;
      }
  }

  const Variant &variant_;
  const Recipe recipe_;
  const std::uint64_t seed_;
  Sequence s_;
};

double largest_norm(const std::vector<double> &rows, size_t width) {
  double most = 0;
  for (size_t begin = 0; begin < rows.size(); begin += width) {
    double square = 0;
    for (size_t j = 0; j < width; ++j) square += rows[begin + j] * rows[begin + j];
    most = std::max(most, square);
  }
  return std::sqrt(most);
}

bool stable(const Variant &variant, const Sequence &s, const Params &params, double largest) {
  constexpr size_t many = 64; // heads
  const Sequence texts = s.shape.heads() <= many ? s : slice_heads(s, 0, size_t(s.shape.H));
  const Sequence probe = slice_steps(texts, 0, std::min(256, s.shape.T));
  const size_t Dk = size_t(s.shape.Dk);
  const double limit = std::min(largest, 1e3 * max_abs(s.v) * (1 + largest_norm(s.q, Dk) * largest_norm(s.k, Dk)));
  const Output found = forward(variant, probe, {"recurrent", Real::f64, 1, params});
  const auto within = [&](const std::vector<double> &all) {
    return std::all_of(all.begin(), all.end(), [&](double x) { return std::fabs(x) <= limit; }); // false for NaN
  };
  return within(found.o) && within(found.state);
}

struct ToneDown {
  const char *what;
  std::function<bool(Recipe &)> apply; // false if the recipe has nothing to change
};
const std::vector<ToneDown> &tone_downs() {
  static const auto change = [](auto &choice, auto from, auto to) {
    const bool changes = choice == from;
    if (changes) choice = to;
    return changes;
  };
  static const std::vector<ToneDown> all{
      {"beta stays below 1", [](Recipe &r) { return change(r.beta_ends, true, false); }},
      {"no key of norm 1e3", [](Recipe &r) { return change(r.keys, Recipe::norms, Recipe::small_norms); }},
      {"w is unit", [](Recipe &r) { return change(r.w_norms, true, false); }},
      {"keys are unit", [](Recipe &r) { return r.keys != Recipe::unit && (r.keys = Recipe::unit, true); }},
      {"gates are gentle", [](Recipe &r) { return r.gates != Recipe::gentle && (r.gates = Recipe::gentle, true); }}};
  return all;
}

} // namespace

Drawn draw_stable(const Variant &variant, const Shape &shape, const Params &params, const Recipe &recipe,
                  std::uint64_t seed, double largest) {
  Drawn drawn{draw(variant, shape, recipe, seed), "", true};
  const auto tried = [&](const Recipe &other, const std::string &what) {
    drawn = {draw(variant, shape, other, seed), what, false};
    return drawn.stable = stable(variant, drawn.inputs, params, largest);
  };
  if (stable(variant, drawn.inputs, params, largest)) return drawn;
  for (const ToneDown &one : tone_downs()) {
    Recipe other = recipe;
    if (one.apply(other) && tried(other, one.what)) return drawn;
  }
  Recipe milder = recipe;
  std::vector<std::string> all;
  for (const ToneDown &one : tone_downs())
    if (one.apply(milder)) {
      all.push_back(one.what);
      if (tried(milder, join(all, ", "))) break;
    }
  return drawn;
}

Sequence draw(const Variant &variant, const Shape &shape, const Recipe &recipe, std::uint64_t seed) {
  return Draw(variant, shape, recipe, seed).run();
}

std::vector<double> plausible_state(const Variant &variant, const Shape &shape, const Params &params,
                                    std::uint64_t seed) {
  if (variant.state_shape(shape, params).size() == 0) return {};
  Shape some = shape;
  some.T = 12;
  Recipe recipe;
  recipe.gates = Recipe::gentle;
  const std::uint64_t own = Stream(seed, "sample/state").bits(0);
  return forward(variant, draw(variant, some, recipe, own), {"recurrent", Real::f64, 1, params}).state;
}

const std::vector<SampleKind> &sample_kinds() {
  const auto recipe = [](auto change) {
    Recipe r;
    change(r);
    return r;
  };
  static const std::vector<SampleKind> kinds{
      {"random", "unit keys, values N(0,1), gates and beta in the whole of (0, 1)", {}},
      {"odd-length", "as random, one step shorter if T is a multiple of 8, so that no chunk length divides it", {}},
      {"exact-gates", "half of the gates 1, some 0, also right before and after step 64",
       recipe([](Recipe &r) { r.gates = Recipe::exact; })},
      {"tiny-gates", "gates of 10^-u, u up to 6, at every fourth step",
       recipe([](Recipe &r) { r.gates = Recipe::tiny; })},
      {"strong-decay", "the logarithms of 64 gates sum to less than -88: exp of the sum underflows",
       recipe([](Recipe &r) { r.gates = Recipe::strong; })},
      {"decay-rates", "-log alpha per step from 0 to 16, one rate per head",
       recipe([](Recipe &r) { r.gates = Recipe::rates; })},
      {"beta-0-2", "a quarter of the betas 0, a quarter 2; norms of w from 1/4 to 1.4",
       recipe([](Recipe &r) { r.beta_ends = r.w_norms = true; })},
      {"repeated-keys", "the same key at every step, plus 1% noise: ill-conditioned",
       recipe([](Recipe &r) { r.keys = Recipe::repeated; })},
      {"key-norms", "some keys of norm 0, 1e-3 and 1e3", recipe([](Recipe &r) { r.keys = Recipe::norms; })},
      {"large-norm", "queries and keys N(0,1) in every channel, as in attention; beta is divided by |k|^2",
       recipe([](Recipe &r) { r.keys = Recipe::gaussian; })},
      {"long", "as random, sixteen times as many steps", {}}};
  return kinds;
}

const SampleKind &find_sample_kind(const std::string &name) {
  std::vector<std::string> names;
  for (const SampleKind &kind : sample_kinds()) {
    if (kind.name == (name == "ragged" ? "odd-length" : name)) return kind;
    names.push_back(kind.name);
  }
  usage_error("unknown kind of sample '" + name + "'" + suggestion(name, names));
}

Sequence sample(const Variant &variant, Shape shape, const std::string &kind, std::uint64_t seed,
                const std::vector<Tensor> &without) {
  const SampleKind &found = find_sample_kind(kind);
  if (found.name == "odd-length" && shape.T % 8 == 0) --shape.T;
  if (found.name == "long") shape.T *= 16;
  Recipe recipe = found.recipe;
  recipe.without = without;
  return draw_stable(variant, shape, variant_params(variant), recipe, seed).inputs;
}

} // namespace recollect
