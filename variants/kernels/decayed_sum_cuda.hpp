// SPDX-License-Identifier: Apache-2.0
// decayed_sum.hpp's phases on CUDA where heads are 64 wide, chunks 64 steps long, and one number a step decays, or
// nothing: four warps take 16 rows of a chunk's results each, and pairs' weights never leave a warp's registers, for its
// results of one product lie as it takes the first operand of the next. A team waits but once, for the chunk to arrive.
//
// Decays are products of the factors within blocks of eight steps, and of whole blocks between (decays.hpp says why).
#pragma once
#include "variants/kernels/decayed_sum_algebra.hpp"
#ifdef __CUDACC__

namespace recollect::variants {

struct DecayedSumInWarps : DecayedState<float> {
  static constexpr int threads = 128, kinds = 2; // decays: none, or one number a step
  static constexpr int size = engine::usual_size, block = 8, blocks = size / block, height = tile::cuda::height;
  // Rows that a warp reads together begin in different banks: pairs that lie in a row, and pairs of rows.
  static constexpr int key_pitch = size + 8, pitch = size + 4;
  Array<float> v, o;

  static bool suits(const Call<float> &call, const DecayedSum<float> &in) {
    const Shape &s = call.shape;
    return Execution().cuda_device_prop().major >= 8 && schedule_of(call) == Schedule::three_phase &&
           in.width == size && s.Dv == size && call.chunk == size && s.T % size == 0 && !in.bonus.extent(0) &&
           !in.lambda.extent(0);
  }

  /// Products of decays.
  struct Decay {
    float *own;           // [size] of a step
    float *inside, *tail; // [size] from a step's block's start on, itself too; of the steps behind it in its block
    float *whole;         // [blocks] of a block
  };
  struct Summarising {
    Decay decay;
    float *k, *v;
  };
  struct Reading {
    Decay decay;
    float *k, *v, *S;
  };
  KOKKOS_FUNCTION Decay place_decay(Stack<float> &s) const {
    Decay x{};
    if (decays) x.own = s.take(size), x.inside = s.take(size), x.tail = s.take(size), x.whole = s.take(blocks);
    return x;
  }
  KOKKOS_FUNCTION Summarising summarising(Stack<float> &s) const {
    Summarising x;
    x.k = s.take(size * pitch), x.v = s.take(size * pitch), x.decay = place_decay(s);
    return x;
  }
  KOKKOS_FUNCTION Reading reading(Stack<float> &s) const {
    Reading x;
    x.k = s.take(size * key_pitch), x.v = s.take(size * pitch), x.S = s.take(size * pitch), x.decay = place_decay(s);
    return x;
  }

  template <Math math>
  RECOLLECT_IN_LINE void summarise(const Precise<math> &team, const Chunk &c, const Summary &out,
                                   const Summarising &x) const {
#if __CUDA_ARCH__ >= 800
    const size_t step = c.head * T + c.first;
    fetch<pitch>(team, in.k.data() + step * size, x.k);
    fetch<pitch>(team, v.data() + step * size, x.v);
    prepare(team, step, x.decay);
    team.barrier();
    add_up<tile::cuda::UnitOf<math>>(Lane(team), step, out, x);
#else
    (void)team, (void)c, (void)out, (void)x;
#endif
  }

