// SPDX-License-Identifier: Apache-2.0
// decayed_sum.hpp's phases on CUDA where heads are 64 wide, chunks 64 steps long, and one number a step decays, or
// nothing. A team waits but for what it reads to arrive.
#pragma once
#include "variants/kernels/chunk_in_warps.hpp"
#include "variants/kernels/decayed_sum_algebra.hpp"
#ifdef __CUDACC__

namespace recollect::variants {

struct DecayedSumInWarps : DecayedState<float>, ChunkInWarps {
  static constexpr bool usual_alone = true;
  static constexpr int kinds = 2; // decays: none, or one number a step
  // Rows that a warp reads together begin in different banks: pairs that lie in a row, and pairs of rows.
  static constexpr int key_pitch = size + 8, pitch = size + 4;
  Array<float> v, o;

  static bool suits(const Call<float> &call, const DecayedSum<float> &in) {
    return ChunkInWarps::suits(call) && in.width == size && !in.bonus.extent(0) && !in.lambda.extent(0);
  }

  struct Summarising {
    Decay decay;
    float *k, *v;
  };
  struct Reading {
    Decay decay;
    float *k, *v, *S;
  };
  KOKKOS_FUNCTION Summarising summarising(Stack<float> &s) const {
    Summarising x;
    x.k = s.take(size * pitch), x.v = s.take(size * pitch), x.decay = decays ? place_decay(s) : Decay{};
    return x;
  }
  KOKKOS_FUNCTION Reading reading(Stack<float> &s) const {
    Reading x;
    x.k = s.take(size * key_pitch), x.v = s.take(size * pitch), x.S = s.take(size * pitch),
    x.decay = decays ? place_decay(s) : Decay{};
    return x;
  }

  template <Math math>
  RECOLLECT_IN_LINE void summarise(const Precise<math> &team, const Chunk &c, const Summary &out,
                                   const Summarising &x) const {
#if __CUDA_ARCH__ >= 800
    sum_up<tile::cuda::UnitOf<math>>(team, c, in.k, v, out, x, [](int, float x) { return x; });
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
protected:
  /// The state at a chunk's start: S, transposed, rows ld apart, and z.
  struct Start {
    const float *S, *z;
    int ld;
  };
  /// Summarises a chunk by these keys and values; value(row, x) is what is left of an element of the sum.
  template <class Unit, class Value>
  __device__ __forceinline__ void sum_up(const Team &team, const Chunk &c, const Array<float> &keys,
                                         const Array<float> &values, const Summary &out, const Summarising &x,
                                         const Value &value) const {
    const size_t step = c.head * T + c.first;
    fetch<pitch>(team, keys.data() + step * size, x.k);
    fetch<pitch>(team, values.data() + step * size, x.v);
    if (decays) prepare(team, in.alpha.data() + step, x.decay);
    team.barrier();
    const Lane at(team);
    Results sum[blocks];
    float z[2] = {};
    const float carried = add_up<Unit, pitch>(at, step, x.k, x.v, x.decay, sum, z);
    put(at, sum, out.added, value);
    put_rest(at, carried, z, out);
  }
  /// Begins to copy a chunk.
  __device__ __forceinline__ void begin(const Team &team, size_t step, const Reading &x) const {
    fetch<key_pitch>(team, in.k.data() + step * size, x.k);
    asm volatile("cp.async.commit_group;" ::: "memory");
    fetch<pitch>(team, v.data() + step * size, x.v); // it is needed last
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  /// The outputs of the chunk, whose state is in x.S, too.
  template <class Unit>
  __device__ __forceinline__ void reads(const Team &team, const Lane &at, size_t step, Queries<Unit::groups> &q,
                                        const Start &before, const Reading &x) const {
    if (decays) prepare(team, in.alpha.data() + step, x.decay);
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    team.meet();
    Results p[blocks], sum[blocks];
    meet<Unit>(at, q, x, p, sum);
    float decay[2]; // from the chunk's start to the rows
    weigh(at, decays, x.decay, p, decay);
    if (in.strength.extent(0)) strengthen(at, step, p);
    decay_rows(decay, sum);
    team.barrier();
    read_own<Unit, pitch>(at, x.v, p, sum);
    write(at, step, before, decay, p, sum);
  }

  /// sum += sum of v_i (strength_i D(C,i) k_i)^T, transposed, and z += what the lane sees of the keys' own. Returns D(C,0).
  template <class Unit, int keys_pitch>
  __device__ __forceinline__ float add_up(const Lane &at, size_t step, const float *k, const float *v,
                                          const Decay &decay, Results (&sum)[blocks], float (&z)[2]) const {
    constexpr int groups = Unit::groups;
    const float *strength = in.strength.extent(0) ? in.strength.data() + step : nullptr;
    float behind = 1; // decay of the blocks behind
#pragma unroll 2
    for (int b = blocks - groups; b >= 0; b -= groups) {
      Group<blocks> group[groups];
#pragma unroll
      for (int g = groups - 1; g >= 0; --g) {
        const int i = (b + g) * block + at.place;
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const float *const keys = k + (i + e) * keys_pitch + at.row();
          const float factor = (decays ? behind * decay.tail[i + e] : 1) * (strength ? strength[i + e] : 1);
#pragma unroll
          for (int r = 0; r < 2; ++r) z[r] += group[g].a[r][e] = factor * keys[8 * r];
        }
        tile::cuda::load_rows(v + i * pitch + 2 * at.inner(), pitch, group[g]);
        if (decays) behind *= decay.whole[b + g];
      }
      Unit::add(group, sum);
    }
    return behind;
  }
  /// The rest of a summary: what is carried, and z.
  __device__ __forceinline__ void put_rest(const Lane &at, float carried, const float (&z)[2],
                                           const Summary &out) const {
    if (decays && at.row() == 0 && at.place == 0) out.carried[0] = carried;
    if (in.normalised) put_keys(at, z, out.added + size * size);
  }
  /// The sums over keys of which the lanes have their parts.
  __device__ __forceinline__ static void put_keys(const Lane &at, const float (&z)[2], float *out) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float all = tile::cuda::across_four(z[r]);
      if (at.place == 0) out[at.row() + 8 * r] = all;
    }
  }

