// SPDX-License-Identifier: Apache-2.0
// mLSTM, the matrix memory of xLSTM (Beck et al. 2024, arXiv:2405.04517, Eq 19-27). In its names: beta is the
// exponential input gate i = exp(i~), alpha the forget gate f; both are given as the factors themselves.
//
//   C_t = f_t C_{t-1} + i_t v_t k_t^T,   n_t = f_t n_{t-1} + i_t k_t
//   o_t = C_t (scale q_t) / max(|n_t . scale q_t|, 1)
//
// Stabilised: with M_t = max(f_t M_{t-1}, |i_t|), the exponential of the paper's m_t, the state holds C_t / M_t and n_t
// / M_t, so that both its gates f_t M_{t-1} / M_t and i_t / M_t are <= 1 and the 1 of the divisor becomes 1 / M_t. M is
// kept as the factor and not as its logarithm, whose differences lose digits. State: (Dv + 2) x Dk: C over n over (M,
// 0, ...); M = 0 is the empty memory. Cost a token: recurrent 5 (Dv + 1) Dk flops; chunked as mamba2.
#include "variants/kernels/decayed_sum_vjp.hpp"
#include "variants/kernels/normalised.hpp"

namespace recollect::variants {
namespace {

template <class Real> struct Gates {
  Real keep, add, stabiliser; // f M_{t-1} / M_t, i / M_t, M_t
};
template <class Real> KOKKOS_FUNCTION Gates<Real> stabilised(Real f, Real i, Real before) {
  const Real M = math::fmax(f * before, math::fabs(i));
  return M > 0 ? Gates<Real>{f * before / M, i / M, M} : Gates<Real>{0, 0, 0};
}

template <class Real> void recurrent(const Call<Real> &call) {
  const Real scale = call.params.real("scale");
  each_head(
      "mlstm::recurrent", call, call.shape.Dv + 1, KOKKOS_LAMBDA(const Team &team, const Head<Real> &h) {
        Real *read = h.work, *M = h.state + size_t(h.Dv + 1) * h.Dk;
        for (int t = 0; t < h.T; ++t) {
          const Gates<Real> gate = stabilised(h.alpha[t], h.beta[t], *M);
          each(team, h.Dv + 1, [=](int i) {
            const Real write = gate.add * (i < h.Dv ? h.v(t)[i] : Real(1)), *k = h.k(t);
            Real *s = h.state + size_t(i) * h.Dk;
            for (int j = 0; j < h.Dk; ++j) s[j] = gate.keep * s[j] + write * k[j];
            read[i] = scale * dot(s, h.q(t), h.Dk);
          });
          team.barrier();
          each(team, h.Dv,
               [=](int i) { h.o(t)[i] = read[i] / math::fmax(math::fabs(read[h.Dv]), 1 / gate.stabiliser); });
          each(team, 1, [=](int) { *M = gate.stabiliser; });
          team.barrier();
        }
      });
}

/// Gates and floors of all steps; the state's M becomes the last one unless it is kept.
template <class Real> struct Stabilise {
  bool keeps;
  Array<Real> keep, add, floor;
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    once(team, [=, *this] {
      Real *const end = h.state + size_t(h.Dv + 1) * h.Dk, M = *end;
      for (int t = 0; t < h.T; ++t) {
        const Gates<Real> gate = stabilised(h.alpha[t], h.beta[t], M);
        const size_t at = h.index * h.T + t;
        keep(at) = gate.keep, add(at) = gate.add, floor(at) = 1 / gate.stabiliser;
        M = gate.stabiliser;
      }
      if (!keeps) *end = M;
    });
  }
};
template <class Real> DecayedSum<Real> as_sum(const Call<Real> &call, bool keeps) {
  const Stabilise<Real> gates{keeps, allocate(call, call.steps()), allocate(call, call.steps()),
                              allocate(call, call.steps())};
  each_head("mlstm::stabilise", call, 0, gates);
  return {call.shape.Dk, call.q,    call.k,     gates.keep, {}, Real(call.params.real("scale")), {},
          true,          gates.add, gates.floor};
}

template <class Real> void chunked(const Call<Real> &call) { decayed_sum("mlstm::chunked", call, as_sum(call, false)); }

/// From the gradients of keep, add and 1 / M to those of f and i. With f M_{t-1} the larger, keep is 1 and add i / M; with
/// |i|, keep is f M_{t-1} / |i| and add a sign.
template <class Real> struct StabiliseBack {
  Array<Real> keep, add, floor, d_keep, d_add, d_floor, d_alpha, d_beta, d_state;
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    once(team, [=, *this] {
      const size_t end = h.index * size_t(h.Dv + 2) * h.Dk + size_t(h.Dv + 1) * h.Dk;
      const Real start = h.state[size_t(h.Dv + 1) * h.Dk];
      Real slope = d_state(end); // in M_t
      for (int t = h.T - 1; t >= 0; --t) {
        const size_t at = h.index * h.T + t;
        const Real f = h.alpha[t], i = h.beta[t], before = t > 0 ? 1 / floor(at - 1) : start, M = 1 / floor(at);
        if (!(M > 0)) {
          d_alpha(at) = d_beta(at) = slope = 0;
          continue;
        }
        slope -= (keep(at) * d_keep(at) + add(at) * d_add(at) + d_floor(at) / M) / M;
        const bool written = f * before < math::fabs(i);
        const Real kept = d_keep(at) / M + (written ? Real(0) : slope); // in f M_{t-1}
        d_beta(at) = d_add(at) / M + (written ? (i < 0 ? -slope : slope) : Real(0));
        d_alpha(at) = kept * before;
        slope = kept * f;
      }
      d_state(end) = slope;
    });
  }
};
template <class Real> void backward(const Pullback<Real> &back) {
  const Call<Real> &call = back.call;
  const DecayedSum<Real> sum = as_sum(call, true);
  DecayedSumGradient<Real> d{back.d.q, back.d.k};
  d.alpha = allocate(call, call.steps()), d.strength = allocate(call, call.steps()),
  d.floor = allocate(call, call.steps());
  decayed_sum_vjp("mlstm::backward", back, sum, d);
  each_head("mlstm::gates", call, 0,
            StabiliseBack<Real>{sum.alpha, sum.strength, sum.floor, d.alpha, d.strength, d.floor, back.d.alpha,
                                back.d.beta, back.d.state});
}

} // namespace

Variant mlstm() {
  Variant v;
  v.family = "gated";
  v.update = "A_t = alpha_t I, b_t = beta_t v_t, phi = identity, divided by max(|n_t . q_t|, 1)";
  v.source = "Beck et al. 2024 (arXiv:2405.04517) Eq 19-27; 003 Eq 16";
  v.cost = 5 * (cost::Dv + 1) * cost::Dk;
  v.params = {real_param("scale", 1, -no_limit, no_limit, "factor on q k^T; the paper's is 1/sqrt(Dk)")};
  v.inputs = {{"beta", false, "exponential input gate i = exp(i~) as the factor, any positive number"},
              {"alpha", false, "forget gate f"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }), {"chunked", chunked<float>, chunked<double>}};
  v.forms.back().vjp = {backward<float>, backward<double>};
  v.forms.back().work = on_one_thread(1.2 * cost::Dv * cost::Dk + 80 * cost::Dk + 10 * cost::Dv);
  v.layout = "C [Dv,Dk], n [1,Dk], M [1,Dk] (the first element: the factor in whose units both are kept)";
  v.state_shape = [](const Shape &s, const Params &) { return StateShape{s.Dv + 2, s.Dk}; };
  v.traits.zero_step_keeps = true;
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
