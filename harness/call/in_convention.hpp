// SPDX-License-Identifier: Apache-2.0
// Samples of a user's arrays: a layer's inputs, converted to a convention.
#pragma once
#include "harness/call/layer_inputs.hpp"

namespace recollect {

/// Options of a sample: the numbers of heads of q, k and v, packed texts, and arrays besides the layer's inputs.
struct Sharing {
  int q_heads = 0, k_heads = 0, v_heads = 0; // 0: H
  std::vector<int> cu_seqlens;               // empty: none
  bool skip = false, gate = false;           // skip: has D; gate: has z
};

/// Converts a layer's inputs to a user's arrays in this convention. The conversion is not exact where a raw gate would
/// exceed 30 in absolute value. States are [B or N,H,rows,columns]. Parameters of gates are drawn at random.
UsersArrays in_convention(const Sequence &inputs, const OutputWeights &weights, const StateShape &state,
                          const Convention &convention, const Sharing &sharing, std::uint64_t seed);

} // namespace recollect
