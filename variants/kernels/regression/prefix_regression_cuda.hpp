// SPDX-License-Identifier: Apache-2.0
// prefix_regression.hpp on CUDA for float32, heads of width 64 and chunks of 64 steps. A warp solves the systems of 16
// steps one after the other, each by a factorisation H + ridge I = U D^{-1} U^T, with U lower triangular and D the
// diagonal of U. U stays in the warp's registers.
#pragma once
#include "variants/kernels/regression/chunk_in_warps.hpp"
#include "variants/kernels/regression/prefix_regression.hpp"
#ifdef __CUDACC__

namespace recollect::variants {

struct PrefixRegressionInWarps : PrefixRegressionAlgebra<float, Factorisations> {
  using In = ChunkInWarps;
  static constexpr int size = In::size, block = In::block, blocks = In::blocks, fours = size / 16;
  static constexpr bool static_extents_only = true;
  static constexpr int reading_threads = In::threads, reading_teams = 3; // with 168 registers per thread
  // Pitches are chosen so that rows that a warp reads together start in different banks.
  static constexpr int pitch = size + 4, column_pitch = size + 4;

  static bool supports(const Call<float> &call) { return In::supports(call) && call.shape.Dk == size; }

  /// The elements of a symmetric matrix's lower triangle that a lane holds, in blocks (a, b) of 8 x 8, a >= b. Diagonal
  /// blocks are stored whole. In each block a lane holds rows lane / 8 and lane / 8 + 4 of column lane % 8.
  struct Triangle {
    static constexpr int size = blocks * (blocks + 1);
    float x[size / 2][2];
    KOKKOS_FUNCTION float (&operator()(int a, int b))[2] { return x[b * (2 * blocks - b + 1) / 2 + a - b]; }
  };

  struct Reading {
    In::Decay decay;
    float *d;      // [size,pitch] solutions; each warp reads only the rows of its own steps
    float *keys;   // [size,pitch]
    float *column; // [warps,2,column_pitch] columns of this pivot and of the next
    float *H;      // [warps,32 * Triangle::size] of a warp's step; each lane's elements in groups of four
    float *B, *v;  // [size,pitch]; after solving, B and v reuse the memory of H
  };
  KOKKOS_FUNCTION Reading reading(Stack<float> &s) const {
    constexpr int warps = In::threads / 32;
    Reading x;
    x.d = s.take(size * pitch), x.keys = s.take(size * pitch), x.column = s.take(warps * 2 * column_pitch);
    x.H = s.take(warps * 32 * Triangle::size);
    static_assert(warps * 32 * Triangle::size >= 2 * size * pitch, "B and v");
    x.B = x.H, x.v = x.B + size * pitch;
    x.decay = In::place_decay(s, sum.decays);
    return x;
  }

  RECOLLECT_IN_LINE void chunk_output(const Precise<Math::exact> &team, const Chunk &c, const Summary &,
                                      const float *before, const Reading &x) const {
#if __CUDA_ARCH__ >= 800
    const size_t step = c.head * sum.T + c.first;
    In::fetch<pitch>(team, sum.in.k.data() + step * size, x.keys);
    if (sum.decays) In::prepare(team, sum.in.alpha.data() + step, x.decay);
    team.barrier();
    const Lane at(team);
    solve(at, sum.in.q.data() + step * size, before, x);
    team.barrier();
    In::fetch<pitch>(team, before + size, x.B, 2 * size), In::fetch<pitch>(team, v.data() + step * size, x.v);
    team.barrier();
    write(at, step, before, x);
#else
    unsupported_architecture(team, c, before, x);
#endif
  }

#if __CUDA_ARCH__ >= 800
private:
  using Lane = In::Lane;
  using Results = In::Results;
  using Unit = tile::cuda::Exact;
  template <int N> using Group = In::Group<N>;
  /// Solves for x_t of the warp's steps and writes them to x.d.
  __device__ __forceinline__ void solve(const Lane &at, const float *q, const float *before, const Reading &x) const {
    const int warp = at.first / In::height, row = at.lane / block, column = at.lane % block;
    q += row_of(at.lane);
    float4 *const kept = reinterpret_cast<float4 *>(x.H + warp * 32 * Triangle::size) + at.lane;
    Triangle H;
    each_element([&](int a, int b, int h) {
      H(a, b)[h] = before[(block * a + row + 4 * h) * 2 * size + block * b + column];
    });
#pragma unroll 1
    for (int t = 0; t < at.first + In::height; ++t) {
      Solved solved = {{q[t * size], q[t * size + block]}, {}}; // loaded during the elimination
      advance(x.keys + t * pitch + row, x.keys + t * pitch + column, sum.decays ? x.decay.own[t] : 1, H);
      if (t < at.first) continue;
#pragma unroll
      for (int n = 0; n < Triangle::size / 4; ++n)
        kept[n * 32] = make_float4(H.x[2 * n][0], H.x[2 * n][1], H.x[2 * n + 1][0], H.x[2 * n + 1][1]);
      eliminate(at.lane, x.column + warp * 2 * column_pitch, H, solved);
      substitute(at.lane, solved, H, x.d + t * pitch);
#pragma unroll
      for (int n = 0; n < Triangle::size / 4; ++n) {
        const float4 all = kept[n * 32];
        H.x[2 * n][0] = all.x, H.x[2 * n][1] = all.y, H.x[2 * n + 1][0] = all.z, H.x[2 * n + 1][1] = all.w;
      }
    }
    row_barrier();
  }

