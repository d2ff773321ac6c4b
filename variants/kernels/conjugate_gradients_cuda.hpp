// SPDX-License-Identifier: Apache-2.0
// conjugate_gradients.hpp on CUDA for float32, heads of 64 and chunks of 64 steps: a warp iterates on 16 steps, each with a
// matrix of its own, and waits for no other. A product (H_t + ridge I) d_t of all 16 is three matrix products, whose results
// lie in the warp's registers.
#pragma once
#include "variants/kernels/prefix_regression_cuda.hpp"
#include <limits>
#ifdef __CUDACC__

namespace recollect::variants {

struct ConjugateGradientsInWarps : PrefixRegressionInWarps {
  static constexpr float epsilon = std::numeric_limits<float>::epsilon();

  /// Search directions are in x.d, H in x.B and solutions in x.v, until the solutions take the directions' place.
  KOKKOS_FUNCTION Reading reading(Stack<float> &s) const {
    Reading x{};
    for (float **rows : {&x.d, &x.keys, &x.B, &x.v}) *rows = s.take(size * pitch);
    x.decay = sum.decays ? In::place_decay(s) : In::Decay{};
    return x;
  }

  RECOLLECT_IN_LINE void read(const Precise<Math::exact> &team, const Chunk &c, const Summary &, const float *before,
                              const Reading &x) const {
#if __CUDA_ARCH__ >= 800
    const size_t step = c.head * sum.T + c.first;
    In::fetch<pitch>(team, sum.in.k.data() + step * size, x.keys);
    In::fetch<pitch>(team, sum.in.q.data() + step * size, x.d);
    In::fetch<pitch>(team, before, x.B, 2 * size);
    if (sum.decays) In::prepare(team, sum.in.alpha.data() + step, x.decay);
    team.barrier();
    const int lost = leave_out_infinite_keys(team, x.keys);
    const Lane at(team);
    iterate(at, x);
    solutions(at, lost, x);
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
  /// The first step whose key is not finite, and `size` where all are. A weight of 0 would not hide such a key from the
  /// steps before it, so that it becomes 0; from it on no step has a solution.
  __device__ static int leave_out_infinite_keys(const Team &team, float *keys) {
    const int row = team.rank / 2, half = team.rank % 2 * (size / 2); // two threads a row
    float sign = 0;                                                   // NaN, if some are not
#pragma unroll 8
    for (int j = 0; j < size / 2; ++j) sign = fma(keys[row * pitch + half + j], 0.0f, sign);
    const bool finite = __shfl_xor_sync(0xffffffffu, sign, 1) + sign == 0;
    if (__syncthreads_and(finite)) return size;
    if (!finite)
      for (int j = 0; j < size / 2; ++j) keys[row * pitch + half + j] = 0;
    int lost = 0;
    for (int t = size; t-- > 0;)
      if (__syncthreads_or(row == t && !finite)) lost = t;
    return lost;
  }

  /// From queries in x.d to solutions in x.v, of the warp's steps.
  __device__ __forceinline__ void iterate(const Lane &at, const Reading &x) const {
    const float *const H = x.B + 2 * at.place * pitch + 2 * at.inner();
    Results r[blocks]; // residuals
    In::take(at, x.d, pitch, r);
    In::put(at, Zeros().all, x.v, pitch);
    float square[2], enough[2]; // of the lane's two rows: |r|^2, 0 once the step is done, and what is rounding
    squares(r, square);
#pragma unroll
    for (int h = 0; h < 2; ++h) enough[h] = epsilon * epsilon * square[h];
#pragma unroll 1
    for (int iteration = 0; iteration < 4 * size + 16; ++iteration) {
      if (!__any_sync(0xffffffffu, square[0] != 0 || square[1] != 0)) return;
      Results p[blocks], y[blocks];
      meet(at, x, p, y, [&](int m, Group<blocks>(&group)[2][1]) {
#pragma unroll
        for (int g = 0; g < 2; ++g) tile::cuda::load_rows(H + (16 * m + 2 * g) * pitch, pitch, group[g][0]);
      });
      follow(at, x, x.keys, p, y);
      Results d[blocks], solution[blocks];
      In::take(at, x.d, pitch, d), In::take(at, x.v, pitch, solution);
      float along[2] = {}, turn[2];
#pragma unroll
      for (int b = 0; b < blocks; ++b)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          y[b].x[e] = fma(ridge, d[b].x[e], y[b].x[e]);
          along[e / 2] = fma(d[b].x[e], y[b].x[e], along[e / 2]);
        }
      float length[2]; // of the step
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float whole = tile::cuda::across_four(along[h]); // by all lanes, done or not
        length[h] = square[h] == 0 ? 0 : square[h] / whole;
      }
#pragma unroll
      for (int b = 0; b < blocks; ++b)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          solution[b].x[e] = fma(length[e / 2], d[b].x[e], solution[b].x[e]);
          r[b].x[e] = fma(-length[e / 2], y[b].x[e], r[b].x[e]);
        }
      In::put(at, solution, x.v, pitch);
      float left[2];
      squares(r, left);
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        turn[h] = square[h] == 0 ? 0 : left[h] / square[h];
        square[h] = square[h] != 0 && left[h] > enough[h] ? left[h] : 0;
      }
#pragma unroll
      for (int b = 0; b < blocks; ++b)
#pragma unroll
        for (int e = 0; e < 4; ++e) d[b].x[e] = fma(turn[e / 2], d[b].x[e], r[b].x[e]);
      __syncwarp(); // all have taken the old directions
      In::put(at, d, x.d, pitch);
      __syncwarp();
    }
  }

  struct Zeros {
    Results all[blocks];
  };
  /// |r_t|^2 of the lane's two rows.
  __device__ __forceinline__ static void squares(const Results (&r)[blocks], float (&square)[2]) {
    square[0] = square[1] = 0;
#pragma unroll
    for (int b = 0; b < blocks; ++b)
#pragma unroll
      for (int e = 0; e < 4; ++e) square[e / 2] = fma(r[b].x[e], r[b].x[e], square[e / 2]);
#pragma unroll
    for (int h = 0; h < 2; ++h) square[h] = tile::cuda::across_four(square[h]);
  }

  /// The solutions to x.d, NaN from step `lost` on.
  __device__ __forceinline__ static void solutions(const Lane &at, int lost, const Reading &x) {
    Results solution[blocks];
    In::take(at, x.v, pitch, solution);
    __syncwarp();
#pragma unroll
    for (int b = 0; b < blocks; ++b)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        if (at.row() + e / 2 * 8 >= lost) solution[b].x[e] = NAN;
    In::put(at, solution, x.d, pitch);
  }
#endif
};

} // namespace recollect::variants
#endif
