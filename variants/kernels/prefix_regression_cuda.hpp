// SPDX-License-Identifier: Apache-2.0
// prefix_regression.hpp on CUDA for float32, heads of 64 and chunks of 64 steps: a warp solves 16 steps, one after the
// other, each by an elimination of its own (Gauss-Jordan) whose matrix lies in the warp's registers.
#pragma once
#include "variants/kernels/chunk_in_warps.hpp"
#include "variants/kernels/prefix_regression.hpp"
#ifdef __CUDACC__

namespace recollect::variants {

struct PrefixRegressionInWarps : PrefixRegressionAlgebra<float, Factorisations> {
  using In = ChunkInWarps;
  static constexpr int size = In::size, block = In::block, blocks = In::blocks, fours = size / 16;
  static constexpr bool usual_alone = true;
  static constexpr int reading_threads = In::threads, reading_teams = 2; // with 255 registers a thread
  // What a warp reads together begins in different banks: rows one by one, pairs of rows.
  static constexpr int wide = size + 16, pitch = size + 4, column_pitch = size + 4;

  static bool suits(const Call<float> &call) { return In::suits(call) && call.shape.Dk == size; }

  struct Reading {
    In::Decay decay;
    float *d;      // [size,wide] solutions; a warp reads what it wrote
    float *keys;   // [size,wide]
    float *column; // [warps,2,column_pitch] of a pivot, this one and the next
    float *H;      // [warps,size,size] of a warp's step, each lane's elements four by four
    float *B, *v;  // [size,pitch], once all is solved in place of H
  };
  KOKKOS_FUNCTION Reading reading(Stack<float> &s) const {
    constexpr int warps = In::threads / 32;
    Reading x;
    x.d = s.take(size * wide), x.keys = s.take(size * wide), x.column = s.take(warps * 2 * column_pitch);
    x.H = s.take(warps * size * size);
    x.B = x.H, x.v = x.B + size * pitch;
    x.decay = sum.decays ? In::place_decay(s) : In::Decay{};
    return x;
  }

  RECOLLECT_IN_LINE void read(const Precise<Math::exact> &team, const Chunk &c, const Summary &, const float *before,
                              const Reading &x) const {
#if __CUDA_ARCH__ >= 800
    const size_t step = c.head * sum.T + c.first;
    In::fetch<wide>(team, sum.in.k.data() + step * size, x.keys);
    if (sum.decays) In::prepare(team, sum.in.alpha.data() + step, x.decay);
    team.barrier();
    const Lane at(team);
    solve(at, sum.in.q.data() + step * size, before, x);
    team.barrier();
    In::fetch<pitch>(team, before + size, x.B, 2 * size), In::fetch<pitch>(team, v.data() + step * size, x.v);
    team.barrier();
    write(at, step, before, x);
#else
    too_old(team, c, before, x);
#endif
  }

#if __CUDA_ARCH__ >= 800
private:
  using Lane = In::Lane;
  using Results = In::Results;
  using Unit = tile::cuda::Exact;
  template <int N> using Group = In::Group<N>;
  /// A lane's elements of a matrix: rows lane / 8 * 16 and on, columns lane % 8 * 8 and on.
  static constexpr int down = 16, across = 8;
  struct Elements {
    float x[down][across];
  };

  /// x_t of the warp's steps into x.d.
  __device__ __forceinline__ void solve(const Lane &at, const float *q, const float *before, const Reading &x) const {
    const int warp = at.first / In::height, row = at.lane / across * down, column = at.lane % across * across;
    float4 *const kept = reinterpret_cast<float4 *>(x.H + warp * size * size) + at.lane;
    Elements H;
#pragma unroll
    for (int i = 0; i < down; ++i) tile::cuda::take(before + (row + i) * 2 * size + column, H.x[i]);
#pragma unroll 1
    for (int t = 0; t < at.first + In::height; ++t) {
      advance(x.keys + t * wide + row, x.keys + t * wide + column, sum.decays ? x.decay.own[t] : 1, H);
      if (t < at.first) continue;
      each_four(H, [=](int n, float(&four)[4]) { kept[n * 32] = make_float4(four[0], four[1], four[2], four[3]); });
      float b[2] = {q[t * size + 2 * at.lane], q[t * size + 2 * at.lane + 1]};
      eliminate(at.lane, x.column + warp * 2 * column_pitch, H, b);
      *reinterpret_cast<float2 *>(x.d + t * wide + 2 * at.lane) = make_float2(b[0], b[1]);
      each_four(H, [=](int n, float(&four)[4]) {
        const float4 all = kept[n * 32];
        four[0] = all.x, four[1] = all.y, four[2] = all.z, four[3] = all.w;
      });
    }
    row_barrier();
  }