  template <Math math>
  RECOLLECT_IN_LINE void read(const Precise<math> &team, const Chunk &c, const Summary &, const float *before,
                              const Reading &x) const {
#if __CUDA_ARCH__ >= 800
    using Unit = tile::cuda::UnitOf<math>;
    const size_t step = c.head * T + c.first;
    const Lane at(team);
    fetch<key_pitch>(team, in.k.data() + step * size, x.k);
    fetch<pitch>(team, before, x.S);
    asm volatile("cp.async.commit_group;" ::: "memory");
    fetch<pitch>(team, v.data() + step * size, x.v); // it is needed last
    asm volatile("cp.async.commit_group;" ::: "memory");
    Queries<Unit::groups> q(in.q.data() + (step + at.row()) * size + at.place);
    prepare(team, step, x.decay);
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    team.meet();
    Results p[blocks], sum[blocks];
    meet<Unit>(at, q, x, p, sum);
    float decay[2], mass[2]; // from the chunk's start to the rows; the sum of their weights
    weigh(at, step, x.decay, p, decay, mass);
#pragma unroll
    for (int b = 0; b < blocks; ++b)
#pragma unroll
      for (int e = 0; e < 4; ++e) sum[b].x[e] *= decay[e / 2];
    team.barrier();
    read_own<Unit>(at, x, p, sum);
    write(at, step, before, decay, mass, sum);
#else
    (void)team, (void)c, (void)before, (void)x;
#endif
  }

#if __CUDA_ARCH__ >= 800
private:
  using Results = tile::cuda::Results<float>;
  template <int N> using Group = tile::cuda::Group<float, N>;

  /// A lane's part of its warp's rows: `row()` and 8 further; `place` and the next of each eight columns.
  struct Lane {
    int first, lane, place; // of the warp's rows
    __device__ explicit Lane(const Team &team)
        : first(team.rank / 32 * height), lane(team.rank % 32), place(team.rank % 4 * 2) {}
    __device__ int inner() const { return lane / 4; } // row in its eight
    __device__ int row() const { return first + inner(); }
    /// The sum over the four lanes that share a row.
    __device__ static float across_row(float x) {
      x += __shfl_xor_sync(0xffffffffu, x, 1);
      return x + __shfl_xor_sync(0xffffffffu, x, 2);
    }
  };

  /// A lane's queries of `groups` blocks, and the next on their way.
  template <int groups> struct Queries {
    const float *at;
    float2 ahead[groups][2]; // [block][row]
    __device__ explicit Queries(const float *at) : at(at) { fetch(); }
    __device__ void fetch() {
#pragma unroll
      for (int g = 0; g < groups; ++g)
#pragma unroll
        for (int r = 0; r < 2; ++r) ahead[g][r] = *reinterpret_cast<const float2 *>(at + r * 8 * size + g * block);
      at += groups * block;
    }
    template <int N> __device__ void put(Group<N> (&group)[groups]) const {
#pragma unroll
      for (int g = 0; g < groups; ++g)
#pragma unroll
        for (int r = 0; r < 2; ++r) group[g].a[r][0] = ahead[g][r].x, group[g].a[r][1] = ahead[g][r].y;
    }
  };

  /// to = from [size,size], under way until the team's next barrier.
  template <int pitch> __device__ __forceinline__ static void fetch(const Team &team, const float *from, float *to) {
    constexpr int across = size / 4, down = threads / across; // 16 bytes at a time
    const int row = team.rank / across, column = team.rank % across * 4;
    from += row * size + column, to += row * pitch + column;
#pragma unroll
    for (int i = 0; i < size; i += down) tile::cuda::move_16(from + i * size, to + i * pitch, true);
  }

  /// Every eight threads take a block. No barrier.
  __device__ void prepare(const Team &team, size_t step, const Decay &x) const {
    if (!decays || team.rank >= size) return;
    const unsigned all = 0xffffffffu;
    const int lane = team.rank % block;
    const float own = in.alpha[step + team.rank];
    float inside = own, tail = __shfl_down_sync(all, own, 1, block);
    if (lane == block - 1) tail = 1;
#pragma unroll
    for (int side = 1; side < block; side *= 2) {
      const float earlier = __shfl_up_sync(all, inside, side, block), later = __shfl_down_sync(all, tail, side, block);
      if (lane >= side) inside *= earlier;
      if (lane + side < block) tail *= later;
    }
    x.own[team.rank] = own, x.inside[team.rank] = inside, x.tail[team.rank] = tail;
    if (lane == block - 1) x.whole[team.rank / block] = inside;
  }

