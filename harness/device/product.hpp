// SPDX-License-Identifier: Apache-2.0
// Products of whole matrices in device memory. A GPU uses Kokkos Kernels. A CPU computes blocks of rows, so that the
// result does not depend on the number of threads.
#pragma once
#include "harness/device/matrix.hpp"

namespace recollect {

/// C[m,n] = A[m,k] B[k,n] + keep C, C row-major; A and B are whole matrices, stored as they are or transposed.
template <class Real>
void product(int m, int n, int k, const tile::Matrix<Real> &A, const tile::Matrix<Real> &B, Real keep, Real *C);

} // namespace recollect
