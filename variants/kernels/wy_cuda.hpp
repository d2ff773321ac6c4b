// SPDX-License-Identifier: Apache-2.0
// wy.hpp's summaries and reads on CUDA where heads are 64 wide, chunks 64 steps long, one key is read and written, and one
// number a step decays, or nothing.
#pragma once
#include "variants/kernels/chunk_in_warps.hpp"
#include "variants/kernels/wy_algebra.hpp"
#ifdef __CUDACC__

namespace recollect::variants {

struct WyInWarps : WyAlgebra<float>, ChunkInWarps {
  static constexpr bool usual_alone = true;
  static constexpr int kinds = 2;           // decays: none, or one number a step
  static constexpr int wide = 2 * size + 8; // of rows in shared memory, as key_pitch
  using Reading = ChunkInWarps::Reading;
  using WyAlgebra<float>::fetch;

  static bool suits(const Call<float> &call, const WyAlgebra<float> &rule) {
    return ChunkInWarps::suits(call) && rule.has_sizes(size) && rule.one_key() && rule.decays < kinds;
  }

  struct Summarising {
    Decay decay;
    float *X; // [size,2 size] keys and values, then right hand sides, then what solves them
    float *L; // [size,size]
  };
  KOKKOS_FUNCTION Summarising summarising(Stack<float> &s) const {
    Summarising x;
    x.X = s.take(size * wide), x.L = s.take(size * pitch), x.decay = place_decay(s, decays);
    return x;
  }
  KOKKOS_FUNCTION Reading reading(Stack<float> &s) const { return place_reading(s, decays); }

  template <Math math>
  RECOLLECT_IN_LINE void summarise(const Precise<math> &team, const Chunk &c, const Summary &out,
                                   const Summarising &x) const {
#if __CUDA_ARCH__ >= 800
    using Unit = tile::cuda::UnitOf<math>;
    const size_t step = c.head * T + c.first;
    const float *const keys = in.p.data() + step * size, *const erase = at(in.erase, step);
    ChunkInWarps::fetch<wide>(team, keys, x.X);
    ChunkInWarps::fetch<wide>(team, v.data() + step * size, x.X + size);
    if (decays) prepare(team, in.alpha.data() + step, x.decay);
    team.barrier();
    const Lane own(team);
    Queries<Unit::groups> row(keys + own.row() * size + own.place);
    Results p[blocks], none[blocks];
    float left[2]; // D(t-1,0)
    meet<Unit, wide>(own, row, x.X, nullptr, p, none);
    weigh<true>(own, decays, x.decay, p, left);
    put_pairs(own, p, erase, x.L);
    team.meet(); // all have met the keys
    leave_right_sides(own, left, erase, at(in.write, step), out, x);
    team.meet();
    tile::cuda::solve_in_warps(team, size, 2 * size, x.L, pitch, x.X, wide);
#pragma unroll
    for (int i = 0; i < height; ++i) {
      const int t = own.first + i;
      row_of(out.X + t * 2 * size)[own.lane] = row_of(x.X + t * wide)[own.lane];
    }
#else
    too_old(team, c, out, x);
#endif
  }

  template <Math math>
  RECOLLECT_IN_LINE void read(const Precise<math> &team, const Chunk &c, const Summary &chunk, const float *before,
                              const Reading &x) const {
#if __CUDA_ARCH__ >= 800
    using Unit = tile::cuda::UnitOf<math>;
    const size_t step = c.head * T + c.first;
    const float *const queries = q.data() + step * size, *const keys = in.p.data() + step * size,
                       *const E = chunk.X + size, *const alpha = at(in.alpha, step);
    const Lane own(team);
    ChunkInWarps::fetch<pitch>(team, before, x.S);
    begin(team, keys, E, 2 * size, x);
    Queries<Unit::groups> row(queries + own.row() * size + own.place);
    Results p[blocks], sum[blocks];
    float decay[2];
    read_chunk<Unit>(team, own, row, decays, alpha, x, [](Results(&)[blocks]){}, p, sum, decay);
    float *const to = o.data() + step * size;
    if (finite(sum))
      put(own, sum, to);
    else
      one_by_one(own.first, {queries, keys, E, before, 2 * size, size, alpha, nullptr}, to);
#else
    too_old(team, c, chunk, before, x);
#endif
  }

#if __CUDA_ARCH__ >= 800
private:
  __device__ static float4 *row_of(float *x) { return reinterpret_cast<float4 *>(x); }

  /// L(t,i) = erase_t p(t,i)
  __device__ __forceinline__ static void put_pairs(const Lane &own, const Results (&p)[blocks], const float *erase,
                                                   float *L) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int t = own.row() + 8 * r;
      const float factor = erase ? erase[t] : 1;
#pragma unroll
      for (int b = 0; b < blocks; ++b)
        *reinterpret_cast<float2 *>(L + t * pitch + b * block + own.place) =
            make_float2(factor * p[b].x[2 * r], factor * p[b].x[2 * r + 1]);
    }
  }

  /// Of the warp's steps erase_t D(t-1,0) k_t and write_t v_t in place of k_t and v_t, and, where anything decays, what
  /// of their writes is left at the chunk's end. A lane has four columns of all.
  __device__ __forceinline__ void leave_right_sides(const Lane &own, const float (&left)[2], const float *erase,
                                                    const float *write, const Summary &out,
                                                    const Summarising &x) const {
    const unsigned all = 0xffffffffu;
    const bool key = own.lane < 16;
    const int mine = own.first + own.lane % height;
    const float erasing = erase ? erase[mine] : 1, writing = write ? write[mine] : 1; // of the warp's steps, one a lane
    float behind[2] = {1, 1}; // of the blocks behind that of the row
    if (decays)
#pragma unroll
      for (int b = 1; b < blocks; ++b) {
        if (b > own.first / block) behind[0] *= x.decay.whole[b];
        if (b > own.first / block + 1) behind[1] *= x.decay.whole[b];
      }
#pragma unroll
    for (int i = 0; i < height; ++i) {
      const int t = own.first + i;
      const float of_key = __shfl_sync(all, left[i / block], i % block * 4) * __shfl_sync(all, erasing, i),
                  of_value = __shfl_sync(all, writing, i);
      float4 *const four = row_of(x.X + t * wide) + own.lane, y = *four;
      if (decays && key) row_of(out.ends + t * size)[own.lane] = times(behind[i / block] * x.decay.tail[t], y);
      *four = times(key ? of_key : of_value, y);
    }
    if (decays && own.first == 0 && own.lane == 0) out.carried[0] = behind[0] * x.decay.whole[0];
  }
  __device__ static float4 times(float factor, const float4 &y) {
    return make_float4(factor * y.x, factor * y.y, factor * y.z, factor * y.w);
  }

  __device__ __noinline__ static void one_by_one(int first, Given given, float *out) {
    for (int t = first; t < first + height; ++t) {
      const Alone own = read_alone(t, given);
      for (int h = 0; h < 2; ++h) out[t * size + threadIdx.x % 32 + 32 * h] = own.sum[h];
    }
  }
#endif
};

} // namespace recollect::variants
#endif
