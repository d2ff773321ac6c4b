// SPDX-License-Identifier: Apache-2.0
// Gradients of queries and keys that several heads of values share (a group). A stage computes the gradients for every
// head of values. They are then added over the group, in the order of the heads, so that results have the same bits in
// every run. The stage runs on a few groups at a time, which bounds the memory for the terms of these sums.
#pragma once
#include "variants/kernels/chunked/rows.hpp"
#include "variants/kernels/chunked/state_passing.hpp"
#ifdef __CUDACC__

namespace recollect::chunked {

/// The number of groups that together have enough chunks to keep the GPU busy.
template <class Stored> std::size_t groups_at_a_time(const Inputs<Stored> &in) {
  constexpr std::size_t enough = 2048;
  const std::size_t groups = std::size_t(in.B) * in.key_heads, chunks = in.chunks() / groups; // chunks of a group
  return chunks == 0 ? groups : std::min(groups, (enough + chunks - 1) / chunks);
}
/// How many numbers of scratch the groups need (Gradients::terms).
template <class Stored> std::size_t scratch_of_groups(const Inputs<Stored> &in) {
  const std::size_t heads = in.H / in.key_heads;
  return heads == 1 ? 0 : 2 * groups_at_a_time(in) * heads * in.T * in.Dk;
}

/// Adds the terms of groups [groups,heads,size], four numbers per thread; size is a multiple of 4.
template <class Stored> struct GroupSum {
  const Stored *terms;
  Stored *sums; // [groups,size]
  std::size_t heads, size;
  __device__ void operator()(std::size_t i) const {
    const std::size_t group = 4 * i / size, at = 4 * i % size;
    const Stored *const own = terms + group * heads * size + at;
    float sum[4] = {0, 0, 0, 0};
    for (std::size_t head = 0; head < heads; ++head) {
      float term[4];
      load_four(own + head * size, term);
#pragma unroll
      for (int e = 0; e < 4; ++e) sum[e] += term[e];
    }
#pragma unroll
    for (int e = 0; e < 4; ++e) sums[4 * i + e] = rounded<Stored>(sum[e]);
  }
};

/// Computes the gradients of queries and keys: calls stage(arguments, number of chunks) for some groups at a time, and
/// adds the gradients of each group's heads.
template <class Arguments, class Stage> void over_groups(const Arguments &a, cudaStream_t stream, const Stage &stage) {
  const auto &in = a.in;
  const std::size_t groups = std::size_t(in.B) * in.key_heads, heads = in.H / in.key_heads;
  if (heads == 1) return stage(a, in.chunks());
  const std::size_t most = groups_at_a_time(in), size = std::size_t(in.T) * in.Dk, chunks = in.chunks() / groups;
  for (std::size_t first = 0; first < groups; first += most) {
    const std::size_t count = std::min(most, groups - first);
    Arguments own = a;
    auto *const terms_of_q = a.terms, *const terms_of_k = a.terms + most * heads * size;
    own.first_chunk = unsigned(first * chunks);
    own.d_q = terms_of_q - first * heads * size, own.d_k = terms_of_k - first * heads * size;
    stage(own, count * chunks);
    const auto add = [&](const auto *terms, auto *sums) {
      each_thread("group_sums", count * size / 4, GroupSum<std::decay_t<decltype(*sums)>>{terms, sums, heads, size},
                  stream);
    };
    add(terms_of_q, a.d_q + first * size), add(terms_of_k, a.d_k + first * size);
  }
}

} // namespace recollect::chunked
#endif
