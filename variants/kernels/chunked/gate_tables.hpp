// SPDX-License-Identifier: Apache-2.0
// Two tables in shared memory for a chunk: the decays D(t,i) of all pairs of steps, and the terms G(t,i) from which the
// gradients of the gates are summed (gate_gradient.hpp has the formula). Nothing is divided by a gate, so gates of 0
// have gradients, too.
#pragma once
#include "variants/kernels/chunked/decay_tables.hpp"
#ifdef __CUDACC__

namespace recollect::chunked {

/// Table of D(t,i) for i <= t, and 0 for i > t. If nothing decays, `table` is null.
struct PairDecays {
  static constexpr int pitch = chunk + 8, bytes = chunk * pitch * int(sizeof(float));
  float *table;

  /// Called by all threads after decay.prepare and a barrier; a barrier must follow before the table is read.
  __device__ void prepare(const DecayTables &decay, int thread, int threads) const {
    for (int n = thread; n < chunk * blocks; n += threads) { // a row's eight columns
      const int t = n / blocks, b = n % blocks, own = t / block;
      float *const row = table + t * pitch + b * block;
      if (b < own) {
        float left = decay.inside[t];
        for (int between = own - 1; between > b; --between) left *= decay.whole[between];
#pragma unroll
        for (int i = 0; i < block; ++i) row[i] = left * decay.tail[b * block + i];
      } else {
        float product = 1;
#pragma unroll
        for (int i = block - 1; i >= 0; --i) {
          const int step = b * block + i;
          row[i] = step <= t ? product : 0;
          if (step <= t) product *= decay.own[step];
        }
      }
    }
  }
  /// pairs(t,i) *= D(t - earlier,i) for i <= t - earlier; pairs(t,i) = 0 for i > t - earlier.
  template <int earlier = 0, class Pairs, class Place>
  __device__ __forceinline__ void apply(const Place &at, Pairs &pairs) const {
    if (table) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int t = at.row_of(r) - earlier;
        const float *const row = table + t * pitch;
#pragma unroll
        for (int j = 0; j < pairs.groups; ++j)
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            const float2 factor =
                earlier && t < 0 ? float2{0, 0} : *reinterpret_cast<const float2 *>(row + at.column(j, h));
            float *const x = pairs.x[j][h].x + 2 * r;
            x[0] *= factor.x, x[1] *= factor.y;
          }
      }
    }
#pragma unroll
    for (int j = 0; j < pairs.groups; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int e = 0; e < 4; ++e) // an assignment, because a masked element may be NaN
          if (at.column(j, h) + e % 2 > at.row_of(e / 2) - earlier) pairs.x[j][h].x[e] = 0;
  }
};

/// Table of G(t,i) of gate_gradient.hpp. Column 0 stands for all writes before the chunk, column i + 1 is the write
/// at step i. Row t is the read after step t, and row 64 the read after the chunk.
struct GateTable {
  static constexpr int pitch = chunk + 1,
                       numbers = (chunk + 1) * pitch + 4 * chunk, // the table, and the sums that pass between quarters
      bytes = (numbers + 3) / 4 * 4 * int(sizeof(float));
  float *table;

  __device__ float &of(int t, int column) const { return table[t * pitch + column]; }
  __device__ float &started(int t) const { return of(t, 0); }
  /// G of the write at step i and the read after the chunk.
  __device__ float &left(int i) const { return of(chunk, i + 1); }
  // Stores G for pairs of steps i < t. Each thread later reads back only its own elements.
  template <class Place, class Pairs> __device__ __forceinline__ void put_pairs(const Place &at, const Pairs &x) const {
    each(at, x, [&](int t, int i, float own) { of(t, i + 1) = i < t ? own : 0; });
  }
  template <class Place, class Pairs>
  __device__ __forceinline__ void weigh_pairs(const Place &at, const Pairs &x) const {
    each(at, x, [&](int t, int i, float own) {
      if (i < t) of(t, i + 1) *= own;
    });
  }
  /// Subtracts x(t,i) from row t - 1 of G: what is read before step t is read after step t - 1.
  template <class Place, class Pairs>
  __device__ __forceinline__ void subtract_before(const Place &at, const Pairs &x) const {
    each(at, x, [&](int t, int i, float own) {
      if (i < t - 1) of(t - 1, i + 1) -= own;
    });
  }
  template <class Place, class Pairs, class F>
  __device__ __forceinline__ static void each(const Place &at, const Pairs &x, const F &f) {
    x.each_pair(at, [&](int r, int i, float first, float second) {
      f(at.row_of(r), i, first), f(at.row_of(r), i + 1, second);
    });
  }
  /// Stores the element of G that pairs the write before the chunk with the read after the chunk. It is the sum of the
  /// threads' arguments `sum`. `partial` is scratch [32]. Contains a barrier; another must follow before the element is
  /// read.
  __device__ void put_across(float sum, float *partial, int thread, int threads) const {
    sum = fragments::warp_sum(sum);
    if (thread % 32 == 0) partial[thread / 32] = sum;
    __syncthreads();
    if (thread == 0) {
      float all = 0;
      for (int w = 0; w < threads / 32; ++w) all += partial[w];
      of(chunk, 0) = all;
    }
  }

  /// Writes d_s = sum_{t>=s} sum_{i<s} D(t,s) D(s-1,i) G(t,i) for the first `steps` steps s. Called by 256 threads.
  /// Rows are first summed within quarters of the table.
  __device__ void differentiate(const DecayTables &decay, const PairDecays &D, int steps, float *d, int thread) const {
    constexpr int quarter = chunk / 4;
    float *const passed = table + (chunk + 1) * pitch; // [4][64] sums from later quarters
    if (thread < 4 * chunk) {
      const int column = thread % chunk, first = thread / chunk * quarter;
      float sum = 0;
      for (int s = first + quarter - 1; s >= first; --s) {
        if (column <= s) sum += of(s, column);
        of(s, column) = sum;
        sum *= decay.own[s];
      }
      passed[thread] = sum;
    }
    __syncthreads();
    // `passed` becomes, for each quarter, the sum over all later rows, decayed to the quarter's end.
    if (thread < chunk) {
      float sum = of(chunk, thread);
      for (int b = 3; b >= 0; --b) {
        const float own = passed[b * chunk + thread];
        passed[b * chunk + thread] = sum;
        sum = own + sum * decay.whole[2 * b] * decay.whole[2 * b + 1];
      }
    }
    __syncthreads();
    if (thread < 4 * chunk) {
      const int s = thread / 4, last = s / quarter * quarter + quarter - 1;
      const float behind = D.table[last * PairDecays::pitch + s];
      const float *const later = passed + s / quarter * chunk;
      float sum = 0;
      for (int column = thread % 4; column <= s; column += 4) {
        const float before = column == 0 ? decay.before(s) : D.table[(s - 1) * PairDecays::pitch + column - 1];
        sum += before * (of(s, column) + behind * later[column]);
      }
      sum = tile::cuda::across_four(sum);
      if (thread % 4 == 0 && s < steps) d[s] = sum;
    }
  }
};

} // namespace recollect::chunked
#endif