  // Calls body(a, b, h) for all of the lane's elements. All loop bounds are constants, so that the compiler unrolls the
  // loops.
  template <class Body> __device__ __forceinline__ static void each_element(const Body &body) {
#pragma unroll
    for (int b = 0; b < blocks; ++b)
#pragma unroll
      for (int a = 0; a < blocks; ++a)
#pragma unroll
        for (int h = 0; h < 2; ++h)
          if (a >= b) body(a, b, h);
  }

  /// H = decay H + k k^T; rows and columns are the lane's elements of k.
  __device__ __forceinline__ void advance(const float *rows, const float *columns, float decay, Triangle &H) const {
    float own[blocks][2], other[blocks];
#pragma unroll
    for (int a = 0; a < blocks; ++a)
      own[a][0] = rows[block * a], own[a][1] = rows[block * a + 4], other[a] = columns[block * a];
    each_element([&](int a, int b, int h) {
      const float before = sum.decays ? decay * H(a, b)[h] : H(a, b)[h];
      H(a, b)[h] = fma(own[a][h], other[b], before);
    });
  }

  /// Where row r of a column is stored. Rows with the same position in their blocks are adjacent, so that lanes that
  /// read together use different banks.
  __device__ __forceinline__ static constexpr int place(int r) {
    return r % block * block + r / block + r % block / 4 * 4;
  }

  /// 1 / x without a branch. Divides by x / 4 first, because the instruction flushes subnormal results to zero.
  __device__ __forceinline__ static float reciprocal(float x) { return 0.25f * __fdividef(1, 0.25f * x); }

  /// For two rows of a lane that are 8 apart: elements of y = D U^{-1} q (of q on entry), and 1 / diagonal element.
  struct Solved {
    float y[2], inverse[2];
  };
  __device__ __forceinline__ static int row_of(int lane) { return 2 * block * (lane % 4) + lane / 4; }

