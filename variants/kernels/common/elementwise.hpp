// SPDX-License-Identifier: Apache-2.0
// Sums and products of arrays, element by element.
#pragma once
#include "variants/kernels/common/arrays.hpp"

namespace recollect::variants {

/// sum += factor terms
template <class Real> void add(const Array<Real> &terms, const Array<Real> &sum, double factor = 1) {
  const Real each = Real(factor);
  parallel_loop(
      "add", sum.extent(0), KOKKOS_LAMBDA(const size_t i) { sum(i) += each * terms(i); });
}

/// a * b in a new array
template <class Real> Array<Real> products(const Call<Real> &call, const Array<Real> &a, const Array<Real> &b) {
  const Array<Real> out = allocate(call, a.extent(0));
  parallel_loop(
      "products", out.extent(0), KOKKOS_LAMBDA(const size_t i) { out(i) = a(i) * b(i); });
  return out;
}

} // namespace recollect::variants
