// SPDX-License-Identifier: Apache-2.0
// Least squares by the normal equations of every prefix, with a constant ridge and sums that may decay:
//
//   H_t = alpha_t H_{t-1} + beta_t k_t k_t^T,   B_t = alpha_t B_{t-1} + beta_t v_t k_t^T
//   o_t = B_t (H_t + ridge I)^{-1} q_t
//
// The state is B, then H; only the upper triangle of H is read. The chunked forms use pairs (sqrt(beta) k, sqrt(beta)
// v) of weight 1 instead. There are three ways to solve for o_t: a factorisation at every step (the definition); the
// factorisations of all steps of a chunk in parallel (prefix_regression.hpp); conjugate gradients for all steps of a
// chunk together (conjugate_gradients.hpp).
#pragma once
#include "variants/kernels/regression/least_squares.hpp"
#include "variants/kernels/regression/regression.hpp"

namespace recollect::variants {

template <class Real> struct NormalEquationsRecurrent {
  Real ridge;
  bool decays; // alpha decays the sums
  bool weighs; // beta weights the pairs

  static size_t work_size(int F) { return size_t(F) * F + F; }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = h.Dk, Dv = h.Dv;
    const Real ridge = this->ridge;
    Real *B = h.state, *H = B + size_t(Dv) * F, *M = h.work, *x = M + size_t(F) * F;
    for (int t = 0; t < h.T; ++t) {
      const Real *k = h.k(t), *q = h.q(t), *v = h.v(t), alpha = decays ? h.alpha[t] : Real(1),
                 weight = weighs ? h.beta[t] : Real(1);
      Real *o = h.o(t);
      team.barrier();
      each(team, Dv, [=](int i) {
        const Real value = weight * v[i];
        for (int j = 0; j < F; ++j) B[size_t(i) * F + j] = alpha * B[size_t(i) * F + j] + value * k[j];
      });
      each(team, F, [=](int i) {
        const Real key = weight * k[i];
        for (int j = 0; j < F; ++j) {
          Real &element = H[size_t(i) * F + j];
          element = alpha * element + key * k[j];
          M[size_t(i) * F + j] = element + (i == j ? ridge : Real(0));
        }
        x[i] = q[i];
      });
      factorise(team, F, M, F);
      solve(team, F, 1, M, F, x, 1);
      each(team, Dv, [=](int i) { o[i] = dot(B + size_t(i) * F, x, F); });
    }
  }
};

template <class Real>
void normal_equations_recurrent(const std::string &label, const Call<Real> &call, bool decays, bool weighs) {
  using Kernel = NormalEquationsRecurrent<Real>;
  each_head(label, call, Kernel::work_size(call.shape.Dk), Kernel{Real(call.params.real("ridge")), decays, weighs});
}

template <class Real> void normal_equations_chunked(const std::string &label, const Call<Real> &call, bool decays);
template <class Real> void conjugate_gradients(const std::string &label, const Call<Real> &call, bool decays);

} // namespace recollect::variants
