// SPDX-License-Identifier: Apache-2.0
// The Omega rule of ATLAS on a linear memory (Behrouz et al. 2025, arXiv:2505.23735, Eq 9-11: OmegaNet without feature
// maps). One step reduces the losses of the last c = `window` tokens; a step of the delta rule reduces only the loss of
// the newest token.
//
//   e_i = v_i - S_{t-1} k_i,   i = t-c+1 ... t
//   S_t = alpha_t S_{t-1} + eta sum_i beta_i e_i k_i^T,   o_t = S_t q_t
//
// beta_i is the paper's weight gamma_i; tokens before the first have weight 0. State: S and the last c - 1 tokens,
// (Dv + c - 1) x (Dk + c - 1). Cost per token: (4 c + 3) Dv Dk flops.
#include "variants/kernels/online/omega_rule.hpp"
#include <utility>

namespace recollect::variants {
namespace {

template <class Real> OmegaRule<Real> as_rule(const Call<Real> &call) {
  const int window = call.params.integer("window");
  return {call.shape.Dk, call.shape.Dv, window - 1, Real(call.params.real_or("eta", 1.0 / window))};
}

template <class Real> void recurrent(const Call<Real> &call) {
  const OmegaRule<Real> rule = as_rule(call);
  const size_t n = call.state_shape.size();
  each_head(
      "atlas::recurrent", call, n + rule.errors_size(), KOKKOS_LAMBDA(const Team &team, const Head<Real> &h) {
        Real *S = h.state, *next = h.work;
        for (int t = 0; t < h.T; ++t) {
          rule.advance(team, h, t, S, next, h.work + n);
          team.barrier();
          Real *const now = next;
          next = S, S = now;
          each(team, h.Dv, [=](int i) { h.o(t)[i] = dot(now + size_t(i) * rule.pitch(), h.q(t), h.Dk); });
        }
        if (S == h.state) return;
        team.barrier();
        for (size_t i = team.rank; i < n; i += team.size) h.state[i] = S[i];
      });
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  recurrent_vjp("atlas::backward", back, as_rule(back.call));
}

} // namespace

Variant atlas() {
  Variant v;
  v.aliases = {"omega_net", "omega_rule"};
  v.family = "delta rule";
  v.update = "$S_t = alpha_t S_{t-1} + eta sum_{t-c<i<=t} beta_i (v_i - S_{t-1} k_i) k_i^T$, $phi = identity$";
  v.objective = "$sum_{t-c<i<=t} beta_i |S k_i - v_i|^2 / 2$, one gradient step of size $eta$";
  v.source = "Behrouz et al. 2025 (arXiv:2505.23735) Eq 9-11";
  v.differs = "the weight $beta_i$ depends on the token only, whereas the source's $gamma_i^{(t)}$ also depends on the "
              "step; no feature map; no momentum and no Muon, which the full ATLAS adds";
  v.cost = (4 * cost::parameter("window") + 3) * cost::Dv * cost::Dk;
  v.params = {tuned(integer_param("window", 4, 1, 1 << 10,
                                  "c, number of tokens whose losses one step descends; 1: the delta rule"),
                    {1, 2, 8}),
              automatic_param("eta", "1 / window", 0, no_limit, "step size")};
  v.inputs = {{"beta", false, "weight of the token's loss while it is in the window"},
              {"alpha", false, "decay of the memory"}};
  v.layout =
      "S [Dv,Dk] next to its window's values [Dv,window-1]; below, the keys and step sizes [window-1,Dk+window-1]";
  v.state_shape = [](const Shape &s, const Params &p) {
    const int past = p.integer("window") - 1;
    return StateShape{s.Dv + past, s.Dk + past};
  };
  v.forms = {definition([](const auto &call) { recurrent(call); }).backward(backward<float>, backward<double>)};
  return v;
}

} // namespace recollect::variants
