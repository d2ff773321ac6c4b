// SPDX-License-Identifier: Apache-2.0
// Operations on a chunk of 64 steps in heads of width 64 on CUDA, for prefix_regression_cuda.hpp. Four warps take 16
// steps each. The weights p(t,i) of pairs of steps never leave a warp's registers, because the results of one product
// have the layout of the next product's first operand.
//
// D(t,i) is the product of the decays of steps i + 1 ... t. It is computed from the decays within the eight-step blocks
// of t and i, and from the product over each whole block between them (decays.hpp says why).
#pragma once
#include "harness/device/engine.hpp"
#include "variants/kernels/common/unsupported_architecture.hpp"
#ifdef __CUDACC__

namespace recollect::variants {

struct ChunkInWarps {
  static constexpr int size = engine::static_size, block = 8, blocks = size / block;
  static constexpr int height = tile::cuda::height, threads = size / height * 32;

  /// Tables of products of decays; block: eight steps.
  struct Decay {
    float *own;           // [size] the decay of a step
    float *inside, *tail; // [size] inside: product over the block's steps up to this step; tail: over its later steps
    float *whole;         // [blocks] product over a whole block
  };
  /// Returns null tables if `decays` is false.
  KOKKOS_FUNCTION static Decay place_decay(Stack<float> &s, bool decays) {
    Decay x{};
    if (!decays) return x;
    x.own = s.take(size), x.inside = s.take(size), x.tail = s.take(size), x.whole = s.take(blocks);
    return x;
  }

  static bool supports(const Call<float> &call) {
    return Execution().cuda_device_prop().major >= 8 && schedule_of(call) == Schedule::three_phase &&
           call.shape.Dv == size && call.chunk == size && call.shape.T % size == 0;
  }

#if __CUDA_ARCH__ >= 800
  using Results = tile::cuda::Results<float>;
  template <int N> using Group = tile::cuda::Group<float, N>;

  /// The elements that a lane holds: of the warp's 16 rows, rows row() and row() + 8; in these rows, columns place and
  /// place + 1 of every eight columns.
  struct Lane {
    int first, lane, place; // first: the warp's first row; place: the lane's first column
    __device__ explicit Lane(const Team &team)
        : first(team.rank / 32 * height), lane(team.rank % 32), place(team.rank % 4 * 2) {}
    __device__ int inner() const { return lane / 4; } // row within a block of eight
    __device__ int row() const { return first + inner(); }
  };

  /// Starts an asynchronous copy of a matrix [size,size] from rows `ld` apart to rows `pitch` apart. It is complete
  /// after the team's next barrier.
  template <int pitch>
  __device__ __forceinline__ static void fetch(const Team &team, const float *from, float *to, int ld = size) {
    constexpr int across = size / 4, down = threads / across; // 16 bytes at a time
    const int row = team.rank / across, column = team.rank % across * 4;
    from += row * ld + column, to += row * pitch + column;
#pragma unroll
    for (int i = 0; i < size; i += down) tile::cuda::move_16(from + i * ld, to + i * pitch, true);
  }

  /// Fills the tables; every eight threads take one block. No barrier.
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

  /// Multiplies p(t,i) by D(t,i) for i <= t (by 1 if `decays` is false) and sets it to 0 for i > t; `left` becomes
  /// D(t,0).
  __device__ __forceinline__ static void apply_decay(const Lane &at, bool decays, const Decay &decay,
                                                     Results (&p)[blocks], float (&left)[2]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      // own: the row's block; last: the row's place in this block
      const int own = at.first / block + r, last = at.inner();
      left[r] = decays ? decay.inside[own * block + last] : 1;
#pragma unroll
      for (int b = blocks - 1; b >= 0; --b) {
        const int i = b * block + at.place;
        float *const x = p[b].x + 2 * r;
        if (b > own) {
          x[0] = x[1] = 0;
        } else if (b == own) {
          float factor[2] = {1, 1}; // D(t,i) and D(t,i + 1)
          if (decays) {
#pragma unroll
            for (int s = 2; s < block; ++s) // steps after i + 1 up to t; i and i + 1 are the lane's columns
              if (at.place + 1 < s && s <= last) factor[1] *= decay.own[b * block + s];
            if (at.place < last) factor[0] = factor[1] * decay.own[i + 1];
          }
#pragma unroll
          for (int e = 0; e < 2; ++e) x[e] = at.place + e <= last ? factor[e] * x[e] : 0;
        } else if (decays) {
          const float2 tail = *reinterpret_cast<const float2 *>(decay.tail + i);
          x[0] *= left[r] * tail.x, x[1] *= left[r] * tail.y;
          left[r] *= decay.whole[b];
        }
      }
    }
  }

  /// Multiplies the sums of each row t by decay, D(t,0) of the row.
  __device__ __forceinline__ static void decay_rows(const float (&decay)[2], Results (&sum)[blocks]) {
#pragma unroll
    for (int b = 0; b < blocks; ++b)
#pragma unroll
      for (int e = 0; e < 4; ++e) sum[b].x[e] *= decay[e / 2];
  }

  /// sum_t += sum of p(t,i) v_i over the blocks that row t sees.
  template <class Unit, int pitch>
  __device__ __forceinline__ static void apply_to_values(const Lane &at, const float *v, const Results (&p)[blocks],
                                                         Results (&sum)[blocks]) {
    constexpr int groups = Unit::groups;
    v += at.place * pitch + 2 * at.inner();
#pragma unroll
    for (int b = 0; b < blocks; b += groups) {
      if (b * block >= at.first + height) continue;
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

  /// Writes a lane's results to out [size,size].
  __device__ __forceinline__ static void put(const Lane &at, const Results (&sum)[blocks], float *out) {
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int b = 0; b < blocks; b += 2) {
        const float *x = sum[b].x + 2 * r, *y = sum[b + 1].x + 2 * r;
        *reinterpret_cast<float4 *>(out + (at.row() + 8 * r) * size + tile::cuda::column_of(b, at.lane)) =
            make_float4(x[0], y[0], x[1], y[1]);
      }
  }
  /// Whether all results of the warp are finite. If some are not, the cause may be 0 times Inf: a later step has weight
  /// 0, but its value may be infinite.
  __device__ __forceinline__ static bool finite(const Results (&sum)[blocks]) {
    float sign = 0; // NaN if any is not finite
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
