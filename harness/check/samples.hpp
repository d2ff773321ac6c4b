// SPDX-License-Identifier: Apache-2.0
// Inputs on which kernels fail: edge cases.
#pragma once
#include "harness/core/variant.hpp"

namespace recollect {

/// How inputs are drawn: one choice for each of them. Queries have the norm of the keys' kind, values are N(0,1).
struct Recipe {
  enum Keys {
    unit,       // uniform on the unit sphere
    gaussian,   // N(0,1) in every channel, queries too: what attention is given
    repeated,   // one unit key at every step plus `spread` noise: the ill-conditioned end
    norms,      // of norm 1 mostly, and 0, 1e-3 and (in every second head) 1e3, or 30 in fewer than 8 steps
    small_norms // the same without 1e3
  } keys = unit;
  enum Gates {
    whole_range, // three of four in (0.9, 1), the rest in (0, 1): 1 - 10^-4u, u even
    exact,       // half of them 1, some 0, the rest as above; at a step beside a multiple of 64 all are 0
    strong,      // the logarithms of any 64 sum to less than -88: evenly, and in every second head within eight steps
    rates, // twelve steps of 16 decay at a rate (-log alpha) of the head's, from 0 to 16, or 2 in fewer than 8 steps
    tiny,  // 10^-u, u even in (0, 6), at every fourth step, the rest in (0.9, 1)
    gentle // in (0.9, 1): 1 - 10^-u, u even in (1, 4)
  } gates = whole_range;
  bool beta_ends = false; // beta 0 and 2 at a quarter of the steps each; else in (0, 1)
  double spread = 0.01;   // of repeated keys
  bool w_norms = false;   // w of norms from 1/4 to 1.4; else unit
};

/// q, k, v and the inputs that the variant takes, without an initial state. In sequences of 8 steps or more beta is at most
/// 2 / |key|^2, so that layers that erase stay stable.
Sequence draw(const Variant &variant, const Shape &shape, const Recipe &recipe, std::uint64_t seed);

struct Drawn {
  Sequence inputs;
  std::string toned_down; // what was changed in the recipe because the layer is not stable otherwise; "" if nothing
  bool stable;            // false: the layer is not stable even with the mildest recipe
};
/// As draw(), with a milder recipe where the layer is not stable: where outputs or state of the float64 definition exceed
/// `largest`, or a thousand times the largest value times 1 + |q| |k|, in the first 256 steps. Tried are, in this order:
/// beta below 1, no key of norm 1e3, unit w, unit keys, gentle gates; first each change alone, then the first two
/// together, the first three, and so on.
Drawn draw_stable(const Variant &variant, const Shape &shape, const Params &params, const Recipe &recipe,
                  std::uint64_t seed, double largest = 1e30);

/// The definition's final state after twelve steps of other inputs: one that the layer can reach, whatever its state
/// holds. Empty where there is no finite state.
std::vector<double> plausible_state(const Variant &variant, const Shape &shape, const Params &params,
                                    std::uint64_t seed);

struct SampleKind {
  std::string name, meaning;
  Recipe recipe;
};
/// The kinds of `sample`, the first being the default.
const std::vector<SampleKind> &sample_kinds();
/// The kind of that name (`ragged` is an old name of odd-length). Usage error that suggests the nearest name.
const SampleKind &find_sample_kind(const std::string &name);

/// Inputs of that kind, without an initial state, by draw_stable(). For odd-length T is one less where it is a multiple of
/// 8; for long it is sixteen times as large.
Sequence sample(const Variant &variant, Shape shape, const std::string &kind, std::uint64_t seed);

} // namespace recollect
