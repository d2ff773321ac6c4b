// SPDX-License-Identifier: Apache-2.0
// Normalised least mean squares: the closest memory to the last one that stores the pair exactly (003 Eq 32-33).
//
//   S_t = S_{t-1} + (v_t - S_{t-1} k_t) k_t^T / |k_t|^2,   unchanged where k_t = 0
//   o_t = S_t q_t
//
// State: Dv x Dk. Cost a token: recurrent 6 Dv Dk; chunked 6 Dv Dk + C (4 Dk + 3 Dv) flops, as matrix products.
#include "variants/kernels/rows.hpp"
#include "variants/kernels/wy.hpp"

namespace recollect::variants {
namespace {

template <class Real> KOKKOS_FUNCTION Real step_size(const Head<Real> &h, int t) {
  const Real square = dot(h.k(t), h.k(t), h.Dk);
  return square > 0 ? 1 / square : Real(0);
}

template <class Real> void recurrent(const Call<Real> &call) {
  recurrent_rows(
      "nlms::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real *k = h.k(t), gain = step_size(h, t), residual = h.v(t)[i] - dot(s, k, h.Dk);
        for (int j = 0; j < h.Dk; ++j) s[j] += gain * residual * k[j];
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> void chunked(const Call<Real> &call) {
  const Array<Real> gain = per_step(
      "nlms::gain", call, KOKKOS_LAMBDA(const Head<Real> &h, int t)->Real { return step_size(h, t); });
  delta_rule("nlms::chunked", call, {1, call.k, call.k, gain, gain, {}, {}});
}

} // namespace

Variant nlms() {
  Variant v;
  v.family = "delta rule";
  v.update = "A_t = I - k_t k_t^T / |k_t|^2, b_t = v_t / |k_t|^2, phi = identity";
  v.objective = "|S - S_{t-1}|_F^2 / 2 subject to S k = v";
  v.source = "003 Eq 32-33";
  v.cost = "6 Dv Dk flops";
  v.forms = {{"recurrent", recurrent<float>, recurrent<double>}, {"chunked", chunked<float>, chunked<double>}};
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::last;
  return v;
}

} // namespace recollect::variants