  template <class Body> __device__ __forceinline__ static void each_four(Elements &H, const Body &body) {
#pragma unroll
    for (int i = 0; i < down; ++i)
#pragma unroll
      for (int j = 0; j < across; j += 4) body(i * across / 4 + j / 4, reinterpret_cast<float(&)[4]>(H.x[i][j]));
  }

  /// H = decay H + k k^T
  __device__ __forceinline__ void advance(const float *rows, const float *columns, float decay, Elements &H) const {
    float own[down], other[across];
    tile::cuda::take(rows, own), tile::cuda::take(columns, other);
#pragma unroll
    for (int i = 0; i < down; ++i)
#pragma unroll
      for (int j = 0; j < across; ++j) {
        const float before = sum.decays ? decay * H.x[i][j] : H.x[i][j];
        H.x[i][j] = fma(own[i], other[j], before);
      }
  }

  /// Where element j of a column stands, so that what lanes read together lies in different banks.
  __device__ __forceinline__ static int place(int j) { return j + j / 32 * 4; }

  /// Without a branch: the instruction's own of a quarter, for it has no result below the normal numbers.
  __device__ __forceinline__ static float reciprocal(float x) { return 0.25f * __fdividef(1, 0.25f * x); }

  /// b = (H + ridge I)^{-1} b, of which a lane has 2 lane and the next. Pivots go in the order m, across + m ... for
  /// each m, so that every lane loses a column with every eighth; H's symmetry gives a pivot's row for its column. The
  /// next pivot's column is on its way while the others are worked on.
  __device__ __forceinline__ void eliminate(int lane, float *column, Elements &H, float (&b)[2]) const {
    const int side = lane % across;
    float *const rows = column + place(lane / across * down); // of the lane
    const float *const columns = column + place(side * across), *const pair = column + place(2 * lane);
    float inverse[2];
    const auto publish = [&](int m, int c, int buffer) {
      if (side != c) return;
#pragma unroll
      for (int i = 0; i < down; i += 4)
        *reinterpret_cast<float4 *>(rows + buffer * column_pitch + i) =
            make_float4(H.x[i][m], H.x[i + 1][m], H.x[i + 2][m], H.x[i + 3][m]);
    };
    publish(0, 0, 0);
#pragma unroll
    for (int m = 0; m < across; ++m) {
#pragma unroll 1
      for (int even = 0; even < across; even += 2) {
        const float *const pivots = column + place(even * across);
        const bool here = lane / across == even / 2; // where rows of the two pivots stand
#pragma unroll
        for (int odd = 0; odd < 2; ++odd) {
          row_barrier();
          const int buffer = odd * column_pitch, holder = across / 2 * (even + odd) + m / 2;
          float own[down], other[across];
          tile::cuda::take(rows + buffer, own), tile::cuda::take(columns + buffer, other);
          const float2 mine = *reinterpret_cast<const float2 *>(pair + buffer);
          const float over = -reciprocal(pivots[buffer + odd * across + m] + ridge);
          if (here) own[odd * across + m] = 0; // the pivot's row stays
          const auto update = [&](int j) {
            const float factor = over * other[j];
#pragma unroll
            for (int i = 0; i < down; ++i) H.x[i][j] = fma(factor, own[i], H.x[i][j]);
          };
          update(m);
          publish(m, even + odd + 1, 1 - odd);
#pragma unroll
          for (int j = m + 1; j < across; ++j) update(j);
          const float factor = over * __shfl_sync(0xffffffffu, b[m % 2], holder);
          const bool held = lane == holder;
          if (held) inverse[m % 2] = -over;
          b[0] = fma(held && m % 2 == 0 ? 0 : factor, mine.x, b[0]);
          b[1] = fma(held && m % 2 == 1 ? 0 : factor, mine.y, b[1]);
        }
      }
      if (m + 1 < across) publish(m + 1, 0, 0);
    }
    b[0] *= inverse[0], b[1] *= inverse[1];
  }

