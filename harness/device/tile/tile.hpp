// SPDX-License-Identifier: Apache-2.0
// Products and solves of small dense matrices, computed by one team. The chunked forms share them. Matrices are
// row-major; ld... is the distance of their rows. Unless noted, functions contain no barriers: the caller places
// team.barrier() between them.
//
// Each function has three implementations: blocks of vector registers on the host (tile/host.cpp), matrix instructions
// of a warp on CUDA (tile/cuda.hpp), plain loops elsewhere (tile/portable.hpp).
#pragma once
#include "harness/device/device.hpp"
#include "harness/device/prefix_solve.hpp"
#include "harness/device/solve_cuda.hpp"
#include "harness/device/tile/cuda.hpp"
#include "harness/device/tile/host.hpp"
#include "harness/device/tile/portable.hpp"

namespace recollect::tile {

/// Whether tile/host.cpp is used. It supports the built-in types only; other types (counted.hpp) use the plain loops.
template <class Real> constexpr bool in_registers = on_host &&std::is_floating_point_v<Real>;

/// Distance between rows of a scratch array of this width. On a GPU it is an odd multiple of a quarter of the banks of
/// shared memory. Then the elements that a warp loads for a product (tile/cuda.hpp) lie in different banks.
template <class Real> KOKKOS_FUNCTION constexpr std::ptrdiff_t pitch(int width) {
  constexpr int quarter = 32 / sizeof(Real);
  return on_host ? width : ((width + quarter - 1) / quarter | 1) * quarter;
}

/// to[count,width] = from[count,width]; the arrays must not overlap. No barrier.
template <class Real>
RECOLLECT_IN_LINE void copy(const Team &team, int count, int width, const Real *from, std::ptrdiff_t ld, Real *to,
                            std::ptrdiff_t ldt) {
#ifdef __CUDA_ARCH__
  cuda::copy_rows(team, count, width, from, ld, to, ldt);
#else
  each_cell(team, count, width, [=](int i, int j) { to[i * ldt + j] = from[i * ld + j]; });
#endif
}

/// A buffer of rows x width numbers for stage(). Null on a CPU, where stage() does not copy.
template <class Real> KOKKOS_FUNCTION Real *buffer(Stack<Real> &stack, int rows, int width) {
  return on_host ? nullptr : stack.take(rows * pitch<Real>(width));
}
/// `from` as an operand. On a GPU it is copied to the buffer `to`; the caller places the barrier. On a CPU it is used
/// where it is.
template <class Real>
RECOLLECT_IN_LINE Matrix<Real> stage(const Team &team, int count, int width, const Real *from, std::ptrdiff_t ld,
                                     Real *to) {
  if constexpr (on_host) return rows(from, ld);
  const std::ptrdiff_t ldr = pitch<Real>(width);
  copy(team, count, width, from, ld, to, ldr);
  return rows<Real>(to, ldr);
}

/// C[m,n] = beta C + alpha (A[m,k] B[k,n] + A2[m,k2] B2[k2,n]), with A B in `first` and A2 B2 in `second`. If beta = 0,
/// C is not read and may be uninitialised. AnyTeam is Team, Precise or cuda::ByCall.
template <class Real, class AnyTeam>
RECOLLECT_IN_LINE void gemm(const AnyTeam &team, int m, int n, Real alpha, const Product<Real> &first,
                            const Product<Real> &second, Real beta, Real *C, std::ptrdiff_t ldc) {
  if constexpr (in_registers<Real>) {
    host::gemm(m, n, alpha, first, beta, C, ldc);
    if (second.k > 0) host::gemm(m, n, alpha, second, Real(1), C, ldc);
  } else {
#if __CUDA_ARCH__ >= 800
    cuda::gemm(team, m, n, alpha, first, second, beta, C, ldc);
#else
    portable::gemm(team, m, n, alpha, first, second, beta, C, ldc);
#endif
  }
}
/// C[m,n] = beta C + alpha A[m,k] B[k,n].
template <class Real, class AnyTeam>
RECOLLECT_IN_LINE void gemm(const AnyTeam &team, int m, int n, int k, Real alpha, Matrix<Real> A, Matrix<Real> B,
                            Real beta, Real *C, std::ptrdiff_t ldc) {
  gemm(team, m, n, alpha, Product<Real>{A, B, k}, Product<Real>{}, beta, C, ldc);
}

/// X[n,columns] = (I + L)^{-1} X by forward substitution; reads only the strict lower triangle of L[n,n]. Ends with a
/// barrier.
template <class Real, class AnyTeam>
RECOLLECT_IN_LINE void solve_unit_lower(const AnyTeam &team, int n, int columns, const Real *L, std::ptrdiff_t ldl,
                                        Real *X, std::ptrdiff_t ldx) {
  if constexpr (in_registers<Real>) {
    host::solve_unit_lower(n, columns, L, ldl, X, ldx);
  } else {
#if __CUDA_ARCH__ >= 800
    if (cuda::solves_in_warps(n, columns, L, ldl, X)) return cuda::solve_in_warps(team, n, columns, L, ldl, X, ldx);
#endif
    constexpr int block = portable::solve_block;
    for (int i = 0; i < n; i += block) {
      const int rows_ = n - i < block ? n - i : block;
      if (i) {
        gemm(team, rows_, columns, i, Real(-1), rows(L + i * ldl, ldl), rows<Real>(X, ldx), Real(1), X + i * ldx, ldx);
        team.barrier();
      }
      portable::substitute(team, rows_, columns, L + i * ldl + i, ldl, X + i * ldx, ldx);
      team.barrier();
    }
  }
}

/// B[n,m] = A[m,n]^T
template <class Real>
KOKKOS_FUNCTION void transpose(const Team &team, int m, int n, const Real *A, std::ptrdiff_t lda, Real *B,
                               std::ptrdiff_t ldb) {
  if constexpr (in_registers<Real>)
    host::transpose(m, n, A, lda, B, ldb);
  else
    each_cell(team, m, n, [=](int i, int j) { B[j * ldb + i] = A[i * lda + j]; });
}

/// Number of reals of scratch that solve_prefixes() needs.
template <class Real> KOKKOS_FUNCTION size_t prefix_work(int F) {
  if constexpr (in_registers<Real>)
    return host::prefix_work<Real>(F);
  else
    return portable::prefix_work(F);
}

/// x_t = (H_t + ridge I)^{-1} q_t for each of n steps, with H_t = alpha_t H_{t-1} + k_t k_t^T; if alpha is null, every
/// alpha_t is 1. k, q and x are [n,F], and ldk, ldq, ldx are the distances of their rows. Overwrites H [F,F]. No
/// barrier at either end.
template <class Real>
KOKKOS_FUNCTION void solve_prefixes(const Team &team, int n, int F, Real ridge, const Real *alpha, const Real *k,
                                    std::ptrdiff_t ldk, const Real *q, std::ptrdiff_t ldq, Real *H, Real *x,
                                    std::ptrdiff_t ldx, Real *work) {
  if constexpr (in_registers<Real>)
    host::solve_prefixes(n, F, ridge, alpha, k, ldk, q, ldq, H, x, ldx, work);
  else
    portable::solve_prefixes(team, n, F, ridge, alpha, k, ldk, q, ldq, H, x, ldx, work);
}

} // namespace recollect::tile
