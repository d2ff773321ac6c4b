// SPDX-License-Identifier: Apache-2.0
// Makes samples of a user's arrays: converts a layer's inputs to a convention.
#pragma once
#include "harness/call/layer_inputs.hpp"

namespace recollect {

/// Options of a sample: numbers of heads of q, k and v, packed texts, and arrays that are not inputs of the layer.
struct Sharing {
  int q_heads = 0, k_heads = 0, v_heads = 0; // 0: H
  std::vector<int> cu_seqlens;               // empty: texts are not packed
  bool skip = false, gate = false;           // whether the sample has D, and whether it has z
};

/// Converts a layer's inputs to a user's arrays in this convention. The conversion is not exact where a raw gate (the
/// number in the user's array) would exceed 30 in absolute value. States are [B,H,rows,columns], or [N,H,rows,columns]
/// for N packed texts. Parameters of gates are drawn at random.
UsersArrays in_convention(const Sequence &inputs, const OutputWeights &weights, const StateShape &state,
                          const Convention &convention, const Sharing &sharing, std::uint64_t seed);

} // namespace recollect