  /// p(t,i) = d_t . k_i, of blocks that have an i <= t, and y_t = S d_t, where other(m, group) takes the rows of S that
  /// the m-th sixteen channels of d_t meet.
  template <class Other>
  __device__ __forceinline__ static void meet(const Lane &at, const Reading &x, Results (&p)[blocks],
                                              Results (&y)[blocks], const Other &other) {
    constexpr int half = blocks / 2;
    const float *d = x.d + at.row() * wide + 2 * at.place, *keys = x.keys + at.inner() * wide + 2 * at.place;
    Results early[half], late[half], sum[blocks];
#pragma unroll 1
    for (int m = 0; m < fours; ++m, d += 16, keys += 16) {
      Group<half> own[2][1];
      Group<blocks> state[2][1];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float4 four = *reinterpret_cast<const float4 *>(d + 8 * r * wide);
        own[0][0].a[r][0] = state[0][0].a[r][0] = four.x, own[0][0].a[r][1] = state[0][0].a[r][1] = four.y;
        own[1][0].a[r][0] = state[1][0].a[r][0] = four.z, own[1][0].a[r][1] = state[1][0].a[r][1] = four.w;
      }
#pragma unroll
      for (int c = 0; c < half; ++c) put(*reinterpret_cast<const float4 *>(keys + c * block * wide), c, own);
#pragma unroll
      for (int g = 0; g < 2; ++g) Unit::add(own[g], early);
      if (at.first >= size / 2) {
#pragma unroll
        for (int c = 0; c < half; ++c) put(*reinterpret_cast<const float4 *>(keys + (half + c) * block * wide), c, own);
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

  /// y_t = D(t,0) y_t + sum of p(t,i) D(t,i) rows_i over i <= t
  __device__ __forceinline__ void follow(const Lane &at, const Reading &x, const float *rows, Results (&p)[blocks],
                                         Results (&y)[blocks]) const {
    float decay[2];
    In::weigh(at, sum.decays, x.decay, p, decay);
    In::decay_rows(decay, y);
    In::read_own<Unit, pitch>(at, rows, p, y);
  }

  /// o_t = B_t x_t, of solutions in x.d.
  __device__ __forceinline__ void write(const Lane &at, size_t step, const float *before, const Reading &x) const {
    Results p[blocks], y[blocks];
    const float *const B = x.B + 2 * at.place * pitch + 2 * at.inner();
    meet(at, x, p, y, [&](int m, Group<blocks>(&group)[2][1]) {
#pragma unroll
      for (int g = 0; g < 2; ++g) tile::cuda::load_rows(B + (16 * m + 2 * g) * pitch, pitch, group[g][0]);
    });
    follow(at, x, x.v, p, y);
    if (!In::finite(y)) return one_by_one(*this, at.first, step, before, x);
    In::put(at, y, o.data() + step * size);
  }

  /// The same, pair by pair. By value, so that registers stay what they are where it is not called.
  __device__ __noinline__ static void one_by_one(PrefixRegressionInWarps self, int first, size_t step,
                                                 const float *before, Reading x) {
    const int lane = threadIdx.x % 32;
    row_barrier();
    for (int t = first; t < first + In::height; ++t) {
      const float *const solution = x.d + t * wide;
      float sum[2] = {}, since = 1;
      for (int i = t; i >= 0; --i) {
        const float weight = since * row_dot(solution, x.keys + i * wide, size, lane, 32);
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
