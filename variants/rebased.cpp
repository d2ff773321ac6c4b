// SPDX-License-Identifier: Apache-2.0
// ReBased (Aksenov et al. 2024, arXiv:2402.10644): a quadratic kernel on keys and queries after a layer norm and an
// affine map, which can place the kernel's zero anywhere (Based's kernel has none).
//
//   S_t = S_{t-1} + v_t phi(k_t)^T,   z_t = z_{t-1} + phi(k_t),   o_t = S_t phi(q_t) / (z_t . phi(q_t))
//   phi(q) . phi(k) = (q' . k')^2,   x' = gain (x - mean(x)) / sqrt(var(x) + 1e-5) + shift
//
// gain and shift are the paper's gamma and beta, here one number for all channels. The paper starts from shift = 0,
// where a query orthogonal to all keys so far has weight 0. For such a query the divisor is a sum of F terms of both
// signs that cancel, and rounding dominates the read. With shift > gain, the default, every weight is positive. State:
// (Dv + 1) x F: S, then z; F = Dk (Dk + 1) / 2. Cost per token: recurrent 4 (Dv + 1) F flops.
#include "variants/kernels/chunked/feature_map.hpp"
#include "variants/kernels/common/quadratic.hpp"
#include "variants/kernels/common/unit_rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> struct LayerNorm {
  Real gain, shift;
  explicit LayerNorm(const Params &params) : gain(params.real("gain")), shift(params.real("shift")) {}
  /// out = (x - mean) / spread; returns the spread.
  KOKKOS_FUNCTION static Real standardise(const Real *x, int D, Real *out) {
    Real mean = 0;
    for (int j = 0; j < D; ++j) mean += x[j] / D;
    for (int j = 0; j < D; ++j) out[j] = x[j] - mean;
    const Real spread = root_mean_square(out, D, Real(1e-5));
    for (int j = 0; j < D; ++j) out[j] /= spread;
    return spread;
  }
  KOKKOS_FUNCTION void operator()(const Real *x, int D, Real *out) const {
    standardise(x, D, out);
    for (int j = 0; j < D; ++j) out[j] = gain * out[j] + shift;
  }
};

/// x' as above, row by row.
template <class Real> Array<Real> normed(const Call<Real> &call, const Array<Real> &x) {
  return map_rows("layer norm", call, x, call.shape.Dk, call.shape.Dk, LayerNorm<Real>(call.params));
}

template <class Real> Array<Real> squared(const Call<Real> &call, const Array<Real> &x) {
  const int D = call.shape.Dk;
  return map_rows(
      "phi", call, x, D, quadratic_features(D),
      KOKKOS_LAMBDA(const Real *row, int n, Real *phi) { quadratic(row, n, Real(1), phi); });
}

template <class Real> Features<Real> features(const Call<Real> &call) {
  return {quadratic_features(call.shape.Dk), squared(call, normed(call, call.q)), squared(call, normed(call, call.k))};
}

template <class Real> void recurrent(const Call<Real> &call) {
  feature_recurrent("rebased::recurrent", call, features(call));
}
template <class Real> void chunked(const Call<Real> &call) {
  feature_chunked("rebased::chunked", call, features(call));
}

/// Computes the gradient of a row x from the gradient of x' x'^T. With y = (x - mean) / spread: dx = gain (dx' -
/// mean(dx') - y mean(dx' y)) / spread. `y` is scratch.
template <class Real> struct NormPull {
  int D;
  LayerNorm<Real> norm;
  Array<Real> x, d_phi, d_x, y;
  KOKKOS_FUNCTION void operator()(size_t t) const {
    Real *const own = y.data() + t * D, *const out = d_x.data() + t * D;
    const Real gain = norm.gain, shift = norm.shift, spread = norm.standardise(x.data() + t * D, D, own);
    for (int j = 0; j < D; ++j) own[j] = gain * own[j] + shift, out[j] = 0;
    add_quadratic_pull(own, D, Real(1), d_phi.data() + t * quadratic_features(D), out);
    norm.standardise(x.data() + t * D, D, own);
    Real mean = 0, along = 0;
    for (int j = 0; j < D; ++j) mean += out[j] / D, along += out[j] * own[j] / D;
    for (int j = 0; j < D; ++j) out[j] = gain * (out[j] - mean - along * own[j]) / spread;
  }
};
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const int D = call.shape.Dk;
  const Features<Real> phi = features(call), d = feature_gradients("rebased::backward", back, phi);
  const LayerNorm<Real> norm(call.params);
  const Array<Real> work = allocate(call, call.q.extent(0));
  parallel_loop("rebased::q", size_t(call.steps()), NormPull<Real>{D, norm, call.q, d.q, back.d.q, work});
  parallel_loop("rebased::k", size_t(call.steps()), NormPull<Real>{D, norm, call.k, d.k, back.d.k, work});
}

} // namespace

Variant rebased() {
  Variant v = feature_variant([](const Shape &s, const Params &) { return quadratic_features(s.Dk); });
  v.update = "$A_t = I$, $b_t = v_t$, $phi(x) = x' x'^T$ of the layer-normed $x'$, divided by $z_t . phi(q_t)$";
  v.source = "Aksenov et al. 2024 (arXiv:2402.10644)";
  v.cost = 2 * cost::Dv * cost::Dk * cost::Dk + 2 * cost::Dv * cost::Dk + 4 * cost::Dk * cost::Dk;
  v.params = {real_param("gain", 1, -no_limit, no_limit, "$gamma$, the factor after the layer norm"),
              tuned(real_param("shift", 1.5, -no_limit, no_limit, "$beta$, added after the factor"), {0})};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(7.1 * cost::Dv * cost::Dk + 43 * cost::Dk * cost::Dk)};
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
