// SPDX-License-Identifier: Apache-2.0
#include "harness/device/product.hpp"
#include "harness/device/each_index.hpp"
#include "harness/device/tile/host.hpp"
#include <KokkosBlas3_gemm.hpp>
#include <algorithm>

namespace recollect {
namespace {

template <class Real>
void by_blocks(int m, int n, int k, const tile::Matrix<Real> &A, const tile::Matrix<Real> &B, Real keep, Real *C) {
  constexpr int block = 64; // rows of C per block
  each_index(
      "product", (m - 1) / block + 1,
      [=](size_t i) {
        const int first = int(i) * block;
        tile::host::gemm<Real>(std::min(block, m - first), n, Real(1), {A.from(first, 0), B, k}, keep,
                               C + std::ptrdiff_t(first) * n, n);
      },
      size_t(block) * size_t(n) * size_t(k) / 8); // a few multiply-adds take the time of one number read or written
}

/// An operand for KokkosBlas: the matrix as stored, row-major, and "T" if the operand is its transpose.
template <class Real> struct Stored {
  Kokkos::View<const Real **, Kokkos::LayoutRight, Execution> matrix;
  const char *mode;
  Stored(const tile::Matrix<Real> &a, int rows, int columns)
      : matrix(a.data, a.column == 1 ? rows : columns, a.column == 1 ? columns : rows),
        mode(a.column == 1 ? "N" : "T") {}
};

} // namespace

template <class Real>
void product(int m, int n, int k, const tile::Matrix<Real> &A, const tile::Matrix<Real> &B, Real keep, Real *C) {
  if (m == 0 || n == 0) return;
  if constexpr (on_host) {
    by_blocks(m, n, k, A, B, keep, C);
  } else {
    const Stored<Real> a(A, m, k), b(B, k, n);
    const Kokkos::View<Real **, Kokkos::LayoutRight, Execution> c(C, m, n);
    KokkosBlas::gemm(queue(), a.mode, b.mode, Real(1), a.matrix, b.matrix, keep, c);
  }
}

template void product(int, int, int, const tile::Matrix<float> &, const tile::Matrix<float> &, float, float *);
template void product(int, int, int, const tile::Matrix<double> &, const tile::Matrix<double> &, double, double *);

} // namespace recollect
