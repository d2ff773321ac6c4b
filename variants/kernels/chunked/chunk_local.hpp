// SPDX-License-Identifier: Apache-2.0
// Chunk-local phase of delta rules: computes X, W and U of each chunk. All chunks run in parallel (problem.hpp).
//
//   L(t,i) = erase_t D(t-1,i) k_t . k_i for i < t,   X = (I + L)^-1
//   W = X diag(erase_t D(t-1,0)) K,   U = X diag(write) V
//
// I + L is inverted block by block on the diagonal: the blocks of 16 x 16 by substitution, then the blocks of 32 x 32
// and 64 x 64 by
//
//   (A 0; B C)^-1 = (A^-1 0; -C^-1 B A^-1  C^-1).
//
// The product B A^-1 stays in registers: it is computed transposed, in the layout of the next product's second operand.
#pragma once
#include "variants/kernels/chunked/scalar_fallback.hpp"
#ifdef __CUDACC__

namespace recollect::chunked {

/// Precision of the inverse's products: TF32 if Op multiplies 16-bit operands, else exact.
template <class Op> using InverseOp = std::conditional_t<is_narrow<Op>, fragments::Tf32, fragments::Exact>;

/// Computes X, the inverse of I + L for L [64,64]. Both are in shared memory, in float32, with `pitch` numbers per row.
/// Called by four warps; warp w must already see rows 16 w ... 16 w + 15 of L. Elements of X above the diagonal become
/// 0. Ends with a barrier.
template <class Op, int pitch> struct UnitLowerInverse {
  /// Computes X(b,b), the diagonal block of rows 16 b ... 16 b + 15.
  __device__ __forceinline__ static void on_diagonal(const float *L, float *X, int b) {
    const int lane = threadIdx.x % 32, column = lane % 16, first = 16 * b;
    float x[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) x[i] = i == column ? 1 : 0;
#pragma unroll
    for (int c = 0; c < 15; ++c)
#pragma unroll
      for (int i = c + 1; i < 16; ++i) x[i] -= L[(first + i) * pitch + first + c] * x[c];
    if (lane < 16)
#pragma unroll
      for (int i = 0; i < 16; ++i) X[(first + i) * pitch + first + column] = x[i];
  }
  /// M^T += X(c,b)^T L(a,c)^T for blocks a, b, c. `m` holds 16 columns of block b and 16 rows of block a.
  __device__ __forceinline__ static void add_transposed_product(const float *L, const float *X, int a, int c, int b,
                                                                Sum (&m)[2]) {
    fragments::multiply_add<Op>(fragments::load_a_across<Op, pitch>(X, 16 * b, 16 * c),
                                fragments::load_b_across<Op, pitch>(L, 16 * c, 16 * a), m[0], m[1]);
  }
  /// x += X(a,c) M, given M^T.
  __device__ __forceinline__ static void add(const float *X, int a, int c, const Sum (&m)[2], Sum (&x)[2]) {
    fragments::multiply_add<Op>(fragments::load_a<Op, pitch>(X, 16 * a, 16 * c), fragments::as_b_across<Op>(m[0], m[1]),
                                x[0], x[1]);
  }
  /// X(a,b) = -x
  __device__ __forceinline__ static void put(Sum (&x)[2], float *X, int a, int b) {
#pragma unroll
    for (int c = 0; c < 2; ++c) {
#pragma unroll
      for (int e = 0; e < 4; ++e) x[c].x[e] = -x[c].x[e];
      fragments::store<float, pitch>(x[c], X, 16 * a, 16 * b + 8 * c);
    }
  }

  __device__ __forceinline__ static void solve(const float *L, float *X) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    on_diagonal(L, X, warp);
    for (int i = lane; i < 16 * 16 * (3 - warp); i += 32) // blocks above the diagonal
      X[(16 * warp + i % 16) * pitch + 16 * (warp + 1) + i / 16] = 0;
    __syncthreads();
    if (warp % 2) {
      Sum m[2], x[2];
      add_transposed_product(L, X, warp, warp - 1, warp - 1, m);
      add(X, warp, warp, m, x);
      put(x, X, warp, warp - 1);
    }
    __syncthreads();
    const int a = 2 + warp / 2, b = warp % 2;
    Sum x[2];
#pragma unroll
    for (int c = 2; c < 4; ++c) {
      if (c > a) break;
      Sum m[2];
#pragma unroll
      for (int d = 0; d < 2; ++d)
        if (d >= b) add_transposed_product(L, X, c, d, b, m);
      add(X, a, c, m, x);
    }
    put(x, X, a, b);
    __syncthreads();
  }
};