  /// Replaces H by the columns of U, without the ridge. The next pivot's column is fetched while the current one is
  /// applied. Elements above the diagonal of diagonal blocks are never used.
  __device__ __forceinline__ void eliminate(int lane, float *column, Triangle &H, Solved &s) const {
    const int side = lane % block, row = row_of(lane);
    float *const rows = column + place(lane / block); // the lane's rows; the second row is stored 4 places further
    const float *const columns = column + place(side), *const pair = column + place(row);
    const auto publish = [&](int b, int c, int buffer) {
      if (side != c) return;
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int a = 0; a < blocks; a += 4) {
          if (a + 3 < b) continue;
          float four[4] = {};
#pragma unroll
          for (int e = 0; e < 4; ++e)
            if (a + e >= b) four[e] = H(a + e, b)[h];
          *reinterpret_cast<float4 *>(rows + buffer * column_pitch + h * place(4) + a) =
              make_float4(four[0], four[1], four[2], four[3]);
        }
    };
    publish(0, 0, 0);
#pragma unroll
    for (int m = 0; m < blocks; ++m) {
#pragma unroll 1
      for (int even = 0; even < block; even += 2) {
        const float *const pivots = column + place(even) + m;
#pragma unroll
        for (int odd = 0; odd < 2; ++odd) {
          row_barrier();
          const int buffer = odd * column_pitch, c = even + odd, holder = 4 * c + m / 2;
          float own[2][blocks], other[blocks];
          take(rows + buffer, m, own[0]), take(rows + buffer + place(4), m, own[1]), take(columns + buffer, m, other);
          const float2 mine = *reinterpret_cast<const float2 *>(pair + buffer);
          const float over = -reciprocal(pivots[buffer + odd * block] + ridge);
          if (side <= c) other[m] = 0; // these columns are finished
          const auto update = [&](int b) {
            const float factor = over * other[b];
#pragma unroll
            for (int a = 0; a < blocks; ++a)
#pragma unroll
              for (int h = 0; h < 2; ++h)
                if (a >= b) H(a, b)[h] = fma(factor, own[h][a], H(a, b)[h]);
          };
          update(m);
          publish(m, c + 1, 1 - odd);
#pragma unroll
          for (int b = 1; b < blocks; ++b)
            if (b > m) update(b);
          const float factor = over * __shfl_sync(0xffffffffu, s.y[m % 2], holder);
          if (row > block * m + c) s.y[0] = fma(factor, mine.x, s.y[0]);
          if (row + block > block * m + c) s.y[1] = fma(factor, mine.y, s.y[1]);
          if (lane == holder) s.inverse[m % 2] = -over;
        }
      }
      if (m + 1 < blocks) publish(m + 1, 0, 0);
    }
  }
  /// Loads the rows of a column from block b on.
  __device__ __forceinline__ static void take(const float *from, int b, float (&to)[blocks]) {
#pragma unroll
    for (int a = 0; a < blocks; a += 4)
      if (a + 3 >= b) tile::cuda::take(from + a, reinterpret_cast<float(&)[4]>(to[a]));
  }

  /// x = U^{-T} y, block by block from the last.
  __device__ __forceinline__ static void substitute(int lane, const Solved &s, Triangle &H, float *x) {
    constexpr unsigned all = 0xffffffffu;
    const int side = lane % block;
    float own[blocks][2]; // the lane's rows
#pragma unroll
    for (int b = blocks - 1; b >= 0; --b) {
      float below[2] = {};
#pragma unroll
      for (int a = 1; a < blocks; ++a)
#pragma unroll
        for (int h = 0; h < 2; ++h)
          if (a > b) below[h] = fma(H(a, b)[h], own[a][h], below[h]);
      float sum = below[0] + below[1];
      sum += __shfl_xor_sync(all, sum, 8), sum += __shfl_xor_sync(all, sum, 16);
      const int holder = 4 * side + b / 2;
      const float inverse = __shfl_sync(all, s.inverse[b % 2], holder);
      float left = __shfl_sync(all, s.y[b % 2], holder) - sum;
#pragma unroll
      for (int c = block - 1; c > 0; --c) {
        const float element = __shfl_sync(all, H(b, b)[c / 4], c % 4 * block + side);
        const float solved = __shfl_sync(all, left * inverse, c);
        if (side < c) left = fma(-element, solved, left);
      }
      const float value = left * inverse;
#pragma unroll
      for (int h = 0; h < 2; ++h) own[b][h] = __shfl_sync(all, value, lane / block + 4 * h);
      if (lane < block) x[block * b + lane] = value;
    }
  }

