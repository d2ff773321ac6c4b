// SPDX-License-Identifier: Apache-2.0
// Mamba-3's memory: the trapezoidal rule, and keys and queries turned by angles that depend on the data
// (arXiv:2603.15569; formula as in mamba_ssm/ops/triton/mamba3/mamba3_siso_step.py of state-spaces/mamba).
//
//   S_t = alpha_t (S_{t-1} + beta_t v_{t-1} ((1 - lambda_t) * k_{t-1})^T) R_t + beta_t v_t (lambda_t * k_t)^T
//   o_t = S_t q_t
//
// * is element-wise. The input lambda is the weight of the end of a step's interval: 1/2 in the trapezoidal rule, 1 in
// Euler's. Euler's rule without w is mamba2. R_t rotates channels 2 p and 2 p + 1 by the angle beta_t (w_{2p} +
// w_{2p+1}). The source turns keys and queries by the sum of all angles so far, which gives the same outputs. State: 2
// Dv x Dk: S, then v_t k_t^T. Cost per token: recurrent 14 Dv Dk flops; chunked as mamba2 on 2 T steps.
#include "variants/kernels/chunked/trapezoid_backward.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

/// The rotations of all steps, [B,H,T,pairs,2].
template <class Real> Array<Real> turns(const Call<Real> &call, const Pairs<Real> &pairs) {
  const Array<Real> all = allocate(call, 2 * call.steps() * pairs.count);
  parallel_loop(
      "mamba3::turns", call.steps() * pairs.count, KOKKOS_LAMBDA(const size_t i) {
        const size_t step = i / pairs.count;
        const Head<Real> h = pairs.arrays.head(step / pairs.arrays.T);
        const Complex<Real> turn = unit_phase(pairs.angle(h, int(step % pairs.arrays.T), int(i % pairs.count)));
        all(2 * i) = turn.re, all(2 * i + 1) = turn.im;
      });
  return all;
}

template <class Real> void recurrent(const Call<Real> &call) {
  const Pairs<Real> pairs(call);
  const Array<Real> all = turns(call, pairs);
  recurrent_rows(
      "mamba3::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        Real *const last = s + size_t(h.Dv) * h.Dk;
        const Real *const turn = &all(2 * (h.index * h.T + t) * pairs.count), *const lambda = h.lambda(t);
        for (int j = 0; j < h.Dk; ++j) s[j] = h.alpha[t] * (s[j] + h.beta[t] * (1 - lambda[j]) * last[j]);
        for (int p = 0; p < pairs.count; ++p)
          pairs.put(pairs.at(s, p) * Complex<Real>{turn[2 * p], -turn[2 * p + 1]}, s, p);
        for (int j = 0; j < h.Dk; ++j) {
          last[j] = h.v(t)[i] * h.k(t)[j];
          s[j] += h.beta[t] * lambda[j] * last[j];
        }
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> void chunked(const Call<Real> &call) { trapezoid_chunked("mamba3::chunked", call); }
template <class Real> void backward(const BackwardCall<Real> &back) { trapezoid_vjp("mamba3::backward", back); }

} // namespace

Variant mamba3() {
  Variant v;
  v.aliases = {"mamba_3"};
  v.family = "gated";
  v.update =
      "$S_t = alpha_t (S_{t-1} + beta_t v_{t-1} ((1 - lambda_t) * k_{t-1})^T) R_t + beta_t v_t (lambda_t * k_t)^T$, "
      "$R_t$ turns pairs of channels by $beta_t w_t$";
  v.source = "arXiv:2603.15569, as in mamba_ssm/ops/triton/mamba3/mamba3_siso_step.py";
  v.differs =
      "the weight $lambda$ may differ by channel; angles are used as given, whereas the source computes them as $pi "
      "tanh$ of a projection; one input and one output per head; no skip, no gate, no bias of $k$ and $q$";
  v.cost = {14 * cost::Dv * cost::Dk, cost::Dk};
  v.inputs = {{"beta", false, "step size"},
              {"alpha", true, "decay of the whole state"},
              {"lambda", false, "weight of the interval's end, $1/2$ in the trapezoidal rule"},
              {"w", false, "angles per unit of step size; a pair turns by the sum of its two channels", "no turn"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(3 * cost::Dv * cost::Dk + 300 * cost::Dk + 30 * cost::Dv)};
  v.layout = "S [Dv,Dk], last write [Dv,Dk]";
  v.state_shape = [](const Shape &s, const Params &) { return StateShape{2 * s.Dv, s.Dk}; };
  v.traits.repeats = Repeats::sum;
  return v;
}

} // namespace recollect::variants
