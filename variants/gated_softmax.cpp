// SPDX-License-Identifier: Apache-2.0
// Softmax attention that forgets: the weight of a pair is multiplied by the gates of all later steps (000 Eq 30-31;
// FoX, Lin et al. 2025).
//
//   o_t = sum_{i<=t} p(t,i) v_i,   p(t,i) ~ exp(scale q_t . k_i) prod_{j=i+1..t} alpha_j,   scale = 1/sqrt(Dk)
//
// The weights p(t,i) are normalised over i <= t, so alpha = 1 gives softmax attention. A sink adds exp(sink) to the sum
// of the weights, and 0 to the output. No gate decays this term (fla's fla/ops/attn/parallel.py, sink_bias). No finite
// state. Cost of token t: 2 t (Dk + Dv) flops and t exponentials. The parallel form adds sums of log alpha to the
// logits. It computes them as differences of running sums. Late in a long sequence, a product of few gates is then a
// small difference of large sums, so the running sums are in double, with compensation.
//
// Gradients. Let dl_ti = p(t,i) (do_t . v_i - do_t . o_t) be the gradient of a logit, and m_t the logarithm of the
// normaliser:
//
//   dalpha_s = 1/alpha_s sum_{t>=s} sum_{i<s} dl_ti        alpha_s > 0: crossing_sums.hpp
//            = sum_{t>=s} sum_{i<s} x_ti (do_t . v_i - do_t . o_t),
//              x_ti = exp(scale q_t . k_i + sum_{j=i+1..t, j!=s} log alpha_j - m_t)
//
// The second form is used if alpha_s = 0. Then a pair (t,i) contributes only if no other gate between i and t is 0.
#include "variants/kernels/attention/backward.hpp"
#include "variants/kernels/attention/crossing_sums.hpp"
#include <cmath>
#include <limits>

