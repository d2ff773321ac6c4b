// SPDX-License-Identifier: Apache-2.0
// Loads the operands of a product: each lane of a warp loads the elements of A and B that it needs.
#pragma once
#ifdef __CUDACC__
#include "harness/device/matrix.hpp"
#include "harness/device/tile/mma_cuda.hpp"

namespace recollect::tile::cuda {

#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)

/// Loads a number from shared memory.
__device__ inline float load_shared(std::uint32_t at, float) {
  float x;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(at));
  return x;
}
__device__ inline double load_shared(std::uint32_t at, double) {
  double x;
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(x) : "r"(at));
  return x;
}
/// Loads four 8 x 4 blocks of floats. Lanes 8 b ... 8 b + 7 pass the addresses of the rows of block b. Each lane gets
/// element (lane / 4, lane % 4) of every block.
__device__ inline void load_blocks(std::uint32_t at, float &x0, float &x1, float &x2, float &x3) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=f"(x0), "=f"(x1), "=f"(x2), "=f"(x3)
               : "r"(at));
}
__device__ inline void load_blocks(std::uint32_t at, float &x0, float &x1) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=f"(x0), "=f"(x1) : "r"(at));
}
/// Loads four 8 x 8 blocks of bf16 in the same way. Each lane gets the pair at (lane / 4, lane % 4 * 2) of every block.
/// load_pairs_across() transposes the blocks first.
__device__ inline void load_pairs(std::uint32_t at, std::uint32_t (&x)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(at));
}
__device__ inline void load_pairs_across(std::uint32_t at, std::uint32_t (&x)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(at));
}

/// Loads B for eight terms of the sum. A lane gets the terms lane % 4 * 2 and lane % 4 * 2 + 1 in N / 2 pairs of
/// adjacent columns. `at` is the address of the first of these terms in column lane / 4 * 2. Of the c-th group of 16
/// columns, block 2 c gets the even columns and block 2 c + 1 the odd columns.
template <class Real, int N> __device__ __forceinline__ void load_rows(const Real *at, int pitch, Group<Real, N> &g) {
  struct alignas(2 * sizeof(Real)) Both {
    Real first, second;
  };
#pragma unroll
  for (int e = 0; e < 2; ++e)
#pragma unroll
    for (int c = 0; c < N; c += 2) {
      const Both both = *reinterpret_cast<const Both *>(at + e * pitch + 8 * c);
      g.b[c][e] = both.first, g.b[c + 1][e] = both.second;
    }
}
/// The column of a lane's first result in each row of block c, if B was loaded by load_rows(). The second result is two
/// columns further.
__device__ inline int column_of(int c, int lane) { return c / 2 * 16 + lane % 4 * 4 + c % 2; }

