// SPDX-License-Identifier: Apache-2.0
// Fills the kernels' Inputs (problem.hpp) with a call's sizes, and with the arrays that all rules have.
#pragma once
#include "harness/device/device.hpp"
#include "variants/kernels/chunked/problem.hpp"
#ifdef __CUDACC__

namespace recollect::chunked {

/// Sets sizes, values and initial states. Queries and keys have `keys` channels. The caller sets queries, keys and
/// gates.
template <class Number, class Stored> Inputs<Number> inputs_of(const Call<float, Stored> &call, int keys) {
  static_assert(chunk == packed_chunk, "the tables of packed texts are for chunks of this length");
  Inputs<Number> in;
  in.B = call.shape.B, in.H = call.shape.H, in.T = call.shape.T, in.Dk = keys, in.Dv = call.shape.Dv;
  in.key_heads = call.key_heads();
  in.v = reinterpret_cast<const Number *>(call.v.data());
  in.start = call.stateless ? nullptr : call.state.data();
  in.state_stride = call.state_shape.size();
  const Packing &packing = call.packing;
  if (packing.texts == 0) return in;
  in.packed = packing.texts, in.packed_chunks = packing.chunks;
  in.starts = packing.tables.data();
  in.chunk_starts = in.starts + packing.texts + 1, in.chunk_texts = in.chunk_starts + packing.texts + 1;
  return in;
}

} // namespace recollect::chunked
#endif
