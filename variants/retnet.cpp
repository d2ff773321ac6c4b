// SPDX-License-Identifier: Apache-2.0
// RetNet's retention (Sun et al. 2023, arXiv:2307.08621): one fixed decay per head. The paper also rotates q and k by
// their position (xPos). This is a fixed map of the inputs and is left to the caller.
//
//   S_t = gamma_h S_{t-1} + v_t k_t^T        gamma_h = 1 - (1 - gamma) 2^{-h} in head h = 0, 1, ...
//   o_t = S_t (scale q_t)                    or gamma_h = gamma in all heads (gammas = alike)
//
// With gammas = paper, the default gamma = 31/32 gives the paper's decays 1 - 2^{-5-h}. The default is gammas = alike.
// State: Dv x Dk. Cost per token: recurrent 5 Dv Dk; chunked (C steps per chunk) 4 Dv Dk + 2 C (Dk + Dv) flops, as
// matrix products.
#include "harness/device/math.hpp"
#include "variants/kernels/chunked/gated_recurrence_backward.hpp"
#include "variants/kernels/chunked/stored.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

bool by_head(const Params &params) { return params.text("gammas") == "paper"; }

struct Gammas {
  double gamma;
  int heads; // number of different decays
  template <class Call>
  explicit Gammas(const Call &c) : gamma(c.params.real("gamma")), heads(by_head(c.params) ? c.shape.H : 1) {}
  KOKKOS_FUNCTION double of(size_t head) const {
    const int h = int(head % size_t(heads));
    return h ? 1 - (1 - gamma) * math::pow(0.5, double(h)) : gamma;
  }
};

template <class Real> void recurrent(const Call<Real> &call) {
  const Real scale = call.params.real("scale");
  const Gammas gammas(call);
  recurrent_rows(
      "retnet::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real gamma = gammas.of(h.index);
        for (int j = 0; j < h.Dk; ++j) s[j] = gamma * s[j] + h.v(t)[i] * h.k(t)[j];
        return scale * dot(s, h.q(t), h.Dk);
      });
}

template <class Real, class Stored> Array<Real> per_step_gammas(const Call<Real, Stored> &call) {
  const Array<Real> all = call.arena->template take<Real>(call.steps());
  const Gammas gammas(call);
  const size_t T = size_t(call.shape.T);
  parallel_loop(
      "retnet::gammas", all.extent(0), KOKKOS_LAMBDA(size_t i) { all(i) = Real(gammas.of(i / T)); });
  return all;
}

template <class Real> GatedRecurrence<Real> as_sum(const Call<Real> &call) {
  return {call.shape.Dk, call.q, call.k, per_step_gammas(call), {}, Real(call.params.real("scale"))};
}
template <class Real> void chunked(const Call<Real> &call) { gated_recurrence("retnet::chunked", call, as_sum(call)); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  gated_recurrence_vjp("retnet::backward", back, as_sum(back.call), {back.d.q, back.d.k});
}

#ifdef KOKKOS_ENABLE_CUDA
template <class Stored> StoredRule stored_rule(const Call<float, Stored> &call) {
  StoredRule rule;
  rule.alpha = per_step_gammas(call);
  rule.scale = float(call.params.real("scale"));
  return rule;
}
template <class Stored> void chunked_stored(const Call<float, Stored> &call) {
  run_16_bits("retnet::chunked", call, stored_rule(call));
}
template <class Stored> void backward_stored(const BackwardCall<float, Stored> &back) {
  run_16_bits("retnet::backward", back, stored_rule(back.call), {});
}
#endif

} // namespace

Variant retnet() {
  Variant v;
  v.aliases = {"retention"};
  v.family = "gated";
  v.update = "$A_t = gamma_h I$, $b_t = v_t$, $phi = identity$";
  v.objective = "$-<S k, v> + (1 - gamma_h) / 2 |S|^2$";
  v.source = "Sun et al. 2023 (arXiv:2307.08621), without xPos; 003 Eq 4, 16";
  v.differs = "by default one $gamma$ for all heads; with gammas=paper $1 - 2^{-5-h}$ in head $h$ as in the paper";
  v.cost = 5 * cost::Dv * cost::Dk;
  v.params = {tuned(real_param("gamma", 0.96875, 0, 1, "decay of the whole state, in the first head"), {1, 0.99, 0.9}),
              choice_param("gammas", {"alike", "paper"},
                           "paper: $gamma_h = 1 - (1 - gamma) 2^{-h}$ in head $h$; alike: $gamma$ in all heads"),
              real_param("scale", 1, -no_limit, no_limit, "factor on $q k^T$")};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
#ifdef KOKKOS_ENABLE_CUDA
                 .native({chunked_stored<BFloat16>, chunked_stored<Float16>, takes_16_bits})
                 .native_backward({backward_stored<BFloat16>, backward_stored<Float16>, takes_16_bits_back})
                 .packs()
#endif
                 .work(1.5 * cost::Dv * cost::Dk + 75 * cost::Dk + 7 * cost::Dv)};
  v.joins_heads = by_head;
  return v;
}

} // namespace recollect::variants
