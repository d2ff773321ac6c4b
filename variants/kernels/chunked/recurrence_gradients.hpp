// SPDX-License-Identifier: Apache-2.0
// The backward pass of the chunked recurrence (problem.hpp). It first recomputes the states, W, X and E of the forward
// pass, then passes the gradient of the state from the last chunk to the first, and finally computes the gradients of
// all chunks.
//
// Scratch per chunk, in Element<Op>: the state at its start and the state's gradient at its end, 2 V K; for delta rules
// 64 (64 + K + 2 V) more.
#pragma once
#include "variants/kernels/chunked/error_gradient.hpp"
#include "variants/kernels/chunked/group_sums.hpp"
#include "variants/kernels/chunked/instances.hpp"
#ifdef __CUDACC__

namespace recollect::chunked {

/// Total scratch of recurrence_gradients, in elements.
template <class Stored> std::size_t backward_scratch(const Inputs<Stored> &in, bool erases) {
  const std::size_t K = in.kept_keys(), V = in.kept_values();
  return in.chunks() * (2 * V * K + (erases ? chunk * (chunk + K + 2 * V) : 0));
}

/// Gradients of a decayed sum or, if `erases`, of a delta rule. `scratch` is aligned to 16 bytes. If there are several
/// segments, decayed sums pass states in segments.
template <class Op, bool erases, class Stored>
void recurrence_gradients(const Gradients<Stored> &given, Element<Op> *scratch, cudaStream_t stream,
                          Segments segments) {
  Adjoint<Op, Stored> a{given};
  const Inputs<Stored> &in = a.in;
  const std::size_t K = in.kept_keys(), V = in.kept_values(), chunks = in.chunks();
  const auto take = [&](std::size_t each) {
    Element<Op> *const own = scratch;
    scratch += chunks * each;
    return own;
  };
  Element<Op> *const states = take(V * K);
  a.states = states, a.d_states = take(V * K);
  if (erases) {
    Element<Op> *const inverse = take(chunk * chunk), *const W = take(chunk * K), *const E = take(chunk * V);
    a.inverse = inverse, a.W = W, a.E = E, a.d_E = take(chunk * V);
    chunk_local<Op>(in, inverse, W, E, stream);
    pass_states<Op, true>(in, W, E, states, E, nullptr, stream, {});
  } else {
    const Element<Op> *const none = nullptr;
    pass_states<Op, false>(in, none, none, states, static_cast<Element<Op> *>(nullptr), nullptr, stream, segments);
  }
  with_extent(in.Dk > in.Dv ? in.Dk : in.Dv, [&](auto extent) {
    constexpr int D = decltype(extent)::value;
    using Arguments = Adjoint<Op, Stored>;
    if constexpr (erases) {
      using Errors = ErrorGradient<Op, Stored, D, D>;
      launch("error_gradient", run_chunk_stage<Errors, Arguments>, chunks, Errors::threads,
             Errors::shared_bytes(in.alpha), stream, a);
    }
    pass_gradients_back<StateGradient<Op, Stored, D, erases>>(a, segments, stream);
    using Chunks = ChunkGradient<Op, Stored, D, D, erases>;
    over_groups(a, stream, [&](const Arguments &own, std::size_t count) {
      launch("chunk_gradient", run_chunk_stage<Chunks, Arguments>, count, Chunks::threads,
             Chunks::shared_bytes(in.alpha, in.alpha && a.d_alpha, in.write), stream, own);
    });
  });
}

} // namespace recollect::chunked
#endif