  /// out = sum of v_i (strength_i D(C,i) k_i)^T, transposed, and of the keys.
  template <class Unit>
  __device__ __forceinline__ void add_up(const Lane &at, size_t step, const Summary &out, const Summarising &x) const {
    constexpr int groups = Unit::groups;
    const float *strength = in.strength.extent(0) ? in.strength.data() + step : nullptr;
    Results sum[blocks];
    float z[2] = {}, behind = 1; // decay of the blocks behind
#pragma unroll 2
    for (int b = blocks - groups; b >= 0; b -= groups) {
      Group<blocks> group[groups];
#pragma unroll
      for (int g = groups - 1; g >= 0; --g) {
        const int i = (b + g) * block + at.place;
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const float *const keys = x.k + (i + e) * pitch + at.row();
          const float factor = (decays ? behind * x.decay.tail[i + e] : 1) * (strength ? strength[i + e] : 1);
#pragma unroll
          for (int r = 0; r < 2; ++r) z[r] += group[g].a[r][e] = factor * keys[8 * r];
        }
        tile::cuda::load_rows(x.v + i * pitch + 2 * at.inner(), pitch, group[g]);
        if (decays) behind *= x.decay.whole[b + g];
      }
      Unit::add(group, sum);
    }
    put(at, sum, out.added, [](int, float x) { return x; });
    if (decays && at.row() == 0 && at.place == 0) out.carried[0] = behind;
    if (!in.normalised) return;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float all = at.across_row(z[r]);
      if (at.place == 0) out.added[size * size + at.row() + 8 * r] = all;
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
      load_keys(k, keys);
      Unit::add(keys, early);
      if (at.first >= size / 2) {
        load_keys(k + size / 2 * key_pitch, keys);
        Unit::add(keys, late);
      }
#pragma unroll
      for (int g = 0; g < groups; ++g) tile::cuda::load_rows(S + g * block * pitch, pitch, state[g]);
      Unit::add(state, sum);
    }
#pragma unroll
    for (int c = 0; c < half; ++c) p[c] = early[c], p[half + c] = late[c];
  }
  template <int N, int groups>
  __device__ __forceinline__ static void load_keys(const float *k, Group<N> (&group)[groups]) {
#pragma unroll
    for (int g = 0; g < groups; ++g)
#pragma unroll
      for (int c = 0; c < N; ++c) {
        const float2 both = *reinterpret_cast<const float2 *>(k + c * block * key_pitch + g * block);
        group[g].b[c][0] = both.x, group[g].b[c][1] = both.y;
      }
  }

  /// p(t,i) times D(t,i) strength_i, and 0 where i > t; `left` is D(t,0).
  __device__ __forceinline__ void weigh(const Lane &at, size_t step, const Decay &decay, Results (&p)[blocks],
                                        float (&left)[2], float (&mass)[2]) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int own = at.first / block + r; // the row's block
      left[r] = decays ? decay.inside[at.row() + 8 * r] : 1;
#pragma unroll
      for (int b = blocks - 1; b >= 0; --b) {
        const int i = b * block + at.place;
        float *const x = p[b].x + 2 * r;
        if (b > own) {
          x[0] = x[1] = 0;
        } else if (b == own) {
          float factor[2] = {1, 1}; // of the two pairs
          if (decays) {
#pragma unroll
            for (int s = 2; s < block; ++s) // between the second of the two and the row
              if (at.place + 1 < s && s <= at.inner()) factor[1] *= decay.own[b * block + s];
            if (at.place < at.inner()) factor[0] = factor[1] * decay.own[i + 1];
          }
#pragma unroll
          for (int e = 0; e < 2; ++e) x[e] = at.place + e <= at.inner() ? factor[e] * x[e] : 0;
        } else if (decays) {
          const float2 tail = *reinterpret_cast<const float2 *>(decay.tail + i);
          x[0] *= left[r] * tail.x, x[1] *= left[r] * tail.y;
          left[r] *= decay.whole[b];
        }
      }
    }
    if (in.strength.extent(0)) {
      const float *const strength = in.strength.data() + step + at.place;
#pragma unroll
      for (int b = 0; b < blocks; ++b)
#pragma unroll
        for (int e = 0; e < 4; ++e) p[b].x[e] *= strength[b * block + e % 2];
    }
    if (in.normalised)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        mass[r] = 0;
