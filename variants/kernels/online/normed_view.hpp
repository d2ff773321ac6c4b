// SPDX-License-Identifier: Apache-2.0
// A view of a matrix memory (matrix_memory.hpp): W = A / |A|_r^{r-2}, |A|_r = (sum_ij |A_ij|^r)^{1/r}; 0 at A = 0.
#pragma once
#include "variants/kernels/online/matrix_memory.hpp"

namespace recollect::variants {

/// Computes with U = A / largest |A_ij|. U's largest element is 1, so that the sum of its powers |U_ij|^r neither
/// overflows nor underflows.
struct NormedView {
  int r;
  template <class Real> KOKKOS_FUNCTION Real power(Real x, int n) const {
    const Real size = math::fabs(x);
    Real product = size;
    for (int i = 1; i < n; ++i) product *= size;
    return product;
  }
  template <class Real> KOKKOS_FUNCTION Real largest(const Team &team, int n, const Real *A) const {
    return constant(reduce(
        team, n, Real(0), [=](int i) { return math::fabs(A[i]); }, [](Real a, Real b) { return a > b ? a : b; }));
  }
  /// The factor W / U.
  template <class Real> KOKKOS_FUNCTION Real factor(Real peak, Real powers) const {
    return math::pow(peak, Real(3 - r)) * math::pow(powers, Real(2 - r) / Real(r));
  }

  template <class Real> KOKKOS_FUNCTION const Real *see(const Team &team, int n, const Real *A, Real *buffer) const {
    const Real peak = largest(team, n, A);
    if (!(peak > 0)) return A; // 0, or not a number
    const Real powers = total<Real>(team, n, [=, *this](int i) { return power(buffer[i] = A[i] / peak, r); }),
               scale = factor(peak, powers);
    each(team, n, [=](int i) { buffer[i] *= scale; });
    team.barrier();
    return buffer;
  }
  /// dA += W/A dW + (A . dW) d(W/A) / dA,   d(W/A) / dA_i = (2 - r) W/A |A_i|^{r-1} sign(A_i) / |A|_r^r
  template <class Real>
  KOKKOS_FUNCTION void pull(const Team &team, int n, const Real *A, const Real *, const Real *dW, Real *dA) const {
    const Real peak = largest(team, n, A);
    if (!(peak > 0)) return each(team, n, [=](int i) { dA[i] += dW[i]; }); // W = A
    const Real powers = total<Real>(team, n, [=, *this](int i) { return power(A[i] / peak, r); }),
               scale = factor(peak, powers) / peak,
               common = Real(2 - r) * total<Real>(team, n, [=](int i) { return A[i] / peak * dW[i]; }) / powers;
    each(team, n, [=, *this](int i) {
      const Real slope = common * power(A[i] / peak, r - 1);
      dA[i] += scale * (dW[i] + (A[i] < 0 ? -slope : slope));
    });
  }
};

} // namespace recollect::variants
