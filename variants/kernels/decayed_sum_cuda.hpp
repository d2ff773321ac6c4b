// SPDX-License-Identifier: Apache-2.0
// How decayed_sum.hpp reads on CUDA where rows and chunks are short and channels do not decay apart: a warp takes 16
// steps and 32 columns of the outputs, and the weights of their pairs never leave its registers, for a warp's results of
// one product lie as it takes the first operand of the next.
#pragma once
#if defined(__CUDACC__) && (__CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__))
#include "harness/device/tile.hpp"
#include "variants/kernels/decays.hpp"

namespace recollect::variants {

/// A chunk in shared memory.
struct DecayedChunk {
  static constexpr int most = 64, pitch = most + 4; // rows that a warp reads together begin in different banks
  int n, F, V;
  const float *q, *k, *v, *S; // [most,pitch], 0 past what is given
  const float *strength;      // [n], null: 1
  Decays<float> decays;

  /// to = from[rows,width], and 0 where a product looks beyond it.
  __device__ static void fill(const Team &team, int rows, int width, const float *from, float *to) {
    tile::copy(team, rows, width, from, width, to, pitch);
    const int all_rows = (rows + 31) / 32 * 32, all = (width + 7) / 8 * 8;
    each_cell(team, all_rows - rows, most, [=](int i, int j) { to[(rows + i) * pitch + j] = 0; });
    if (all > width) each_cell(team, rows, all - width, [=](int i, int j) { to[i * pitch + width + j] = 0; });
  }
  /// What pair (t,i) weighs, given q_t . k_i.
  __device__ float weight(int t, int i, float z) const {
    const float decayed = z * decays.between(t, i);
    return strength ? decayed * strength[i] : decayed;
  }
};

/// 16 steps from `row` on and 32 columns from `column` on, by one warp. A lane has the steps `row` + lane / 4 and 8 further,
/// and columns lane % 4 * 2 and the next of each eight.
struct DecayedBlock {
  static constexpr int side = 32, across = side / 8;
  using Unit = tile::cuda::Exact;
  int lane, row, column;
  tile::cuda::Results<float> sum[across];
  float total[2]; // what the lane's pairs weigh

  __device__ int step(int r) const { return row + lane / 4 + 8 * r; }

  /// q_t D(t, start) S, and with z what the sum of keys weighs.
  __device__ __forceinline__ void start(const DecayedChunk &c, const float *z) {
    constexpr int pitch = DecayedChunk::pitch;
    const tile::Product<float> started{tile::rows(c.q, pitch), tile::rows(c.S, pitch), c.F};
    tile::cuda::accumulate<Unit>(tile::cuda::Whole<float, across, true, false>(started, row, 0, column, 0, lane),
                                 (c.F + 7) / 8 * 8, sum);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int t = step(r);
      const float left = t < c.n ? c.decays.since_start(t) : 0;
#pragma unroll
      for (int j = 0; j < across; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) sum[j].x[2 * r + e] *= left;
      total[r] = 0;
      if (z)
        for (int j = lane % 4; j < c.F; j += 4) total[r] += left * c.q[t * pitch + j] * z[j];
    }
  }

  /// What the steps read of `side` writes from `first` on.
  __device__ __forceinline__ void add_pairs(const DecayedChunk &c, int first) {
    constexpr int pitch = DecayedChunk::pitch;
    tile::cuda::Results<float> p[across];
    const tile::Product<float> pairs{tile::rows(c.q, pitch), tile::transposed(c.k, pitch), c.F};
    tile::cuda::accumulate<Unit>(tile::cuda::Whole<float, across, true, true>(pairs, row, 0, first, 0, lane),
                                 (c.F + 7) / 8 * 8, p);
#pragma unroll
    for (int b = 0; b < across; ++b) {
      tile::cuda::Group<float, across> group[1];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int i = first + 8 * b + lane % 4 * 2 + e;
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          const float own = i <= step(r) && step(r) < c.n ? c.weight(step(r), i, p[b].x[2 * r + e]) : 0;
          group[0].a[r][e] = own, total[r] += own;
        }
#pragma unroll
        for (int j = 0; j < across; ++j) group[0].b[j][e] = c.v[i * pitch + column + 8 * j + lane / 4];
      }
      Unit::add(group, sum);
    }
  }

  /// The block's sums, pair by pair: a write after step t may be infinite, and zeros would not hide it from t. By value,
  /// so that registers stay what they are where it is not called.
  __device__ __noinline__ static DecayedBlock one_by_one(DecayedBlock x, DecayedChunk c) {
    constexpr int pitch = DecayedChunk::pitch;
    for (int r = 0; r < 2; ++r) {
      const int t = x.step(r);
      for (int j = 0; t < c.n && j < across; ++j)
        for (int e = 0; e < 2; ++e) {
          const int column = x.column + 8 * j + x.lane % 4 * 2 + e;
          float all = 0;
          for (int f = 0; f < c.F; ++f) all += c.q[t * pitch + f] * c.S[f * pitch + column];
          all *= c.decays.since_start(t);
          for (int i = 0; i <= t; ++i)
            all += c.weight(t, i, dot(c.q + t * pitch, c.k + i * pitch, c.F)) * c.v[i * pitch + column];
          x.sum[j].x[2 * r + e] = all;
        }
    }
    return x;
  }

  __device__ __forceinline__ void read(const DecayedChunk &c, const float *z) {
    start(c, z);
    for (int first = 0; first < row + tile::cuda::height; first += side) add_pairs(c, first);
    bool finite = true;
#pragma unroll
    for (int j = 0; j < across; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) finite = finite && isfinite(sum[j].x[e]);
    if (!__all_sync(0xffffffffu, finite)) *this = one_by_one(*this, c);
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int apart = 1; apart < 4; apart *= 2) total[r] += __shfl_xor_sync(0xffffffffu, total[r], apart);
  }
};

/// Reads all steps of a chunk: out(t, column, sum, total) for each, from one lane. Called by the whole team once the
/// chunk is filled.
template <class Out>
__device__ __forceinline__ void read_in_warps(const Team &team, const DecayedChunk &c, const float *z, const Out &out) {
  for (int block = team.rank / 32; block < 8; block += team.size / 32) {
    const int half = block / 4, row = (half ? 7 - block : block) * tile::cuda::height; // long and short ones in turn
    if (row >= c.n || half * DecayedBlock::side >= c.V) continue;
    DecayedBlock x{team.rank % 32, row, half * DecayedBlock::side, {}, {}};
    x.read(c, z);
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int j = 0; j < DecayedBlock::across; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          if (const int at = x.column + 8 * j + x.lane % 4 * 2 + e; x.step(r) < c.n && at < c.V)
            out(x.step(r), at, x.sum[j].x[2 * r + e], x.total[r]);
  }
}

} // namespace recollect::variants
#endif