#pragma unroll
        for (int b = 0; b < blocks; ++b) mass[r] += p[b].x[2 * r] + p[b].x[2 * r + 1];
      }
  }

  /// sum_t += sum of p(t,i) v_i
  template <class Unit>
  __device__ __forceinline__ void read_own(const Lane &at, const Reading &x, const Results (&p)[blocks],
                                           Results (&sum)[blocks]) const {
    constexpr int groups = Unit::groups;
    const float *const v = x.v + at.place * pitch + 2 * at.inner();
#pragma unroll
    for (int b = 0; b < blocks; b += groups) {
      if (b * block >= at.first + height) break;
      Group<blocks> group[groups];
#pragma unroll
      for (int g = 0; g < groups; ++g) {
#pragma unroll
        for (int e = 0; e < 2; ++e)
#pragma unroll
          for (int r = 0; r < 2; ++r) group[g].a[r][e] = p[b + g].x[2 * r + e];
        tile::cuda::load_rows(v + (b + g) * block * pitch, pitch, group[g]);
      }
      Unit::add(group, sum);
    }
  }

  /// The outputs, from sums and weights so far.
  __device__ __forceinline__ void write(const Lane &at, size_t step, const float *before, const float (&decay)[2],
                                        const float (&mass)[2], const Results (&sum)[blocks]) const {
    float sign = 0; // NaN, if some of them are not finite: behind what a row sees may be an infinite v
#pragma unroll
    for (int b = 0; b < blocks; ++b)
#pragma unroll
      for (int e = 0; e < 4; ++e) sign = fma(sum[b].x[e], 0.0f, sign);
    if (__any_sync(0xffffffffu, sign != sign)) return one_by_one(*this, at.first, step, before);
    float divisor[2] = {1, 1};
    if (in.normalised) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float *q = in.q.data() + (step + at.row() + 8 * r) * size, *z = before + size * size;
        float along = 0;
        for (int j = at.lane % 4; j < size; j += 4) along += q[j] * z[j];
        divisor[r] = divisor_of(step + at.row() + 8 * r, at.across_row(mass[r] + decay[r] * along));
      }
    }
    put(at, sum, o.data() + step * size,
        [&](int r, float x) { return in.normalised ? weighted_mean(in.scale * x, divisor[r]) : in.scale * x; });
  }
  __device__ float divisor_of(size_t step, float mass) const {
    const float weight = in.scale * mass;
    return in.floor.extent(0) ? math::fmax(math::fabs(weight), in.floor[step]) : weight;
  }

  /// The same, pair by pair. By value, so that registers stay what they are where it is not called.
  __device__ __noinline__ static void one_by_one(DecayedSumInWarps self, int first, size_t step, const float *before) {
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
        for (int h = 0; h < 2; ++h) sum[h] += since * q[j] * before[j * size + lane + 32 * h];
      float divisor = 1;
      if (in.normalised)
        divisor = self.divisor_of(step + t, mass + since * row_dot(q, before + size * size, size, lane, 32));
      for (int h = 0; h < 2; ++h) {
        const float scaled = in.scale * sum[h];
        self.o[(step + t) * size + lane + 32 * h] = in.normalised ? weighted_mean(scaled, divisor) : scaled;
      }
    }
  }

  /// A lane's results value(row, x) to their places in out [size,size].
  template <class Value>
  __device__ __forceinline__ static void put(const Lane &at, const Results (&sum)[blocks], float *out,
                                             const Value &value) {
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int b = 0; b < blocks; b += 2) {
        const float *x = sum[b].x + 2 * r, *y = sum[b + 1].x + 2 * r;
        *reinterpret_cast<float4 *>(out + (at.row() + 8 * r) * size + tile::cuda::column_of(b, at.lane)) =
            make_float4(value(r, x[0]), value(r, y[0]), value(r, x[1]), value(r, y[1]));
      }
  }
#endif
};

} // namespace recollect::variants
#endif