  /// For the solutions d_t in x.d: p(t,i) = d_t . k_i for blocks that contain some i <= t, and y_t = S d_t, where
  /// other(m, group) loads the rows of S for channels 16 m ... 16 m + 15 of d_t.
  template <class Other>
  __device__ __forceinline__ static void meet(const Lane &at, const Reading &x, Results (&p)[blocks],
                                              Results (&y)[blocks], const Other &other) {
    constexpr int half = blocks / 2;
    const float *d = x.d + at.row() * pitch + 2 * at.place, *keys = x.keys + at.inner() * pitch + 2 * at.place;
    Results early[half], late[half], sum[blocks];
#pragma unroll 1
    for (int m = 0; m < fours; ++m, d += 16, keys += 16) {
      Group<half> own[2][1];
      Group<blocks> state[2][1];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float4 four = *reinterpret_cast<const float4 *>(d + 8 * r * pitch);
        own[0][0].a[r][0] = state[0][0].a[r][0] = four.x, own[0][0].a[r][1] = state[0][0].a[r][1] = four.y;
        own[1][0].a[r][0] = state[1][0].a[r][0] = four.z, own[1][0].a[r][1] = state[1][0].a[r][1] = four.w;
      }
#pragma unroll
      for (int c = 0; c < half; ++c) put(*reinterpret_cast<const float4 *>(keys + c * block * pitch), c, own);
#pragma unroll
      for (int g = 0; g < 2; ++g) Unit::add(own[g], early);
      if (at.first >= size / 2) {
#pragma unroll
        for (int c = 0; c < half; ++c)
          put(*reinterpret_cast<const float4 *>(keys + (half + c) * block * pitch), c, own);
#pragma unroll
        for (int g = 0; g < 2; ++g) Unit::add(own[g], late);
      }
      other(m, state);
#pragma unroll
      for (int g = 0; g < 2; ++g) Unit::add(state[g], sum);
    }
#pragma unroll
    for (int c = 0; c < half; ++c) p[c] = early[c], p[half + c] = late[c];
#pragma unroll
    for (int b = 0; b < blocks; ++b) y[b] = sum[b];
  }
  template <int N> __device__ __forceinline__ static void put(const float4 &four, int c, Group<N> (&group)[2][1]) {
    group[0][0].b[c][0] = four.x, group[0][0].b[c][1] = four.y;
    group[1][0].b[c][0] = four.z, group[1][0].b[c][1] = four.w;
  }

  /// y_t = D(t,0) y_t + sum over i <= t of p(t,i) D(t,i) rows_i
  __device__ __forceinline__ void follow(const Lane &at, const Reading &x, const float *rows, Results (&p)[blocks],
                                         Results (&y)[blocks]) const {
    float decay[2];
    In::apply_decay(at, sum.decays, x.decay, p, decay);
    In::decay_rows(decay, y);
    In::apply_to_values<Unit, pitch>(at, rows, p, y);
  }

  /// o_t = B_t x_t, with the solutions x_t in x.d.
  __device__ __forceinline__ void write(const Lane &at, size_t step, const float *before, const Reading &x) const {
    Results p[blocks], y[blocks];
    const float *const B = x.B + 2 * at.place * pitch + 2 * at.inner();
    meet(at, x, p, y, [&](int m, Group<blocks>(&group)[2][1]) {
#pragma unroll
      for (int g = 0; g < 2; ++g) tile::cuda::load_rows(B + (16 * m + 2 * g) * pitch, pitch, group[g][0]);
    });
    follow(at, x, x.v, p, y);
    if (!In::finite(y)) return scalar_fallback(*this, at.first, step, before, x);
    In::put(at, y, o.data() + step * size);
  }

  /// Scalar fallback of write(): one pair (t,i) at a time. `self` is passed by value, so that the caller can keep its
  /// copy in registers.
  __device__ __noinline__ static void scalar_fallback(PrefixRegressionInWarps self, int first, size_t step,
                                                      const float *before, Reading x) {
    const int lane = threadIdx.x % 32;
    row_barrier();
    for (int t = first; t < first + In::height; ++t) {
      const float *const solution = x.d + t * pitch;
      float sum[2] = {}, since = 1;
      for (int i = t; i >= 0; --i) {
        const float weight = since * row_dot(solution, x.keys + i * pitch, size, lane, 32);
        for (int h = 0; h < 2; ++h) sum[h] += weight * self.v[(step + i) * size + lane + 32 * h];
        if (self.sum.decays) since *= self.sum.in.alpha[step + i];
      }
      for (int j = 0; j < size; ++j)
        for (int h = 0; h < 2; ++h) sum[h] += since * solution[j] * before[(2 * j + 1) * size + lane + 32 * h];
      for (int h = 0; h < 2; ++h) self.o[(step + t) * size + lane + 32 * h] = sum[h];
    }
  }
#endif
};

} // namespace recollect::variants
#endif