namespace recollect::variants {
namespace {

/// The definition, one query after another. Gates of 0 multiply the exponentials, because a logarithm of 0 has no
/// derivative.
template <class Real> struct Recurrent {
  Real scale, sink;
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const Real scale = this->scale, sink = this->sink, least = Kokkos::reduction_identity<Real>::max(),
               most = Real((std::numeric_limits<Real>::max_exponent - 1) * M_LN2); // exp(most) is finite
    Real *p = h.work, *closed = p + h.T;
    for (int t = 0; t < h.T; ++t) {
      each(team, t + 1, [=](int i) {
        Real kept = 0, zeros = 1;
        for (int j = i + 1; j <= t; ++j)
          if (h.alpha[j] > 0)
            kept += math::log(h.alpha[j]);
          else
            zeros *= h.alpha[j];
        p[i] = scale * dot(h.k(i), h.q(t), h.Dk) + kept, closed[i] = zeros;
      });
      team.barrier();
      const Real peak = reduce(
          team, t + 1, sink, [=](int i) { return closed[i] == 0 ? least : p[i]; },
          [](Real a, Real b) { return a > b ? a : b; });
      const Real taken = is_sink(sink) ? Real(math::exp(sink - peak)) : Real(0);
      const Real mass = taken + reduce(
                                    team, t + 1, Real(0),
                                    [=](int i) { return p[i] = closed[i] * math::exp(math::fmin(p[i] - peak, most)); },
                                    [](Real a, Real b) { return a + b; });
      team.barrier();
      each(team, t + 1, [=](int i) { p[i] /= mass; });
      team.barrier();
      each(team, h.Dv, [=](int c) {
        Real sum = 0;
        for (int i = 0; i <= t; ++i) sum += p[i] * h.v(i)[c];
        h.o(t)[c] = sum;
      });
      team.barrier();
    }
  }
};

/// The logit, computed from running sums. The sum of log alpha is high + low; gates of 0 are left out of this sum and
/// counted.
template <class Real> struct ForgettingBySums {
  Real scale, sink_logit;
  int T;
  static constexpr bool steady = true;
  Array<double> high, low, zeros; // [heads,T]
  KOKKOS_FUNCTION static constexpr bool normalised() { return true; }
  KOKKOS_FUNCTION Real sink() const { return sink_logit; }
  KOKKOS_FUNCTION Real operator()(size_t head, int t, int i, Real qk) const {
    return closed(head, t, i) > 0 ? -Real(HUGE_VAL) : open(head, t, i, qk);
  }
  /// The derivative of the logit with respect to scale q_t . k_i. The scale is applied later, because gates need the
  /// gradient without the scale.
  KOKKOS_FUNCTION Real slope(size_t, int, int, Real, Real) const { return 1; }
  /// The logit if gates of 0 were 1.
  KOKKOS_FUNCTION Real open(size_t head, int t, int i, Real qk) const {
    const size_t now = head * T + t, then = head * T + i;
    return scale * qk + Real((high(now) - high(then)) + (low(now) - low(then)));
  }
  /// The number of gates of 0 at steps i + 1 ... t.
  KOKKOS_FUNCTION double closed(size_t head, int t, int i) const { return zeros(head * T + t) - zeros(head * T + i); }
};

template <class Real> Real sink(const Call<Real> &call) {
  return Real(call.params.real_or("sink", double(Kokkos::reduction_identity<Real>::max())));
}
template <class Real> ForgettingBySums<Real> by_sums(const Call<Real> &call, Real scale) {
  const int T = call.shape.T;
  const size_t size = call.shape.heads() * T;
  const auto taken = [&] { return call.arena->template take<double>(size); };
  const ForgettingBySums<Real> sums{scale, sink(call), T, taken(), taken(), taken()};
  const Array<Real> alpha = call.alpha;
  parallel_loop(
      "gated_softmax::sums", call.shape.heads(), KOKKOS_LAMBDA(size_t head) {
        double high = 0, low = 0, zeros = 0;
        for (size_t at = head * T; at < (head + 1) * T; ++at) {
          const double gate = alpha(at), step = gate > 0 ? math::log(gate) : 0.0;
          const double sum = high + step, part = sum - high; // two-sum: sum + error = high + step exactly
          low += (high - (sum - part)) + (step - part);
          high = sum;
          zeros += gate > 0 ? 0 : 1;
          sums.high(at) = high, sums.low(at) = low, sums.zeros(at) = zeros;
        }
      });
  return sums;
}

template <class Real> Real scale(const Call<Real> &call) {
  return Real(call.params.real_or("scale", 1 / std::sqrt(double(call.shape.Dk))));
}
template <class Real> void recurrent(const Call<Real> &call) {
  each_head("gated_softmax::recurrent", call, 2 * size_t(call.shape.T), Recurrent<Real>{scale(call), sink(call)});
}
template <class Real> void parallel(const Call<Real> &call) {
  attend("gated_softmax::parallel", call, by_sums(call, scale(call)));
}

/// The contribution of query t to the gradient of the last gate of 0 at a step s <= t; 0 if there is no such gate.
template <class Real> struct ThroughLastClosed {
  ForgettingBySums<Real> logit;
  QueryFacts<Real> facts;
  Array<Real> d_o;
  KOKKOS_FUNCTION Real operator()(const Head<Real> &h, int t) const {
    const size_t step = h.index * h.T + t;
    Real sum = 0;
    if (logit.zeros(step) == 0) return sum;
    for (int i = t - 1; i >= 0 && logit.closed(h.index, t, i) <= 1; --i) {
      if (logit.closed(h.index, t, i) == 0) continue;
      const Real l = logit.open(h.index, t, i, dot(h.k(i), h.q(t), h.Dk)),
                 along = dot(h.v(i), d_o.data() + step * h.Dv, h.Dv);
      sum += math::exp(l - facts.normaliser(step)) * (along - facts.read(step));
    }
    return sum;
  }
};
template <class Real> struct GateGradient {
  CrossingSums<Real> crossing;
  ForgettingBySums<Real> logit;
  Array<Real> alpha, through_closed, d_alpha;
  KOKKOS_FUNCTION void operator()(size_t step) const {
    const int T = logit.T, s = int(step % T);
    const size_t head = step / T;
    if (alpha(step) > 0) {
      d_alpha(step) = crossing.total(head, s) / alpha(step);
      return;
    }
    Real sum = 0;
    for (int t = s; t < T && logit.closed(head, t, s) == 0; ++t) sum += through_closed(head * T + t);
    d_alpha(step) = sum;
  }
};

template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const Real scale = variants::scale(call);
  const ForgettingBySums<Real> logit = by_sums(call, scale);
  const CrossingSums<Real> crossing = crossing_sums(call);
  const QueryFacts<Real> facts = attend_vjp("gated_softmax::backward", back, logit, CausalMask::through_self, crossing);
  const Array<Real> d_q = back.d.q, d_k = back.d.k;
  parallel_loop(
      "gated_softmax::scale", d_q.extent(0), KOKKOS_LAMBDA(const size_t i) { d_q(i) *= scale, d_k(i) *= scale; });
  add_up("gated_softmax::nodes", call, crossing);
  const Array<Real> through_closed =
      per_step("gated_softmax::closed", call, ThroughLastClosed<Real>{logit, facts, back.d.o});
  parallel_loop("gated_softmax::gates", call.steps(),
                GateGradient<Real>{crossing, logit, call.alpha, through_closed, back.d.alpha});
}

} // namespace

Variant gated_softmax() {
  Variant v = attention_variant();
  v.aliases = {"fox", "forgetting_attention", "forgetting_attn"};
  v.cost = cost::at_least(v.cost);
  v.update = "$o_t = sum_{i<=t} softmax_i(scale q_t . k_i + sum_{j=i+1..t} log alpha_j) v_i$";
  v.source = "000 Eq 30-31, Table 2; Lin et al. 2025 (arXiv:2503.02130)";
  v.params = {tuned(automatic_param("scale", "1/sqrt(Dk)", -no_limit, no_limit, "factor on $q k^T$"), {1, 4, 16, 64}),
              automatic_param("sink", "none", -1e30, 1e30,
                              "logit of an attention sink, an additional term of the softmax's sum")};
  v.inputs = {{"alpha", true, "decay of every earlier pair's weight"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("parallel", parallel<float>, parallel<double>).backward(backward<float>, backward<double>)};
  v.traits.order_invariant = false;
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
