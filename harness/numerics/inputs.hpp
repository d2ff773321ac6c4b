// SPDX-License-Identifier: Apache-2.0
// Random inputs for checks and tests. All optional inputs are filled, so that one generator serves every variant.
#pragma once
#include "harness/core/types.hpp"
#include <cstdint>
#include <functional>

namespace recollect {

enum class Keys {
  unit,     // uniform on the unit sphere: well conditioned
  gaussian, // N(0, I / Dk)
  repeated, // the same unit key at every step, plus 1% noise, renormalised: worst conditioned of the three
};

inline bool every_tensor(Tensor) { return true; }

/// Random inputs without an initial state. k is of the kind `keys`; q is Gaussian if k is, otherwise unit; v is
/// N(0, 1); w is unit; beta is uniform in (0.2, 1), alpha and lambda in (0.8, 1). An optional input for which `wanted`
/// is false is absent; this does not change the numbers of the other inputs.
Sequence random_sequence(const Shape &shape, std::uint64_t seed, Keys keys = Keys::unit,
                         const std::function<bool(Tensor)> &wanted = every_tensor);

/// Scales each row of `width` numbers to Euclidean norm 1.
void normalise_rows(std::vector<double> &rows, size_t width);

/// Steps [begin, end) of every head of an array [B,H,T,width], as [B,H,end-begin,width]; empty for an empty array.
std::vector<double> steps_of(const std::vector<double> &all, const Shape &shape, int begin, int end);
/// The inverse of steps_of(): writes steps [begin, end) into `all`, which is empty or [B,H,T,width] of `shape`.
void put_steps(std::vector<double> &all, const std::vector<double> &steps, const Shape &shape, int begin, int end);

/// Steps [begin, end) of every head. Keeps the initial state only if begin = 0.
Sequence slice_steps(const Sequence &sequence, int begin, int end);

} // namespace recollect