  /// p(t,i) = q_t . k_i, of blocks that have an i <= t, and sum_t = S q_t.
  template <class Unit>
  __device__ __forceinline__ void meet(const Lane &at, Queries<Unit::groups> &q, const Reading &x, Results (&p)[blocks],
                                       Results (&sum)[blocks]) const {
    constexpr int groups = Unit::groups, half = blocks / 2;
    const float *k = x.k + at.inner() * key_pitch + at.place, *S = x.S + at.place * pitch + 2 * at.inner();
    Results early[half], late[half];
#pragma unroll 1
    for (int b = 0; b < blocks; b += groups, k += groups * block, S += groups * block * pitch) {
      Group<blocks> state[groups];
      Group<half> keys[groups];
      q.put(state), q.put(keys);
      if (b + groups < blocks) q.fetch();
      load_keys<key_pitch>(k, keys);
      Unit::add(keys, early);
      if (at.first >= size / 2) {
        load_keys<key_pitch>(k + size / 2 * key_pitch, keys);
        Unit::add(keys, late);
      }
#pragma unroll
      for (int g = 0; g < groups; ++g) tile::cuda::load_rows(S + g * block * pitch, pitch, state[g]);
      Unit::add(state, sum);
    }
#pragma unroll
    for (int c = 0; c < half; ++c) p[c] = early[c], p[half + c] = late[c];
  }

  /// p(t,i) times strength_i
  __device__ __forceinline__ void strengthen(const Lane &at, size_t step, Results (&p)[blocks]) const {
    const float *const strength = in.strength.data() + step + at.place;
#pragma unroll
    for (int b = 0; b < blocks; ++b)
#pragma unroll
      for (int e = 0; e < 4; ++e) p[b].x[e] *= strength[b * block + e % 2];
  }

  /// The outputs, from sums and weights so far.
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

  /// The same, pair by pair. By value, so that registers stay what they are where it is not called.
  __device__ __noinline__ static void one_by_one(DecayedSumInWarps self, int first, size_t step, Start before) {
    const DecayedSum<float> &in = self.in;
    const int lane = threadIdx.x % 32;
    for (int t = first; t < first + height; ++t) {
      const float *const q = in.q.data() + (step + t) * size;
      float sum[2] = {}, mass = 0, since = 1;
      for (int i = t; i >= 0; --i) {
        const float strength = in.strength.extent(0) ? in.strength[step + i] : 1,
                    weight = since * strength * row_dot(q, in.k.data() + (step + i) * size, size, lane, 32);
        mass += weight;
        for (int h = 0; h < 2; ++h) sum[h] += weight * self.v[(step + i) * size + lane + 32 * h];
        if (self.decays) since *= in.alpha[step + i];
      }
      for (int j = 0; j < size; ++j)
        for (int h = 0; h < 2; ++h) sum[h] += since * q[j] * before.S[j * before.ld + lane + 32 * h];
      float divisor = 1;
      if (in.normalised) divisor = self.divisor_of(step + t, mass + since * row_dot(q, before.z, size, lane, 32));
      for (int h = 0; h < 2; ++h) {
        const float scaled = in.scale * sum[h];
        self.o[(step + t) * size + lane + 32 * h] = in.normalised ? weighted_mean(scaled, divisor) : scaled;
      }
    }
  }
#endif
};

} // namespace recollect::variants
#endif
