// SPDX-License-Identifier: Apache-2.0
// Softmax attention that forgets: each weight is multiplied by the gates since its write (000 Eq 30-31; FoX, Lin et al.
// 2025).
//
//   o_t = sum_{i<=t} p(t,i) v_i,   p(t,i) ~ exp(scale q_t . k_i) prod_{j=i+1..t} alpha_j,   scale = 1/sqrt(Dk)
//
// normalised over i <= t, so that alpha = 1 is softmax attention. State: none that is finite. Cost of token t: 2 t (Dk
// + Dv) flops and t exponentials. The parallel form adds sums of log alpha to the logits: sums in double with their
// rounding carried along, because a short product late in a long sequence is a small difference of large sums.
#include "variants/kernels/attention.hpp"
#include <cmath>

namespace recollect::variants {
namespace {

/// The definition's logit: scale q.k plus log alpha over the steps i+1 ... t.
template <class Real> struct Forgetting {
  Real scale;
  Array<Real> alpha;
  int T;
  KOKKOS_FUNCTION bool normalised() const { return true; }
  KOKKOS_FUNCTION Real operator()(size_t head, int t, int i, Real qk) const {
    Real kept = 0;
    for (int j = i + 1; j <= t; ++j) kept += math::log(alpha(head * T + j)); // -infinity where a gate is 0
    return scale * qk + kept;
  }
};

/// The same from running sums: log alpha is summed as high + low, and gates of 0 are counted instead.
template <class Real> struct ForgettingBySums {
  Real scale;
  int T;
  Kokkos::View<double *, Execution> high, low, zeros; // [heads,T]
  KOKKOS_FUNCTION bool normalised() const { return true; }
  KOKKOS_FUNCTION Real operator()(size_t head, int t, int i, Real qk) const {
    const size_t now = head * T + t, then = head * T + i;
    const Real kept = Real((high(now) - high(then)) + (low(now) - low(then)));
    return zeros(now) != zeros(then) ? -Real(HUGE_VAL) : scale * qk + kept;
  }
};

template <class Real> ForgettingBySums<Real> by_sums(const Call<Real> &call, Real scale) {
  const int T = call.shape.T;
  const size_t size = call.shape.heads() * T;
  const ForgettingBySums<Real> sums{scale, T, Kokkos::View<double *, Execution>("high", size),
                                    Kokkos::View<double *, Execution>("low", size),
                                    Kokkos::View<double *, Execution>("zeros", size)};
  const Array<Real> alpha = call.alpha;
  Kokkos::parallel_for(
      "gated_softmax::sums", Kokkos::RangePolicy<Execution>(0, call.shape.heads()), KOKKOS_LAMBDA(size_t head) {
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
  attend_one_by_one("gated_softmax::recurrent", call, Forgetting<Real>{scale(call), call.alpha, call.shape.T});
}
template <class Real> void parallel(const Call<Real> &call) {
  attend("gated_softmax::parallel", call, by_sums(call, scale(call)));
}

} // namespace

Variant gated_softmax() {
  Variant v = attention_variant();
  v.cost = cost::at_least(v.cost);
  v.update = "o_t = sum_{i<=t} softmax_i(scale q_t . k_i + sum_{j=i+1..t} log alpha_j) v_i";
  v.source = "000 Eq 30-31, Table 2; Lin et al. 2025 (arXiv:2503.02130)";
  v.params = {tuned(automatic_param("scale", "1/sqrt(Dk)", -no_limit, no_limit, "factor on q k^T"), {1, 4, 16, 64})};
  v.inputs = {{"alpha", true, "what each step keeps of every earlier weight"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }), {"parallel", parallel<float>, parallel<double>}};
  v.traits.order_invariant = false;
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
