// SPDX-License-Identifier: Apache-2.0
// GateLoop (Katsch 2023, arXiv:2311.01927): a data-controlled complex decay for each key channel.
//
//   S_t = S_{t-1} diag(alpha_t lambda_t e^{i theta_t}) + v_t k_t^T
//   o_t = Re(S_t q_t)
//
// The phases theta, in radians, are the input w. If w is absent, the phases are 0, and the layer is gated_linear.
// State: Dv x 2 Dk, [real | imaginary] parts. Cost per token: recurrent 10 Dv Dk flops; chunked as gated_linear with 2
// Dk channels.
#include "variants/kernels/chunked/rotation_backward.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

/// alpha_t lambda_t e^{i theta_t} as [B,H,T,Dk,2].
template <class Real> Array<Real> complex_decays(const Call<Real> &call) {
  const bool turns = call.has("w");
  const Array<Real> a = allocate(call, 2 * call.k.extent(0));
  each_head(
      "gateloop::decays", call, 0, KOKKOS_LAMBDA(const Team &team, const Head<Real> &h) {
        each(team, h.T, [=](int t) {
          for (int j = 0; j < h.Dk; ++j) {
            const Complex<Real> turn = unit_phase(turns ? h.w(t)[j] : Real(0));
            const Real decay = h.alpha[t] * h.lambda(t)[j];
            const size_t at = 2 * ((h.index * h.T + t) * h.Dk + j);
            a(at) = decay * turn.re, a(at + 1) = decay * turn.im;
          }
        });
      });
  return a;
}

template <class Real> void recurrent(const Call<Real> &call) {
  const Array<Real> decays = complex_decays(call);
  recurrent_rows(
      "gateloop::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real *a = decays.data() + 2 * (h.index * h.T + t) * h.Dk;
        Real read = 0;
        for (int j = 0; j < h.Dk; ++j)
          read +=
              h.q(t)[j] * rotate_and_write(s, j, h.Dk, Complex<Real>{a[2 * j], a[2 * j + 1]}, h.v(t)[i] * h.k(t)[j]);
        return read;
      });
}

template <class Real> struct Phase {
  bool turns;
  Array<Real> w;
  int D;
  KOKKOS_FUNCTION Real operator()(size_t step, int j) const { return turns ? w(step * D + j) : Real(0); }
};
template <class Real> Phase<Real> phase(const Call<Real> &call) { return {call.has("w"), call.w, call.shape.Dk}; }

/// The decayed sum, with queries and keys still to be set.
template <class Real> GatedRecurrence<Real> as_sum(const Call<Real> &call) {
  GatedRecurrence<Real> sum{};
  if (call.has("alpha")) sum.alpha = call.alpha;
  sum.lambda = twice(call, call.lambda, call.shape.Dk);
  return sum;
}
template <class Real> void chunked(const Call<Real> &call) {
  const Turned<Real> turned = turn_back(call, Features<Real>{call.shape.Dk, call.q, call.k}, phase(call));
  GatedRecurrence<Real> sum = as_sum(call);
  sum.width = turned.features.width, sum.q = turned.features.q, sum.k = turned.features.k;
  gated_recurrence("gateloop::chunked", call, sum);
  turn_state(call, turned);
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const int D = call.shape.Dk;
  const GatedRecurrence<Real> sum = as_sum(call);
  GatedRecurrenceGradient<Real> d{};
  if (call.has("alpha")) d.alpha = back.d.alpha;
  d.lambda = allocate(call, sum.lambda.extent(0));
  turned_vjp("gateloop::backward", back, Features<Real>{D, call.q, call.k}, phase(call), sum, d,
             {D, back.d.q, back.d.k}, call.has("w") ? back.d.w : Array<Real>());
  const Array<Real> both = d.lambda, d_lambda = back.d.lambda;
  parallel_loop(
      "gateloop::lambda", d_lambda.extent(0), KOKKOS_LAMBDA(const size_t i) {
        const size_t at = i / D * 2 * D + i % D;
        d_lambda(i) = both(at) + both(at + D);
      });
}

} // namespace

Variant gateloop() {
  Variant v;
  v.family = "gated";
  v.update = "$A_t = diag(lambda_t e^{i theta_t})$, $b_t = v_t$, $phi = identity$, real part";
  v.source = "Katsch 2023 (arXiv:2311.01927); 003 Eq 16";
  v.cost = {10 * cost::Dv * cost::Dk, 2 * cost::Dk};
  v.inputs = {{"alpha", false, "one decay for all channels; multiplies $lambda$"},
              {"lambda", false, "modulus of each key channel's decay"},
              {"w", false, "phase of each key channel's decay in radians", "0"}};
  v.needs_one_of = {"alpha", "lambda"};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(4.7 * cost::Dv * cost::Dk + 275 * cost::Dk)};
  v.layout = "real part of S [Dv,Dk] next to its imaginary part [Dv,Dk]";
  v.state_shape = [](const Shape &s, const Params &) { return StateShape{s.Dv, 2 * s.Dk}; };
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::sum;
  return v;
}

} // namespace recollect::variants
