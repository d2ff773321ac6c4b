// SPDX-License-Identifier: Apache-2.0
// Longhorn: the memory that trades closeness to the last one for a small error on the new pair (003 Eq 30-31).
//
//   S_t = S_{t-1} + beta_t (v_t - S_{t-1} k_t) k_t^T,   beta_t = delta / (1 + delta |k_t|^2)
//   o_t = S_t q_t
//
// delta -> infinity is NLMS. The published layer (Liu et al. 2024, arXiv:2407.14207) replaces k k^T by its diagonal;
// this is 003's. State: Dv x Dk. Cost a token: recurrent 6 Dv Dk; chunked 6 Dv Dk + C (4 Dk + 3 Dv) flops, as matrix
// products.
#include "variants/kernels/rows.hpp"
#include "variants/kernels/wy.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const Real delta = call.params.real("delta");
  recurrent_rows(
      "longhorn::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real *k = h.k(t), gain = delta / (1 + delta * dot(k, k, h.Dk)), residual = h.v(t)[i] - dot(s, k, h.Dk);
        for (int j = 0; j < h.Dk; ++j) s[j] += gain * residual * k[j];
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> void chunked(const Call<Real> &call) {
  const Real delta = call.params.real("delta");
  const Array<Real> gain = per_step(
      "longhorn::gain", call,
      KOKKOS_LAMBDA(const Head<Real> &h, int t)->Real { return delta / (1 + delta * dot(h.k(t), h.k(t), h.Dk)); });
  delta_rule("longhorn::chunked", call, {1, call.k, call.k, gain, gain, {}, {}});
}

} // namespace

Variant longhorn() {
  Variant v;
  v.family = "delta rule";
  v.update = "A_t = I - beta_t k_t k_t^T, b_t = beta_t v_t, beta_t = delta / (1 + delta |k_t|^2), phi = identity";
  v.objective = "|S - S_{t-1}|_F^2 / 2 + delta |S k - v|^2 / 2, minimised exactly";
  v.source = "003 Eq 30-31";
  v.cost = "6 Dv Dk flops";
  v.params = {real_param("delta", 1, 0, 1e30, "weight of the new pair against the old memory")};
  v.forms = {{"recurrent", recurrent<float>, recurrent<double>}, {"chunked", chunked<float>, chunked<double>}};
  v.traits.zero_key_keeps = true;
  return v;
}

} // namespace recollect::variants
