// SPDX-License-Identifier: Apache-2.0
// A decayed sum with a decay alpha_t per step and a decay lambda_t per channel. Their product is used as lambda, and
// the gradients of both follow from the product's gradient.
#pragma once
#include "harness/device/each_index.hpp"

namespace recollect::variants {

template <class Real> struct BothGates {
  Array<Real> lambda, d_lambda; // the product and its gradient, or the given arrays where there is no alpha

  /// alpha [rows] may be empty. The arrays of gradients that are not wanted are empty.
  BothGates(Arena &arena, const Array<Real> &alpha, const Array<Real> &given, const Array<Real> &d_alpha,
            const Array<Real> &d_given, int width)
      : lambda(given), d_lambda(d_given), alpha_(alpha), given_(given), d_alpha_(d_alpha), d_given_(d_given),
        width_(width) {
    if (!alpha.extent(0)) return;
    lambda = arena.take<Real>(given.extent(0)), d_lambda = arena.take<Real>(given.extent(0));
    multiply();
  }
  void multiply() const {
    const Array<Real> alpha = alpha_, given = given_, both = lambda;
    const int width = width_;
    parallel_loop(
        "gated_recurrence::gates", given.extent(0),
        KOKKOS_LAMBDA(const size_t i) { both(i) = alpha(i / width) * given(i); });
  }
  /// Computes the gradients of both gates. Call it after the product's gradient has been computed.
  void differentiate() const {
    if (!alpha_.extent(0)) return;
    const Array<Real> alpha = alpha_, given = given_, d_alpha = d_alpha_, d_given = d_given_, d_both = d_lambda;
    const int width = width_;
    each_row(
        "gated_recurrence::d_gates", int(alpha.extent(0)), width, KOKKOS_LAMBDA(int t, int first, int side) {
          const size_t at = size_t(t) * width;
          if (d_given.extent(0))
            for (int j = first; j < width; j += side) d_given(at + j) = alpha(t) * d_both(at + j);
          if (!d_alpha.extent(0)) return;
          const Real sum = row_dot(given.data() + at, d_both.data() + at, width, first, side);
          if (first == 0) d_alpha(t) = sum;
        });
  }

private:
  Array<Real> alpha_, given_, d_alpha_, d_given_;
  int width_;
};

} // namespace recollect::variants
