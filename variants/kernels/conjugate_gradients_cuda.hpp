// SPDX-License-Identifier: Apache-2.0
// conjugate_gradients.hpp on CUDA for float32, heads of 64 and chunks of 64 steps: a warp solves for 16 steps on its own,
// and stops when they are solved. What it reads of the chunk stays in shared memory, residuals and products in registers.
#pragma once
#include "variants/kernels/chunk_in_warps.hpp"
#include "variants/kernels/conjugate_gradients.hpp"
#ifdef __CUDACC__

namespace recollect::variants {

struct ConjugateGradientsInWarps : PrefixRegressionAlgebra<float, ConjugateGradients> {
  using In = ChunkInWarps;
  static constexpr int size = In::size, block = In::block, blocks = In::blocks, fours = size / 16;
  static constexpr bool usual_alone = true;
  static constexpr int reading_threads = In::threads, reading_teams = 2; // with 255 registers a thread
  // What a warp reads together begins in different banks: rows one by one, every second row, pairs of rows.
  static constexpr int wide = size + 16, second = size + 8, pitch = size + 4;

  static bool suits(const Call<float> &call) { return In::suits(call) && call.shape.Dk == size; }

  struct Reading {
    In::Decay decay;
    float *d;        // [size,wide] search directions, at last solutions; a lane reads what it wrote
    float *keys, *k; // [size,wide]; [size,pitch], of a key that is not finite zeros
    float *H;        // [size,second], symmetric
    float *B, *v;    // [size,pitch]
  };
  KOKKOS_FUNCTION Reading reading(Stack<float> &s) const {
    Reading x;
    x.d = s.take(size * wide), x.keys = s.take(size * wide), x.k = s.take(size * pitch), x.H = s.take(size * second);
    x.B = s.take(size * pitch), x.v = s.take(size * pitch);
    x.decay = sum.decays ? In::place_decay(s) : In::Decay{};
    return x;
  }

  RECOLLECT_IN_LINE void read(const Precise<Math::exact> &team, const Chunk &c, const Summary &, const float *before,
                              const Reading &x) const {
#if __CUDA_ARCH__ >= 800
    const size_t step = c.head * sum.T + c.first;
    const float *const k = sum.in.k.data() + step * size;
    const Lane at(team);
    In::fetch<wide>(team, k, x.keys), In::fetch<pitch>(team, k, x.k);
    In::fetch<second>(team, before, x.H, 2 * size);
    In::fetch<pitch>(team, before + size, x.B, 2 * size), In::fetch<pitch>(team, v.data() + step * size, x.v);
    Rows residual, solution{};
    take(sum.in.q.data() + (step + at.row()) * size + 2 * at.place, size, residual);
    if (sum.decays) In::prepare(team, sum.in.alpha.data() + step, x.decay);
    team.barrier();
    hide(team, x.k);
    team.meet();
    solve(at, x, residual, solution);
    keep(solution, x.d + at.row() * wide + 2 * at.place);
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
  static constexpr float epsilon = std::numeric_limits<float>::epsilon();
  template <int N> using Group = In::Group<N>;
  /// A lane's part of its warp's rows, lane / 4 and 8 further: of each 16 columns four from lane % 4 * 4 on. Results of a
  /// product lie there (column_of), and where they are the first operand of another, they are two of its places in each
  /// of two blocks of eight.
  struct Rows {
    float x[2][fours][4];
  };
  __device__ static float &result(Results (&y)[blocks], int r, int m, int j) {
    return y[2 * m + j % 2].x[2 * r + j / 2];
  }

  __device__ __forceinline__ static void take(const float *from, int ld, Rows &rows) {
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int m = 0; m < fours; ++m) {
        const float4 four = *reinterpret_cast<const float4 *>(from + 8 * r * ld + 16 * m);
        rows.x[r][m][0] = four.x, rows.x[r][m][1] = four.y, rows.x[r][m][2] = four.z, rows.x[r][m][3] = four.w;
      }
  }
  __device__ __forceinline__ static void keep(const Rows &rows, float *to) {
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int m = 0; m < fours; ++m) {
        const float(&four)[4] = rows.x[r][m];
        *reinterpret_cast<float4 *>(to + 8 * r * wide + 16 * m) = make_float4(four[0], four[1], four[2], four[3]);
      }
  }

