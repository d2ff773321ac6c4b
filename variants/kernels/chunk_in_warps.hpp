// SPDX-License-Identifier: Apache-2.0
// A chunk of 64 steps in heads of 64 on CUDA, for kernels in which four warps take 16 of its steps each: pairs' weights
// never leave a warp's registers, for its results of one product lie as it takes the first operand of the next.
//
// Decays, one number a step, are products of the factors within blocks of eight steps, and of whole blocks between
// (decays.hpp says why).
#pragma once
#include "harness/device/engine.hpp"
#include "variants/kernels/too_old.hpp"
#ifdef __CUDACC__

namespace recollect::variants {

struct ChunkInWarps {
  static constexpr int size = engine::usual_size, block = 8, blocks = size / block;
  static constexpr int height = tile::cuda::height, threads = size / height * 32;

  /// Products of decays.
  struct Decay {
    float *own;           // [size] of a step
    float *inside, *tail; // [size] from a step's block's start on, itself too; of the steps behind it in its block
    float *whole;         // [blocks] of a block
  };
  KOKKOS_FUNCTION static Decay place_decay(Stack<float> &s) {
    Decay x;
    x.own = s.take(size), x.inside = s.take(size), x.tail = s.take(size), x.whole = s.take(blocks);
    return x;
  }

  static bool suits(const Call<float> &call) {
    return Execution().cuda_device_prop().major >= 8 && schedule_of(call) == Schedule::three_phase &&
           call.shape.Dv == size && call.chunk == size && call.shape.T % size == 0;
  }

#if __CUDA_ARCH__ >= 800
  using Results = tile::cuda::Results<float>;
  template <int N> using Group = tile::cuda::Group<float, N>;

  /// A lane's part of its warp's rows: `row()` and 8 further; `place` and the next of each eight columns.
  struct Lane {
    int first, lane, place; // of the warp's rows
    __device__ explicit Lane(const Team &team)
        : first(team.rank / 32 * height), lane(team.rank % 32), place(team.rank % 4 * 2) {}
    __device__ int inner() const { return lane / 4; } // row in its eight
    __device__ int row() const { return first + inner(); }
  };

  /// A lane's part of rows `ld` apart, `groups` blocks of it, and the next on their way.
  template <int groups> struct Queries {
    const float *at;
    int ld;
    float2 ahead[groups][2]; // [block][row]
    __device__ explicit Queries(const float *at, int ld = size) : at(at), ld(ld) { fetch(); }
    __device__ void fetch() {
#pragma unroll
      for (int g = 0; g < groups; ++g)
#pragma unroll
        for (int r = 0; r < 2; ++r) ahead[g][r] = *reinterpret_cast<const float2 *>(at + r * 8 * ld + g * block);
      at += groups * block;
    }
    template <int N> __device__ void put(Group<N> (&group)[groups]) const {
#pragma unroll
      for (int g = 0; g < groups; ++g)
#pragma unroll
        for (int r = 0; r < 2; ++r) group[g].a[r][0] = ahead[g][r].x, group[g].a[r][1] = ahead[g][r].y;
    }
  };

  /// to = from [size,size], rows `pitch` and ld apart, under way until the team's next barrier.
  template <int pitch>
  __device__ __forceinline__ static void fetch(const Team &team, const float *from, float *to, int ld = size) {
    constexpr int across = size / 4, down = threads / across; // 16 bytes at a time
    const int row = team.rank / across, column = team.rank % across * 4;
    from += row * ld + column, to += row * pitch + column;
#pragma unroll
    for (int i = 0; i < size; i += down) tile::cuda::move_16(from + i * ld, to + i * pitch, true);
  }

  /// The tables, a block by every eight threads. No barrier.
  __device__ static void prepare(const Team &team, const float *alpha, const Decay &x) {
    if (team.rank >= size) return;
    const unsigned all = 0xffffffffu;
    const int lane = team.rank % block;
    const float own = alpha[team.rank];
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

  /// p(t,i) times D(t,i), which is 1 unless something `decays`, and 0 where i > t; `left` becomes D(t,0).
  __device__ __forceinline__ static void weigh(const Lane &at, bool decays, const Decay &decay, Results (&p)[blocks],
                                               float (&left)[2]) {
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
  }

  /// sum_t *= decay, that of the row's step.
  __device__ __forceinline__ static void decay_rows(const float (&decay)[2], Results (&sum)[blocks]) {
#pragma unroll
    for (int b = 0; b < blocks; ++b)
#pragma unroll
      for (int e = 0; e < 4; ++e) sum[b].x[e] *= decay[e / 2];
  }

  /// Blocks of eight rows in shared memory, `pitch` apart, as columns.
  template <int pitch, int N, int groups>
  __device__ __forceinline__ static void load_keys(const float *k, Group<N> (&group)[groups]) {
#pragma unroll
    for (int g = 0; g < groups; ++g)
#pragma unroll
      for (int c = 0; c < N; ++c) {
        const float2 both = *reinterpret_cast<const float2 *>(k + c * block * pitch + g * block);
        group[g].b[c][0] = both.x, group[g].b[c][1] = both.y;
      }
  }

  /// sum_t += sum of p(t,i) v_i over i <= t, or not `back`, over i >= t
  template <class Unit, int pitch, bool back = true>
  __device__ __forceinline__ static void read_own(const Lane &at, const float *v, const Results (&p)[blocks],
                                                  Results (&sum)[blocks]) {
    constexpr int groups = Unit::groups;
    v += at.place * pitch + 2 * at.inner();
#pragma unroll
    for (int b = 0; b < blocks; b += groups) {
      if (back ? b * block >= at.first + height : (b + groups) * block <= at.first) continue;
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

  /// A lane's results value(row, x) to their places in out [size,size], rows ld apart.
  template <class Value>
  __device__ __forceinline__ static void put(const Lane &at, const Results (&sum)[blocks], float *out,
                                             const Value &value, int ld = size) {
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int b = 0; b < blocks; b += 2) {
        const float *x = sum[b].x + 2 * r, *y = sum[b + 1].x + 2 * r;
        *reinterpret_cast<float4 *>(out + (at.row() + 8 * r) * ld + tile::cuda::column_of(b, at.lane)) =
            make_float4(value(r, x[0]), value(r, y[0]), value(r, x[1]), value(r, y[1]));
      }
  }
  __device__ __forceinline__ static void put(const Lane &at, const Results (&sum)[blocks], float *out, int ld = size) {
    put(
        at, sum, out, [](int, float x) { return x; }, ld);
  }
  /// The other way round.
  __device__ __forceinline__ static void take(const Lane &at, const float *from, int ld, Results (&sum)[blocks]) {
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int b = 0; b < blocks; b += 2) {
        const float4 four =
            *reinterpret_cast<const float4 *>(from + (at.row() + 8 * r) * ld + tile::cuda::column_of(b, at.lane));
        float *x = sum[b].x + 2 * r, *y = sum[b + 1].x + 2 * r;
        x[0] = four.x, y[0] = four.y, x[1] = four.z, y[1] = four.w;
      }
  }
  /// Whether all that the warp has are: behind what a row sees may be an infinite v, which a weight of 0 does not hide.
  __device__ __forceinline__ static bool finite(const Results (&sum)[blocks]) {
    float sign = 0; // NaN, if some are not
#pragma unroll
    for (int b = 0; b < blocks; ++b)
#pragma unroll
      for (int e = 0; e < 4; ++e) sign = fma(sum[b].x[e], 0.0f, sign);
    return !__any_sync(0xffffffffu, sign != sign);
  }
#endif
};

} // namespace recollect::variants
#endif
