// SPDX-License-Identifier: Apache-2.0
// Linear attention whose output is scaled to unit mean square per head; this replaces a normaliser (NormAttention: Qin
// et al. 2022, arXiv:2210.10340; RMSNorm: Zhang and Sennrich 2019, arXiv:1910.07467).
//
//   S_t = S_{t-1} + v_t k_t^T,   y_t = S_t q_t
//   o_t = y_t / sqrt(|y_t|^2 / Dv + epsilon)
//
// State: Dv x Dk. Cost per token: as linear, and 3 Dv flops.
#include "variants/kernels/chunked/gated_recurrence_backward.hpp"
#include "variants/kernels/common/unit_rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> KOKKOS_FUNCTION void unit_mean_square(Real *y, int n, Real epsilon) {
  const Real size = root_mean_square(y, n, epsilon);
  for (int i = 0; i < n; ++i) y[i] /= size;
}

template <class Real> void recurrent(const Call<Real> &call) {
  const Real epsilon = call.params.real("epsilon");
  each_head(
      "linear_rms::recurrent", call, 0, KOKKOS_LAMBDA(const Team &team, const Head<Real> &h) {
        for (int t = 0; t < h.T; ++t) {
          each(team, h.Dv, [=](int i) {
            Real *s = h.state + size_t(i) * h.Dk;
            for (int j = 0; j < h.Dk; ++j) s[j] += h.v(t)[i] * h.k(t)[j];
            h.o(t)[i] = dot(s, h.q(t), h.Dk);
          });
          team.barrier();
          each(team, 1, [=](int) { unit_mean_square(h.o(t), h.Dv, epsilon); });
        }
      });
}

template <class Real> GatedRecurrence<Real> as_sum(const Call<Real> &call) {
  return {call.shape.Dk, call.q, call.k, {}, {}};
}
template <class Real> void chunked(const Call<Real> &call) {
  const Real epsilon = call.params.real("epsilon");
  const int Dv = call.shape.Dv;
  const Array<Real> o = call.o;
  gated_recurrence("linear_rms::chunked", call, as_sum(call));
  parallel_loop(
      "linear_rms::norm", o.extent(0) / Dv,
      KOKKOS_LAMBDA(const size_t t) { unit_mean_square(o.data() + t * Dv, Dv, epsilon); });
}

/// Computes dy = (do - o (o . do) / Dv) / size from do.
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const Real epsilon = call.params.real("epsilon");
  const int Dv = call.shape.Dv;
  const Array<Real> y = call.o, given = back.d.o, d_y = allocate(call, y.extent(0));
  const ChunkStates<Real> starts = gated_recurrence_chunk_states("linear_rms::backward", call, as_sum(call), true);
  parallel_loop(
      "linear_rms::d_norm", call.steps(), KOKKOS_LAMBDA(const size_t t) {
        const Real *own = y.data() + t * Dv, *to = given.data() + t * Dv;
        const Real size = root_mean_square(own, Dv, epsilon);
        Real along = 0; // o . do / Dv
        for (int i = 0; i < Dv; ++i) along += own[i] / size * (to[i] / Dv);
        for (int i = 0; i < Dv; ++i) d_y(t * Dv + i) = (to[i] - own[i] / size * along) / size;
      });
  gated_recurrence_back("linear_rms::backward", back, as_sum(call), {back.d.q, back.d.k}, starts, d_y);
}

} // namespace

Variant linear_rms() {
  Variant v;
  v.family = "additive";
  v.update = "$A_t = I$, $b_t = v_t$, $phi = identity$; the output scaled to mean square 1";
  v.objective = "$-<S k, v>$";
  v.source = "Qin et al. 2022 (arXiv:2210.10340), NormAttention; RMSNorm, arXiv:1910.07467";
  v.cost = 4 * cost::Dv * cost::Dk + 3 * cost::Dv;
  v.params = {real_param("epsilon", 1e-6, 1e-30, no_limit, "added to the mean square")};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(1.45 * cost::Dv * cost::Dk + 53 * cost::Dk + 12 * cost::Dv)};
  v.traits.linear_in_v = false;
  v.traits.order_invariant = true;
  v.traits.zero_key_keeps = true;
  return v;
}

} // namespace recollect::variants