template <class Op, class Stored, int Dk> struct ChunkLocal {
  using E = Element<Op>;
  static constexpr int warps = chunk / 16, threads = 32 * warps;
  static constexpr int values = is_narrow<Op> ? 128 : 64; // columns of V at a time
  static constexpr int key_pitch = Dk + fragments::pad<Op>, pitch = chunk + 8,
                       value_pitch = values + fragments::pad<Op>;
  static constexpr int keys_size = chunk * key_pitch, values_size = chunk * value_pitch, square = chunk * pitch;
  static constexpr std::size_t bytes = (keys_size + values_size) * sizeof(E) + 2 * square * sizeof(float);

  Inputs<Stored> in;
  E *inverse, *W, *U; // saved; null: not wanted

  __device__ __forceinline__ void load_values(const ChunkOfHead &c, int first_value, E *to) const {
    fragments::load_tile<Op, chunk, values, value_pitch, threads>(in.v + c.row * in.Dv + first_value, in.Dv, c.steps,
                                                                  in.Dv - first_value, to, threadIdx.x);
  }

  __device__ __forceinline__ void operator()(unsigned char *shared) const {
    __shared__ DecayTables decay;
    __shared__ float erase[chunk], of_key[chunk], write[chunk]; // erase_t; erase_t D(t-1,0); write_t
    const int K = in.kept_keys(), V = in.kept_values(), thread = threadIdx.x, warp = thread / 32;
    const ChunkOfHead c = in.chunk_of_head(blockIdx.x);
    E *const k = reinterpret_cast<E *>(shared), *const v = k + keys_size;
    float *const L = reinterpret_cast<float *>(v + values_size), *const X = L + square;
    E *const X_keys = reinterpret_cast<E *>(L), *const X_values =
                                                    reinterpret_cast<E *>(X); // X diag(of_key); X diag(write)

    fragments::load_tile<Op, chunk, Dk, key_pitch, threads>(in.k + c.key_row * in.Dk, in.Dk, c.steps, in.Dk, k, thread);
    fragments::commit_copies();
    if (U) load_values(c, 0, v);
    fragments::commit_copies();
    const bool decays = in.alpha;
    decay.prepare(decays ? in.alpha + c.row : nullptr, c.steps, thread, threads);
    if (thread < chunk) {
      const bool valid = thread < c.steps;
      erase[thread] = !valid ? 0 : in.erase ? in.erase[c.row + thread] : 1;
      write[thread] = !valid ? 0 : in.write ? in.write[c.row + thread] : 1;
    }
    fragments::wait_for_copies<1>();
    __syncthreads();
    if (thread < chunk) of_key[thread] = erase[thread] * decay.before(thread);

    find_erasures(k, K, decays, decay, erase, L);
    __syncwarp();
    UnitLowerInverse<InverseOp<Op>, pitch>::solve(L, X);
    if (!finite(X)) substitute(L, X);

    float x[chunk * chunk / threads];
#pragma unroll
    for (int n = 0; n < chunk * chunk / threads; ++n) {
      const int t = n * threads / chunk + thread / chunk, i = thread % chunk;
      x[n] = X[t * pitch + i];
      if (inverse) inverse[(c.chunk * chunk + t) * chunk + i] = rounded<E>(x[n]);
      X_keys[t * pitch + i] = rounded<E>(x[n] * of_key[i]);
    }
    __syncthreads();
#pragma unroll
    for (int n = 0; n < chunk * chunk / threads; ++n) {
      const int t = n * threads / chunk + thread / chunk, i = thread % chunk;
      X_values[t * pitch + i] = rounded<E>(x[n] * write[i]);
    }
    fragments::wait_for_copies<0>();
    __syncthreads();

    if (W)
      for (int j = 16 * warp; j < K; j += 16 * warps) multiply_keys(X_keys, k, j, W + c.chunk * chunk * K, K);
    if (!U) return;
    for (int first = 0; first < V; first += values) {
      if (first > 0) {
        __syncthreads();
        load_values(c, first, v);
        fragments::commit_copies();
        fragments::wait_for_copies<0>();
        __syncthreads();
      }
      for (int j = 16 * warp; j < min(values, V - first); j += 16 * warps)
        multiply_values(X_values, v, j, U + (c.chunk * V + first + j) * chunk);
    }
  }

  /// Computes the warp's 16 rows of L.
  __device__ __forceinline__ static void find_erasures(const E *k, int K, bool decays, const DecayTables &decay,
                                                       const float *erase, float *L) {
    const int lane = threadIdx.x % 32, first = threadIdx.x / 32 * 16;
    Sum scores[blocks];
#pragma unroll
    for (int j = 0; j < Dk; j += 16) {
      if (!is_narrow<Op> && j >= K) break;
      const A16<Op> a = fragments::load_a<Op, key_pitch>(k, first, j);
#pragma unroll
      for (int i = 0; i < chunk; i += 16)
        if (is_narrow<Op> || i <= first) // for 16-bit operands, a branch costs more than the masked products
          fragments::multiply_add<Op>(a, fragments::load_b_across<Op, key_pitch>(k, j, i), scores[i / 8],
                                      scores[i / 8 + 1]);
    }
    float left[2];
    apply_decay<true>(first, decays, decay, scores, left);
#pragma unroll
    for (int b = 0; b < blocks; ++b) {
#pragma unroll
      for (int e = 0; e < 4; ++e) scores[b].x[e] *= erase[first + lane / 4 + e / 2 * 8];
      fragments::store<float, pitch>(scores[b], L, first, 8 * b);
    }
  }

  /// Computes columns j ... j + 15 of W.
  __device__ __forceinline__ static void multiply_keys(const E *x, const E *k, int j, E *to, int K) {
    Sum w[warps][4]; // w[.][2] and w[.][3] are unused; they complete the quads of store_rows()
#pragma unroll
    for (int i = 0; i < chunk; i += 16) {
      const B16<Op> b = fragments::load_b<Op, key_pitch>(k, i, j);
#pragma unroll
      for (int t = i; t < chunk; t += 16)
        fragments::multiply_add<Op>(fragments::load_a<Op, pitch>(x, t, i), b, w[t / 16][0], w[t / 16][1]);
    }
    bool finite = true;
#pragma unroll
    for (int t = 0; t < chunk; t += 16) {
      finite = finite && all_finite(w[t / 16]);
      store_rows<E, 4>(w[t / 16], to + t * K + j, K, 16, 16);
    }
    if (!finite) redo_product(x, k + j, key_pitch, to + j, K, 1);
  }
  /// Computes rows j ... j + 15 of U^T: one row per value channel.
  __device__ __forceinline__ static void multiply_values(const E *x, const E *v, int j, E *to) {
    Sum u[blocks];
#pragma unroll
    for (int i = 0; i < chunk; i += 16) {
      const A16<Op> a = fragments::load_a_across<Op, value_pitch>(v, j, i);
#pragma unroll
      for (int t = i; t < chunk; t += 16)
        fragments::multiply_add<Op>(a, fragments::load_b_across<Op, pitch>(x, i, t), u[t / 8], u[t / 8 + 1]);
    }
    if (all_finite(u))
      store_rows<E, blocks>(u, to, chunk, 16, chunk);
    else
      redo_product(x, v + j, value_pitch, to, 1, chunk);
  }
  /// Scalar fallback for W and U: 16 columns of the product of x, which is X with scaled columns, and a tile of keys or
  /// values. Zeros of X are skipped, so that an Inf or NaN of a later step never reaches an earlier one. Called by one
  /// warp.
  __device__ __noinline__ static void redo_product(const E *x, const E *tile, int tile_pitch, E *to, int step,
                                                   int column) {
    __syncwarp();
    for (int n = threadIdx.x % 32; n < chunk * 16; n += 32) {
      const int t = n / 16, j = n % 16;
      float sum = 0;
      for (int i = 0; i <= t; ++i) sum += widened(x[t * pitch + i]) * widened(tile[i * tile_pitch + j]);
      to[t * step + j * column] = rounded<E>(sum);
    }
  }

  /// Whether X is finite. Called by all threads; contains a barrier.
  __device__ __forceinline__ static bool finite(const float *X) {
    float sign = 0;
#pragma unroll
    for (int n = 0; n < chunk * chunk / threads; ++n)
      sign = fmaf(X[(n * threads / chunk + threadIdx.x / chunk) * pitch + threadIdx.x % chunk], 0.0f, sign);
    return !__syncthreads_or(sign != sign);
  }
  /// Computes X by substitution, one column per thread. A NaN or Inf in a row of L affects only that row and later rows
  /// of X.
  __device__ __noinline__ static void substitute(const float *L, float *X) {
    const int column = threadIdx.x;
    if (column < chunk)
      for (int t = 0; t < chunk; ++t) {
        float x = t == column ? 1 : 0;
        if (t > column)
          for (int i = column; i < t; ++i) x -= L[t * pitch + i] * X[i * pitch + column];
        X[t * pitch + column] = x;
      }
    __syncthreads();
  }
};

/// Delta rules: writes X to `inverse`, and W and U. A null pointer is skipped.
template <class Op, class Stored>
void chunk_local(const Inputs<Stored> &in, Element<Op> *inverse, Element<Op> *W, Element<Op> *U, cudaStream_t stream) {
  with_extent(in.Dk, [&](auto extent) {
    using Body = ChunkLocal<Op, Stored, decltype(extent)::value>;
    launch("chunk_local", in.chunks(), Body::bytes, stream, Body{in, inverse, W, U});
  });
}

} // namespace recollect::chunked
#endif
