// SPDX-License-Identifier: Apache-2.0
// decayed_sum.hpp's phases on CUDA for heads of width 64, chunks of 64 steps, and at most one decay per step. A team
// only waits for its loads.
#pragma once
#include "variants/kernels/chunked/chunk_in_warps.hpp"
#include "variants/kernels/chunked/decayed_sum_algebra.hpp"
#ifdef __CUDACC__

namespace recollect::variants {

struct DecayedSumInWarps : DecayedState<float>, ChunkInWarps {
  static constexpr bool usual_alone = true;
  static constexpr int kinds = 2; // decays: none, or one number per step
  Array<float> v, o;

  static bool suits(const Call<float> &call, const DecayedSum<float> &in) {
    return ChunkInWarps::suits(call) && in.width == size && !in.bonus.extent(0) && !in.lambda.extent(0);
  }

  struct Summarising {
    Decay decay;
    float *k, *v;
  };
  KOKKOS_FUNCTION Summarising summarising(Stack<float> &s) const {
    Summarising x;
    x.k = s.take(size * pitch), x.v = s.take(size * pitch), x.decay = place_decay(s, decays);
    return x;
  }
  KOKKOS_FUNCTION Reading reading(Stack<float> &s) const { return place_reading(s, decays); }

  template <Math math>
  RECOLLECT_IN_LINE void summarise(const Precise<math> &team, const Chunk &c, const Summary &out,
                                   const Summarising &x) const {
#if __CUDA_ARCH__ >= 800
    const size_t step = c.head * T + c.first;
    fetch<pitch>(team, in.k.data() + step * size, x.k);
    fetch<pitch>(team, v.data() + step * size, x.v);
    if (decays) prepare(team, in.alpha.data() + step, x.decay);
    team.barrier();
    const Lane at(team);
    Results sum[blocks];
    float z[2] = {};
    const float carried = add_up<tile::cuda::UnitOf<math>, pitch>(
        at, decays, in.strength.extent(0) ? in.strength.data() + step : nullptr, x.k, x.v, x.decay, sum, z);
    put(at, sum, out.added);
    put_rest(at, carried, z, out);
#else
    too_old(team, c, out, x);
#endif
  }

  template <Math math>
  RECOLLECT_IN_LINE void read(const Precise<math> &team, const Chunk &c, const Summary &, const float *before,
                              const Reading &x) const {
#if __CUDA_ARCH__ >= 800
    using Unit = tile::cuda::UnitOf<math>;
    const size_t step = c.head * T + c.first;
    const Lane at(team);
    fetch<pitch>(team, before, x.S);
    begin(team, step, x);
    Queries<tile::cuda::UnitOf<math>::groups> q(in.q.data() + (step + at.row()) * size + at.place);
    reads<tile::cuda::UnitOf<math>>(team, at, step, q, {before, before + size * size, size}, x);
#else
    too_old(team, c, before, x);
#endif
  }

#if __CUDA_ARCH__ >= 800
private:
  /// The state at a chunk's start: S, transposed, rows ld apart, and z.
  struct Start {
    const float *S, *z;
    int ld;
  };
  __device__ __forceinline__ void begin(const Team &team, size_t step, const Reading &x) const {
    ChunkInWarps::begin(team, in.k.data() + step * size, v.data() + step * size, size, x);
  }
  /// Outputs of the chunk whose state is in x.S.
  template <class Unit>
  __device__ __forceinline__ void reads(const Team &team, const Lane &at, size_t step, Queries<Unit::groups> &q,
                                        const Start &before, const Reading &x) const {
    Results p[blocks], sum[blocks];
    float decay[2]; // from the chunk's start to each row
    const auto strengthened = [&](Results(&p)[blocks]) {
      if (in.strength.extent(0)) strengthen(at, step, p);
    };
    read_chunk<Unit>(team, at, q, decays, in.alpha.data() + (decays ? step : 0), x, strengthened, p, sum, decay);
    write(at, step, before, decay, p, sum);
  }

  /// Writes the rest of the summary: D(C,0) and z.
  __device__ __forceinline__ void put_rest(const Lane &at, float carried, const float (&z)[2],
                                           const Summary &out) const {
    if (decays && at.row() == 0 && at.place == 0) out.carried[0] = carried;
    if (in.normalised) put_keys(at, z, out.added + size * size);
  }
  /// Sums z over the lanes that share a row and writes it.
  __device__ __forceinline__ static void put_keys(const Lane &at, const float (&z)[2], float *out) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float all = tile::cuda::across_four(z[r]);
      if (at.place == 0) out[at.row() + 8 * r] = all;
    }
  }

  __device__ __forceinline__ void strengthen(const Lane &at, size_t step, Results (&p)[blocks]) const {
    const float *const strength = in.strength.data() + step + at.place;
#pragma unroll
    for (int b = 0; b < blocks; ++b)
#pragma unroll
      for (int e = 0; e < 4; ++e) p[b].x[e] *= strength[b * block + e % 2];
  }

  /// Writes the outputs from the sums and weights.
  __device__ __forceinline__ void write(const Lane &at, size_t step, const Start &before, const float (&decay)[2],
                                        const Results (&p)[blocks], const Results (&sum)[blocks]) const {
    if (!finite(sum)) return one_by_one(*this, at.first, step, before);
    float *const out = o.data() + step * size;
    if (!in.normalised) return put(at, sum, out, [&](int, float x) { return in.scale * x; });
    float divisor[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float *q = in.q.data() + (step + at.row() + 8 * r) * size, *z = before.z;
      float mass = 0, along = 0;
#pragma unroll
      for (int b = 0; b < blocks; ++b) mass += p[b].x[2 * r] + p[b].x[2 * r + 1];
      for (int j = at.lane % 4; j < size; j += 4) along += q[j] * z[j];
      divisor[r] = divisor_of(step + at.row() + 8 * r, tile::cuda::across_four(mass + decay[r] * along));
    }
    put(at, sum, out, [&](int r, float x) { return weighted_mean(in.scale * x, divisor[r]); });
  }
  __device__ float divisor_of(size_t step, float mass) const {
    const float weight = in.scale * mass;
    return in.floor.extent(0) ? math::fmax(math::fabs(weight), in.floor[step]) : weight;
  }

  /// Scalar fallback of write(), pair by pair. `self` is passed by value so that the caller keeps its copy in
  /// registers.
  __device__ __noinline__ static void one_by_one(DecayedSumInWarps self, int first, size_t step, Start before) {
    const DecayedSum<float> &in = self.in;
    const int lane = threadIdx.x % 32;
    const Given given{in.q.data() + step * size,
                      in.k.data() + step * size,
                      self.v.data() + step * size,
                      before.S,
                      size,
                      before.ld,
                      self.decays ? in.alpha.data() + step : nullptr,
                      in.strength.extent(0) ? in.strength.data() + step : nullptr};
    for (int t = first; t < first + height; ++t) {
      const Alone own = read_alone(t, given);
      float divisor = 1;
      if (in.normalised)
        divisor =
            self.divisor_of(step + t, own.mass + own.decay * row_dot(given.q + t * size, before.z, size, lane, 32));
      for (int h = 0; h < 2; ++h) {
        const float scaled = in.scale * own.sum[h];
        self.o[(step + t) * size + lane + 32 * h] = in.normalised ? weighted_mean(scaled, divisor) : scaled;
      }
    }
  }
#endif
};

} // namespace recollect::variants
#endif
