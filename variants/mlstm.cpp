// SPDX-License-Identifier: Apache-2.0
// mLSTM, the matrix memory of xLSTM (Beck et al. 2024, arXiv:2405.04517, Eq 19-27). In the paper's names, beta is the
// exponential input gate i = exp(i~), and alpha the forget gate f. Both inputs are the factors, not their logarithms.
//
//   C_t = f_t C_{t-1} + i_t v_t k_t^T,   n_t = f_t n_{t-1} + i_t k_t
//   o_t = C_t (scale q_t) / max(|n_t . scale q_t|, 1)
//
// Stabilisation: M_t = max(f_t M_{t-1}, |i_t|) is the exponential of the paper's m_t. The state holds C_t / M_t and n_t
// / M_t. Then both gates of the stored state, f_t M_{t-1} / M_t and i_t / M_t, are at most 1, and the lower limit 1 of
// the divisor becomes 1 / M_t. M is stored as a factor, not as a logarithm, because differences of logarithms lose
// digits. M = 0 until the first write; until then the state is divided by 1, so that C keeps its derivative with
// respect to the gates. State: (Dv + 2) x Dk: C, then n, then (M, 0, ...). Cost per token: recurrent 5 (Dv + 1) Dk
// flops; chunked as mamba2.
#include "variants/kernels/chunked/gated_recurrence_backward.hpp"
#include "variants/kernels/chunked/normalised.hpp"

namespace recollect::variants {
namespace {

/// The number by which the stored state is divided: M, or 1 where M is 0 or so small that 1 / M overflows.
template <class Real> KOKKOS_FUNCTION Real unit_of(Real M) {
  return M < std::numeric_limits<Real>::min() ? Real(1) : M;
}
template <class Real> struct Gates {
  Real keep, add, stabiliser; // f u_{t-1} / u_t, i / u_t, and M_t, where u_t = unit_of(M_t)
};
template <class Real> KOKKOS_FUNCTION Gates<Real> stabilised(Real f, Real i, Real before) {
  const Real M = math::fmax(f * before, math::fabs(i)), unit = unit_of(M);
  return {f * unit_of(before) / unit, i / unit, M};
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
          const Real least = 1 / unit_of(gate.stabiliser);
          each(team, h.Dv, [=](int i) { h.o(t)[i] = read[i] / math::fmax(math::fabs(read[h.Dv]), least); });
          each(team, 1, [=](int) { *M = gate.stabiliser; });
          team.barrier();
        }
      });
}

/// Gates, floors and M of all steps. Writes the last M to the state, unless the caller keeps the state.
template <class Real> struct Stabilise {
  bool keeps;
  Array<Real> keep, add, floor, stabiliser;
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    once(team, [=, *this] {
      Real *const end = h.state + size_t(h.Dv + 1) * h.Dk, M = *end;
      for (int t = 0; t < h.T; ++t) {
        const Gates<Real> gate = stabilised(h.alpha[t], h.beta[t], M);
        const size_t at = h.index * h.T + t;
        keep(at) = gate.keep, add(at) = gate.add, floor(at) = 1 / unit_of(gate.stabiliser);
        M = stabiliser(at) = gate.stabiliser;
      }
      if (!keeps) *end = M;
    });
  }
};
template <class Real> Stabilise<Real> stabilise(const Call<Real> &call, bool keeps) {
  const size_t steps = call.steps();
  const Stabilise<Real> gates{keeps, allocate(call, steps), allocate(call, steps), allocate(call, steps),
                              allocate(call, steps)};
  each_head("mlstm::stabilise", call, 0, gates);
  return gates;
}
template <class Real> GatedRecurrence<Real> as_sum(const Call<Real> &call, const Stabilise<Real> &gates) {
  return {call.shape.Dk, call.q,    call.k,     gates.keep, {}, Real(call.params.real("scale")), {},
          true,          gates.add, gates.floor};
}

template <class Real> void chunked(const Call<Real> &call) {
  gated_recurrence("mlstm::chunked", call, as_sum(call, stabilise(call, false)));
}

/// Given the gradients of keep = f u_{t-1} / u, add = i / u and the floor 1 / u, computes the gradients of f and i.
/// Here u is unit_of(M), with M = max(f M_{t-1}, |i|). Where unit_of returns 1, u has no gradient. If f M_{t-1} = |i|,
/// M is f M_{t-1} (taped.hpp).
template <class Real> struct StabiliseBack {
  Stabilise<Real> of;
  Array<Real> d_keep, d_add, d_floor, d_alpha, d_beta, d_state;
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    once(team, [=, *this] {
      const size_t end = h.index * size_t(h.Dv + 2) * h.Dk + size_t(h.Dv + 1) * h.Dk;
      const Real start = h.state[size_t(h.Dv + 1) * h.Dk];
      const auto in_M = [](Real M, Real in_unit) { return unit_of(M) == M ? in_unit : Real(0); };
      Real slope = d_state(end); // gradient with respect to M_t
      for (int t = h.T - 1; t >= 0; --t) {
        const size_t at = h.index * h.T + t;
        const Real f = h.alpha[t], i = h.beta[t], before = t > 0 ? of.stabiliser(at - 1) : start, M = of.stabiliser(at),
                   unit = unit_of(M);
        slope -= in_M(M, (of.keep(at) * d_keep(at) + of.add(at) * d_add(at) + d_floor(at) / unit) / unit);
        const bool written = f * before < math::fabs(i);
        // Gradients with respect to f M_{t-1} (passed) and f u_{t-1} (kept).
        const Real passed = written ? Real(0) : slope, kept = d_keep(at) / unit;
        d_beta(at) = d_add(at) / unit + (written ? (i < 0 ? -slope : slope) : Real(0));
        d_alpha(at) = kept * unit_of(before) + passed * before;
        slope = f * (passed + in_M(before, kept));
      }
      d_state(end) = slope;
    });
  }
};
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const Stabilise<Real> gates = stabilise(call, true);
  GatedRecurrenceGradient<Real> d{back.d.q, back.d.k};
  d.alpha = allocate(call, call.steps()), d.strength = allocate(call, call.steps()),
  d.floor = allocate(call, call.steps());
  gated_recurrence_vjp("mlstm::backward", back, as_sum(call, gates), d);
  each_head("mlstm::gates", call, 0,
            StabiliseBack<Real>{gates, d.alpha, d.strength, d.floor, back.d.alpha, back.d.beta, back.d.state});
}

} // namespace

Variant mlstm() {
  Variant v;
  v.family = "gated";
  v.update = "$A_t = alpha_t I$, $b_t = beta_t v_t$, $phi = identity$, divided by $max(|n_t . q_t|, 1)$";
  v.source = "Beck et al. 2024 (arXiv:2405.04517) Eq 19-27; 003 Eq 16";
  v.cost = 5 * (cost::Dv + 1) * cost::Dk;
  v.params = {real_param("scale", 1, -no_limit, no_limit, "factor on $q k^T$; the paper's is $1/sqrt(Dk)$")};
  v.inputs = {{"beta", false, "input gate $exp(i)$ for the logit $i$: any positive number"},
              {"alpha", false, "forget gate $f$"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(1.2 * cost::Dv * cost::Dk + 80 * cost::Dk + 10 * cost::Dv)};
  v.layout = "C [Dv,Dk], n [1,Dk], M [1,Dk] (the first element: the factor by which both are divided)";
  v.state_shape = [](const Shape &s, const Params &) { return StateShape{s.Dv + 2, s.Dk}; };
  v.traits.zero_step_keeps = true;
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
