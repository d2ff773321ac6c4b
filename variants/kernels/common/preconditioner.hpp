// SPDX-License-Identifier: Apache-2.0
// A diagonal preconditioner M_t of keys, computed from decayed sums A_t of the keys' squares, with elements in [1 /
// base, base] (arXiv:2604.21100, as in fla/ops/precond_gated_delta_rule/naive.py). * is element-wise:
//
//   A_t = lambda_t * A_{t-1} + k_t * k_t,   p_t = k_t * M_t,   M_t = base^{-s(log(A_t + eps) - center)}
//   s(r) = r / (1 + |r|)
//
// One thread computes all steps of one channel of a head.
#pragma once
#include "variants/kernels/common/arrays.hpp"
#include <cmath>

namespace recollect::variants {

template <class Real> struct Squash {
  Real log_base, center, eps;
  explicit Squash(const Params &params)
      : log_base(Real(std::log(params.real("base")))), center(Real(params.real("center"))),
        eps(Real(params.real("eps"))) {}
  KOKKOS_FUNCTION Real operator()(Real A) const {
    const Real r = math::log(A + eps) - center;
    return math::exp(-log_base * (r / (1 + math::fabs(r))));
  }
  KOKKOS_FUNCTION Real slope(Real A) const {
    const Real bend = 1 / (1 + math::fabs(math::log(A + eps) - center));
    return -log_base * bend * bend / (A + eps) * (*this)(A);
  }
};

template <class Real> struct Preconditioned {
  Array<Real> keys;    // [B,H,T,Dk] p_t
  Array<Real> squares; // [B,H,T,Dk] A_t
};

/// Computes p_t and A_t of all steps. Starts from A in row Dv of each head's state. If `advance`, the final A is
/// written to this row.
template <class Real> Preconditioned<Real> precondition(const Call<Real> &call, bool advance) {
  const Preconditioned<Real> out{allocate(call, call.k.extent(0)), allocate(call, call.k.extent(0))};
  const HeadArrays<Real> arrays(call);
  const Squash<Real> squash(call.params);
  parallel_loop(
      "precondition", call.shape.heads() * call.shape.Dk, KOKKOS_LAMBDA(const size_t i) {
        const int Dk = arrays.Dk, j = int(i % Dk);
        const Head<Real> h = arrays.head(i / Dk);
        Real *const start = h.state + size_t(h.Dv) * Dk + j;
        Real A = *start;
        for (int t = 0; t < h.T; ++t) {
          const size_t at = (h.index * h.T + t) * Dk + j;
          const Real k = h.k(t)[j];
          A = h.lambda(t)[j] * A + k * k;
          out.squares(at) = A, out.keys(at) = k * squash(A);
        }
        if (advance) *start = A;
      });
  return out;
}

/// Inputs: d_p, the gradient of the keys p, and the gradient of the final A, in row Dv of back.d.state. Adds the
/// gradient of k to back.d.k, and writes the gradients of lambda (to back.d.lambda) and of the first A (to the same
/// row).
template <class Real>
void precondition_vjp(const BackwardCall<Real> &back, const Preconditioned<Real> &made, const Array<Real> &d_p) {
  const HeadArrays<Real> arrays(back.call);
  const Array<Real> d_k = back.d.k, d_lambda = back.d.lambda, d_state = back.d.state;
  const Squash<Real> squash(back.call.params);
  parallel_loop(
      "precondition::backward", back.call.shape.heads() * back.call.shape.Dk, KOKKOS_LAMBDA(const size_t i) {
        const int Dk = arrays.Dk, j = int(i % Dk);
        const Head<Real> h = arrays.head(i / Dk);
        const size_t start = size_t(h.Dv) * Dk + j, place = h.index * arrays.state_size + start;
        Real d_A = d_state(place);
        for (int t = h.T - 1; t >= 0; --t) {
          const size_t at = (h.index * h.T + t) * Dk + j;
          const Real k = h.k(t)[j], A = made.squares(at), before = t > 0 ? made.squares(at - Dk) : h.state[start];
          d_A += k * d_p(at) * squash.slope(A);
          d_k(at) += squash(A) * d_p(at) + 2 * k * d_A;
          d_lambda(at) = before * d_A;
          d_A *= h.lambda(t)[j];
        }
        d_state(place) = d_A;
      });
}

} // namespace recollect::variants
