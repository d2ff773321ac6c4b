// SPDX-License-Identifier: Apache-2.0
// Decays within a chunk, one number per step, as tables in shared memory. D(t,i) = alpha_{i+1} ... alpha_t is computed
// as a product: factors within blocks of eight steps, times the products of the whole blocks between them. Quotients
// and differences of logarithms would fail: alpha may be 0, and products over a chunk may be subnormal. The code counts
// a chunk's steps from 0. The 0 in D(t,0), however, is the moment before the first step, so D(t,0) includes the first
// step's alpha.
#pragma once
#include "harness/device/tile/fragments_cuda.hpp"
#ifdef __CUDACC__

namespace recollect::chunked {

using fragments::Sum;

constexpr int chunk = 64;                        // steps
constexpr int block = 8, blocks = chunk / block; // steps per block: columns of a result fragment

struct DecayTables {
  float own[chunk];    // alpha_t
  float inside[chunk]; // product from the start of t's block through t
  float tail[chunk];   // product from t + 1 to the end of its block
  float whole[blocks]; // product of a whole block

  /// Fills the tables from alpha of the chunk's `valid` steps; later steps, and all steps where alpha is null, get 1.
  /// Called by `threads` threads, in whole warps; a barrier must follow before the tables are read.
  __device__ void prepare(const float *alpha, int valid, int thread, int threads) {
    const unsigned all = 0xffffffffu;
    for (int t = thread; t < chunk; t += threads) {
      const int lane = t % block;
      const float mine = alpha && t < valid ? alpha[t] : 1;
      float before = mine, behind = __shfl_down_sync(all, mine, 1, block);
      if (lane == block - 1) behind = 1;
#pragma unroll
      for (int side = 1; side < block; side *= 2) {
        const float earlier = __shfl_up_sync(all, before, side, block),
                    later = __shfl_down_sync(all, behind, side, block);
        if (lane >= side) before *= earlier;
        if (lane + side < block) behind *= later;
      }
      own[t] = mine, inside[t] = before, tail[t] = behind;
      if (lane == block - 1) whole[t / block] = before;
    }
  }
  /// D(t,0): product of alpha over the chunk's steps 0 ... t.
  __device__ float from_start(int t) const {
    float product = inside[t];
    for (int b = t / block - 1; b >= 0; --b) product *= whole[b];
    return product;
  }
  /// D(t-1,0): product of alpha over the chunk's steps before t.
  __device__ float before(int t) const { return t > 0 ? from_start(t - 1) : 1; }
  /// D(C,t): product of alpha over the chunk's steps after t.
  __device__ float to_end(int t) const {
    float product = tail[t];
    for (int b = t / block + 1; b < blocks; ++b) product *= whole[b];
    return product;
  }
  /// D(C,0): product of alpha over all the chunk's steps.
  __device__ float total() const {
    float product = 1;
#pragma unroll
    for (int b = 0; b < blocks; ++b) product *= whole[b];
    return product;
  }
};

/// scores(t,i) *= D(t,i) for i <= t; scores(t,i) = 0 for i > t. Rows t = first ... first + 15 are a warp's results;
/// columns i are all steps of the chunk. Sets factor[r] to D(t,0) of row t = first + lane / 4 + 8 r. If `decays` is
/// false, D = 1. If the template argument `before` is true, steps read before they decay and write: then t - 1 replaces
/// t, and i < t replaces i <= t.
template <bool before = false>
__device__ __forceinline__ void apply_decay(int first, bool decays, const DecayTables &decay, Sum (&scores)[blocks],
                                            float (&factor)[2]) {
  const int lane = threadIdx.x % 32, place = lane % 4 * 2,
            last = lane / 4 - before; // the last step that the row reads, counted in the row's block
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int own = first / block + r;
    // Product of alpha from the start of block b + 1 through the last step that the row reads.
    float left = decays && last >= 0 ? decay.inside[own * block + last] : 1;
#pragma unroll
    for (int b = blocks - 1; b >= 0; --b) {
      float *const x = scores[b].x + 2 * r;
      const int i = b * block + place;
      if (b > own) {
        x[0] = x[1] = 0;
      } else if (b == own) {
        float between[2] = {1, 1}; // for each of two columns: product after its step, up to the row's last step
        if (decays) {
#pragma unroll
          for (int s = 2; s < block; ++s)
            if (place + 1 < s && s <= last) between[1] *= decay.own[b * block + s];
          if (place < last) between[0] = between[1] * decay.own[i + 1];
        }
#pragma unroll
        for (int e = 0; e < 2; ++e) x[e] = place + e <= last ? between[e] * x[e] : 0;
      } else if (decays) {
        const float2 tail = *reinterpret_cast<const float2 *>(decay.tail + i);
        x[0] *= left * tail.x, x[1] *= left * tail.y;
        left *= decay.whole[b];
      }
    }
    factor[r] = left;
  }
}

} // namespace recollect::chunked
#endif