  /// Keys that are not finite become zeros, for steps before them that must not meet them; later ones do, in `keys`.
  __device__ __forceinline__ static void hide(const Team &team, float *k) {
    float *const half = k + team.rank / 2 * pitch + team.rank % 2 * size / 2, sign = 0;
    for (int j = 0; j < size / 2; ++j) sign = fma(half[j], 0.0f, sign);
    sign += __shfl_xor_sync(0xffffffffu, sign, 1);
    if (sign != sign)
      for (int j = 0; j < size / 2; ++j) half[j] = 0;
  }

  /// As ConjugateGradients::solve; every step's own.
  __device__ __forceinline__ void solve(const Lane &at, const Reading &x, Rows &residual, Rows &solution) const {
    float *const direction = x.d + at.row() * wide + 2 * at.place;
    float square[2], enough[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) square[r] = dot(at, residual, residual, r), enough[r] = epsilon * epsilon * square[r];
    keep(residual, direction);
#pragma unroll 1
    for (int iteration = 0; iteration < 4 * size + 16; ++iteration) {
      if (!__any_sync(0xffffffffu, square[0] != 0 || square[1] != 0)) return;
      Results y[blocks];
      multiply(at, x, y);
      Rows d;
      take(direction, wide, d);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        float along = 0, own = 0;
#pragma unroll
        for (int m = 0; m < fours; ++m)
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            float &product = result(y, r, m, j);
            product += ridge * d.x[r][m][j];
            along += d.x[r][m][j] * product;
          }
        const bool solved = square[r] == 0;
        along = at.across_row(along); // by all lanes, solved or not
        const float length = solved ? 0 : square[r] / along;
#pragma unroll
        for (int m = 0; m < fours; ++m)
#pragma unroll
          for (int j = 0; j < 4; ++j)
            if (!solved) {
              solution.x[r][m][j] += length * d.x[r][m][j];
              float &left = residual.x[r][m][j];
              left -= length * result(y, r, m, j);
              own += left * left;
            }
        own = at.across_row(own);
        const float turn = solved ? 0 : own / square[r];
#pragma unroll
        for (int m = 0; m < fours; ++m)
#pragma unroll
          for (int j = 0; j < 4; ++j) d.x[r][m][j] = residual.x[r][m][j] + turn * d.x[r][m][j];
        if (!solved) square[r] = own > enough[r] ? own : 0;
      }
      keep(d, direction);
    }
  }
  __device__ __forceinline__ static float dot(const Lane &at, const Rows &a, const Rows &b, int r) {
    float sum = 0;
#pragma unroll
    for (int m = 0; m < fours; ++m)
#pragma unroll
      for (int j = 0; j < 4; ++j) sum += a.x[r][m][j] * b.x[r][m][j];
    return at.across_row(sum);
  }

  /// y_t = H_t d_t
  __device__ __forceinline__ void multiply(const Lane &at, const Reading &x, Results (&y)[blocks]) const {
    Results p[blocks];
    const float *const H = x.H + 2 * at.inner() * second + 2 * at.place;
    meet(at, x, p, y, [&](int m, Group<blocks>(&group)[2][1]) { // columns of H are its rows
#pragma unroll
      for (int b = 0; b < blocks; ++b)
        put(*reinterpret_cast<const float4 *>(H + (b / 2 * 16 + b % 2) * second + 16 * m), b, group);
    });
    follow(at, x, x.k, p, y);
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
  __device__ __noinline__ static void one_by_one(ConjugateGradientsInWarps self, int first, size_t step,
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
