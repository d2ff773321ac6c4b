// SPDX-License-Identifier: Apache-2.0
// Inputs on which kernels fail: edge cases.
#pragma once
#include "harness/core/variant.hpp"

namespace recollect {

/// How inputs are drawn: one choice per input. Queries are unit vectors, but N(0,1) in every channel if keys are
/// `gaussian`. Values are N(0,1).
struct Recipe {
  enum Keys {
    unit,     // uniform on the unit sphere
    gaussian, // N(0,1) in every channel, also of queries: typical of attention
    repeated, // the same unit key at every step, plus noise of size `spread`: the most ill-conditioned choice
    norms, // norms 1 (most), 0, 1e-3 and, in every second head, 1e3; sequences of fewer than 8 steps have 30, not 1e3
    small_norms // like `norms`, but without 1e3 and 30
  } keys = unit;
  enum Gates {
    whole_range, // three in four as `gentle`; the rest in (0, 1): 1 - 10^-4u, u uniform in (0, 1)
    exact,       // half are 1, some are 0, the rest as `gentle`; 0 at step 63, 64 or 65, depending on the head
    strong, // the logarithms of any 64 steps sum to less than -88: evenly, or (every second head) within eight steps
    rates,  // at 12 of 16 steps -log alpha grows with the head, from 0 to 16 (to 2 if T < 8); else as `gentle`
    tiny,   // 10^-u with u uniform in (0, 6) at every fourth step, the rest in (0.9, 1)
    gentle  // in (0.9, 1): 1 - 10^-u, u uniform in (1, 4)
  } gates = whole_range;
  bool beta_ends = false;           // beta is 0 at a quarter of the steps, 2 at another quarter; else in (0, 1)
  double spread = 0.01;             // size of the noise of `repeated` keys
  bool w_norms = false;             // rows of w have norms from 1/4 to 1.4; if false, 1
  std::vector<Tensor> without = {}; // optional inputs that are not given
};

/// q, k, v and the variant's other inputs, without an initial state. In sequences of at least 8 steps, a beta whose key
/// (or w) has a norm above 1 is divided by the squared norm, so that layers that erase stay stable.
Sequence draw(const Variant &variant, const Shape &shape, const Recipe &recipe, std::uint64_t seed);

struct Drawn {
  Sequence inputs;
  std::string toned_down; // what was changed in the recipe to make the layer stable; "" if nothing
  bool stable;            // false: the layer is unstable even with the mildest recipe
};
/// Like draw(), with a milder recipe if the layer is unstable. Unstable means that within the first 256 steps an output
/// or a state of the float64 definition exceeds `largest`, or exceeds 1000 max|v| (1 + max|q| max|k|). Five changes
/// make a recipe milder: beta below 1, no key of norm 1e3, unit w, unit keys, gentle gates. They are tried in this
/// order, first each alone, then the first two together, the first three, and so on.
Drawn draw_stable(const Variant &variant, const Shape &shape, const Params &params, const Recipe &recipe,
                  std::uint64_t seed, double largest = 1e30);

/// The definition's final state after twelve steps of other inputs: a state that the layer can reach. Empty if the
/// layer has no state of finite size.
std::vector<double> plausible_state(const Variant &variant, const Shape &shape, const Params &params,
                                    std::uint64_t seed);

struct SampleKind {
  std::string name, meaning;
  Recipe recipe;
};
/// The kinds of `sample`. The first is the default.
const std::vector<SampleKind> &sample_kinds();
/// The kind with this name (`ragged` is an old name of odd-length). Usage error that suggests the nearest name.
const SampleKind &find_sample_kind(const std::string &name);

/// Inputs of the given kind, without an initial state, drawn by draw_stable(). For odd-length, a T that is a multiple
/// of 8 is reduced by one; for long, T is multiplied by sixteen.
Sequence sample(const Variant &variant, Shape shape, const std::string &kind, std::uint64_t seed,
                const std::vector<Tensor> &without = {});

} // namespace recollect
