// SPDX-License-Identifier: Apache-2.0
// Loops over independent pieces of work, and matrix products cut into such pieces: what they compute does not depend on
// the number of threads.
#pragma once
#include "harness/device/tile_host.hpp"
#include <algorithm>
#include <cstddef>

namespace recollect::train {

template <class Work> void each_of(int count, const Work &work) {
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
  for (int i = 0; i < count; ++i) work(i);
}

using tile::rows;
using tile::transposed;
using Operand = tile::Matrix<double>;

/// C[m,n] = A[m,k] B[k,n] + keep C.
inline void product(int m, int n, int k, const Operand &A, const Operand &B, double keep, double *C) {
  constexpr int block = 64; // rows
  each_of((m + block - 1) / block, [&](int i) {
    const int first = i * block;
    tile::host::gemm<double>(std::min(block, m - first), n, 1, {A.from(first, 0), B, k}, keep,
                             C + std::ptrdiff_t(first) * n, n);
  });
}

} // namespace recollect::train
