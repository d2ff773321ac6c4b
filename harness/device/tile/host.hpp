// SPDX-License-Identifier: Apache-2.0
// The operations of tile.hpp on a CPU, for one thread. They are compiled once, for float and double.
#pragma once
#include "harness/device/matrix.hpp"

namespace recollect::tile::host {

template <class Real>
void gemm(int m, int n, Real alpha, const Product<Real> &product, Real beta, Real *C, std::ptrdiff_t ldc);
template <class Real>
void solve_unit_lower(int n, int columns, const Real *L, std::ptrdiff_t ldl, Real *X, std::ptrdiff_t ldx);
template <class Real> void transpose(int m, int n, const Real *A, std::ptrdiff_t lda, Real *B, std::ptrdiff_t ldb);
/// Replaces p[0 ... n-1] by exp(p - peak) and returns their sum.
template <class Real> Real exponentiate(int n, Real peak, Real *p);

} // namespace recollect::tile::host