/// Loads the operands of a block that lies wholly inside the product. The operands are in shared memory. A (B) is
/// contiguous along the sum if a_inner (b_inner), otherwise along its other index. A lane has the terms lane % 4 and
/// lane % 4 + 4 of each eight terms.
template <class Real, int N, bool a_inner, bool b_inner> struct Whole {
  static constexpr int size = sizeof(Real);
  static constexpr bool blocks = size == 4; // ldmatrix loads rows of four floats
  std::uint32_t a[2], b[N > 2 ? N : 2], a_step, b_step;

  __device__ Whole(const Product<Real> &x, int i0, int, int j0, int, int lane) {
    const std::uint32_t A = std::uint32_t(__cvta_generic_to_shared(x.A.data)),
                        B = std::uint32_t(__cvta_generic_to_shared(x.B.data));
    const int tile = lane / 8, row = lane % 8, i = i0 + lane / 4, j = j0 + lane / 4, p = lane % 4;
    a_step = 8 * size * (a_inner ? 1 : int(x.A.column)), b_step = 8 * size * (b_inner ? 1 : int(x.B.row));
    if (a_inner && blocks)
      a[0] = A + size * ((i0 + row + tile % 2 * 8) * int(x.A.row) + tile / 2 * 4);
    else
#pragma unroll
      for (int e = 0; e < 2; ++e)
        a[e] = A + size * (a_inner ? (i + 8 * e) * int(x.A.row) + p : i + (p + 4 * e) * int(x.A.column));
    if (b_inner && blocks)
#pragma unroll
      for (int c = 0; c < N; c += 2)
        b[c] = B + size * ((j0 + 8 * c + row + tile / 2 % N * 8) * int(x.B.column) + tile % 2 * 4);
    else if (b_inner)
#pragma unroll
      for (int c = 0; c < N; ++c) b[c] = B + size * ((j + 8 * c) * int(x.B.column) + p);
    else
#pragma unroll
      for (int e = 0; e < 2; ++e) b[e] = B + size * (j + (p + 4 * e) * int(x.B.row));
  }
  __device__ void load(int, int, Group<Real, N> &g) const {
    if constexpr (a_inner && blocks)
      load_blocks(a[0], g.a[0][0], g.a[1][0], g.a[0][1], g.a[1][1]);
    else
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          g.a[r][e] = load_shared(a_inner ? a[r] + 4 * size * e : a[e] + 8 * size * r, Real());
    if constexpr (b_inner && blocks) {
      if constexpr (N == 1)
        load_blocks(b[0], g.b[0][0], g.b[0][1]);
      else
#pragma unroll
        for (int c = 0; c < N; c += 2) load_blocks(b[c], g.b[c][0], g.b[c][1], g.b[c + 1][0], g.b[c + 1][1]);
    } else
#pragma unroll
      for (int c = 0; c < N; ++c)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          g.b[c][e] = load_shared(b_inner ? b[c] + 4 * size * e : b[e] + 8 * size * c, Real());
  }
  __device__ void advance() {
#pragma unroll
    for (std::uint32_t &each : a) each += a_step;
#pragma unroll
    for (std::uint32_t &each : b) each += b_step;
  }
};

/// Loads the operands of any block. Beyond the edges of the product, the last row or column is read again; the results
/// there are not stored. Beyond the end of the sum, A is taken as 0.
template <class Real, int N> struct Cut {
  const Real *a[2], *b[N];
  int a_step, b_step, place;

  __device__ Cut(const Product<Real> &x, int i0, int m, int j0, int n, int lane)
      : a_step(int(x.A.column)), b_step(int(x.B.row)), place(lane % 4) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int i = i0 + lane / 4 + 8 * r;
      a[r] = x.A.data + (i < m ? i : m - 1) * x.A.row;
    }
#pragma unroll
    for (int c = 0; c < N; ++c) {
      const int j = j0 + 8 * c + lane / 4;
      b[c] = x.B.data + (j < n ? j : n - 1) * x.B.column;
    }
  }
  __device__ void load(int p, int end, Group<Real, N> &g) const {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int at = p + place + 4 * e, last = at < end ? at : end - 1;
#pragma unroll
      for (int r = 0; r < 2; ++r) g.a[r][e] = at < end ? a[r][last * a_step] : Real(0);
#pragma unroll
      for (int c = 0; c < N; ++c) g.b[c][e] = b[c][last * b_step];
    }
  }
  __device__ void advance() {}
};

/// Whether `Whole` supports the operands. Both must be in shared memory and contiguous along one index. If a float
/// operand is contiguous along the sum, its rows (of A) or columns (of B) must be aligned to 16 bytes.
template <class Real> __device__ bool regular(const Product<Real> &x) {
  const auto aligned = [](const Matrix<Real> &matrix, std::ptrdiff_t step) {
    return sizeof(Real) == 8 || (reinterpret_cast<std::uintptr_t>(matrix.data) % 16 == 0 && step % 4 == 0);
  };
  return __isShared(x.A.data) && __isShared(x.B.data) && (x.A.column == 1 ? aligned(x.A, x.A.row) : x.A.row == 1) &&
         (x.B.row == 1 ? aligned(x.B, x.B.column) : x.B.column == 1);
}

#endif

} // namespace recollect::tile::cuda
#endif
