// SPDX-License-Identifier: Apache-2.0
// decayed_sum_cuda.hpp's phases where products are coarse and time goes into moving numbers: a team takes several chunks
// one after the other, the state stays on the chip meanwhile, and what a phase hands on is a segment's and not a chunk's.
#pragma once
#include "variants/kernels/decayed_sum_cuda.hpp"
#ifdef __CUDACC__

namespace recollect::variants {

/// Chunks of a segment: as many as leave one to every team that runs at once; 1 where these do not divide the sequence.
inline int segment_chunks(const Call<float> &call) {
  const int all = call.shape.T / ChunkInWarps::size;
  const size_t teams = 4 * size_t(Execution().cuda_device_prop().multiProcessorCount);
  int chunks = 1;
  while (call.shape.heads() * all > teams * chunks) chunks *= 2;
  return all % chunks == 0 ? chunks : 1;
}

template <Math math> struct DecayedSumInSegments : DecayedSumInWarps {
  static constexpr bool every_precision = false; // it is math's
  int chunks;                                    // of a segment

  struct Reading : DecayedSumInWarps::Reading {
    float *z; // [size]
  };
  KOKKOS_FUNCTION Reading reading(Stack<float> &s) const {
    return {DecayedSumInWarps::reading(s), in.normalised ? s.take(size) : nullptr};
  }

  RECOLLECT_IN_LINE void summarise(const Team &team, const Chunk &c, const Summary &out, const Summarising &x) const {
#if __CUDA_ARCH__ >= 800
    const Lane at(team);
    Results sum[blocks];
    float z[2] = {}, carried = 1;
    for (int i = 0; i < chunks; ++i) {
      const size_t step = c.head * T + c.first + i * size;
      if (i > 0) team.meet(); // all have read
      fetch<pitch>(team, in.k.data() + step * size, x.k);
      fetch<pitch>(team, v.data() + step * size, x.v);
      if (decays) prepare(team, in.alpha.data() + step, x.decay);
      team.barrier();
      decay(x.decay, sum, z);
      carried *= add_up<Unit, pitch>(at, step, x.k, x.v, x.decay, sum, z);
    }
    put(at, sum, out.added);
    put_rest(at, carried, z, out);
#else
    too_old(team, c, out, x);
#endif
  }

  RECOLLECT_IN_LINE void read(const Team &team, const Chunk &c, const Summary &, const float *before,
                              const Reading &x) const {
#if __CUDA_ARCH__ >= 800
    const Lane at(team);
    fetch<pitch>(team, before, x.S);
    if (in.normalised && team.rank < size) x.z[team.rank] = before[size * size + team.rank];
    for (int i = 0; i < chunks; ++i) {
      const size_t step = c.head * T + c.first + i * size;
      begin(team, step, x);
      Queries<Unit::groups> q(in.q.data() + (step + at.row()) * size + at.place);
      reads<Unit>(team, at, step, q, {x.S, x.z, pitch}, x);
      if (i + 1 == chunks) return;
      team.meet(); // nobody needs the state before
      advance(at, step, x);
      team.meet();
    }
#else
    too_old(team, c, before, x);
#endif
  }

#if __CUDA_ARCH__ >= 800
private:
  using Unit = tile::cuda::UnitOf<math>;

  __device__ __forceinline__ void decay(const Decay &decay, Results (&sum)[blocks], float (&z)[2]) const {
    if (!decays) return;
    float whole = 1;
#pragma unroll
    for (int b = 0; b < blocks; ++b) whole *= decay.whole[b];
    decay_rows({whole, whole}, sum);
    z[0] *= whole, z[1] *= whole;
  }

  /// The state across the chunk.
  __device__ __forceinline__ void advance(const Lane &at, size_t step, const Reading &x) const {
    Results sum[blocks];
    float z[2] = {};
    take(at, x.S, pitch, sum);
    if (in.normalised && at.place == 0) z[0] = x.z[at.row()], z[1] = x.z[at.row() + 8];
    decay(x.decay, sum, z);
    add_up<Unit, key_pitch>(at, step, x.k, x.v, x.decay, sum, z);
    put(at, sum, x.S, pitch);
    if (in.normalised) put_keys(at, z, x.z);
  }
#endif
};

} // namespace recollect::variants
#endif
