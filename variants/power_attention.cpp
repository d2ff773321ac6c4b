// SPDX-License-Identifier: Apache-2.0
// Power attention (Buckman, Gelada and Zhang 2024, "Symmetric Power Transformers"; Gelada et al. 2025,
// arXiv:2507.04239): linear attention with features whose inner product is a power of q . k.
//
//   S_t = alpha_t S_{t-1} + v_t phi(k_t)^T,   o_t = scale^p S_t phi(q_t),   phi(q) . phi(k) = (q . k)^p
//   phi(x) = (sqrt(p! / (m_1! ... m_Dk!)) x_1^m_1 ... x_Dk^m_Dk),   m_1 + ... + m_Dk = p, the degree
//
// The source divides the read by the sum of its weights, then normalises it to mean 0 and variance 1. For even degrees
// the sum is positive, so the normalisation makes the division redundant. The caller must do the division and the
// normalisation. Degree 1 is linear attention. State: Dv x F, F = binomial(Dk + p - 1, p). Cost per token: recurrent 5
// Dv F flops and 2 F roots; the descriptor's cost is for degree 2.
#include "variants/kernels/chunked/feature_map.hpp"
#include "variants/kernels/common/powers.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> GatedRecurrence<Real> as_sum(const Call<Real> &call) {
  const int p = call.params.integer("degree");
  const Features<Real> phi = map_features(call, power_features(call.shape.Dk, p), Power<Real>{p});
  return {phi.width, phi.q, phi.k, call.alpha, {}, Real(std::pow(call.params.real("scale"), p))};
}
template <class Real> void recurrent(const Call<Real> &call) {
  const GatedRecurrence<Real> in = as_sum(call);
  recurrent_rows(
      "power_attention::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const size_t at = (h.index * h.T + t) * in.width;
        const Real v = h.v(t)[i], alpha = h.alpha[t], *k = in.k.data() + at;
        for (int j = 0; j < in.width; ++j) s[j] = alpha * s[j] + v * k[j];
        return in.scale * dot(s, in.q.data() + at, in.width);
      });
}
template <class Real> void chunked(const Call<Real> &call) {
  gated_recurrence("power_attention::chunked", call, as_sum(call));
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  const GatedRecurrence<Real> in = as_sum(back.call);
  const Features<Real> d{in.width, allocate(back.call, in.q.extent(0)), allocate(back.call, in.k.extent(0))};
  gated_recurrence_vjp("power_attention::backward", back, in, {d.q, d.k, back.d.alpha});
  pull_features("power_attention::backward", back, d, PowerPull<Real>{back.call.params.integer("degree")});
}

} // namespace

Variant power_attention() {
  Variant v;
  v.aliases = {"power_retention", "symmetric_power"};
  v.family = "gated";
  v.update = "$A_t = alpha_t I$, $b_t = v_t$, $phi(q) . phi(k) = (q . k)^degree$";
  v.objective = "$-<S phi(k), v> + (1 - alpha) / 2 |S|^2$";
  v.source = "Buckman et al. 2024, Symmetric Power Transformers; Gelada et al. 2025 (arXiv:2507.04239)";
  v.differs = "reads are not divided by the sum of their weights and not layer-normed";
  v.cost = {2.5 * cost::Dv * cost::Dk * cost::Dk + 2.5 * cost::Dv * cost::Dk + 6 * cost::Dk * cost::Dk,
            cost::Dk * cost::Dk + cost::Dk};
  v.params = {integer_param("degree", 2, 1, most_power, "power of the inner product; even in the source"),
              real_param("scale", 1, -no_limit, no_limit, "factor on $q . k$; the source's is $1/sqrt(Dk)$")};
  v.inputs = {{"alpha", false, "decay of the whole state"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>).backward(backward<float>, backward<double>)};
  v.layout = "S [Dv,F], F features";
  v.state_shape = [](const Shape &s, const Params &p) {
    return StateShape{s.Dv, power_features(s.Dk, p.integer("degree"))};
  };
  v.unsuitable = [](const Shape &s, const Params &p) -> std::string {
    return power_features(s.Dk, p.integer("degree")) > 1 << 20 ? "more than 2^20 features; lower degree" : "";
  };
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::sum;
  return v;
}

} // namespace recollect::variants
