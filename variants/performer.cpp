// SPDX-License-Identifier: Apache-2.0
// Performer (Choromanski et al. 2021, arXiv:2009.14794, Lemma 1): positive random features of the exponential
// kernel, unbiased, E[phi(q) . phi(k)] = exp(scale q . k).
//
//   S_t = S_{t-1} + v_t phi(k_t)^T,   z_t = z_{t-1} + phi(k_t),   o_t = S_t phi(q_t) / (z_t . phi(q_t))
//   phi(x)_i = exp(omega_i . y - |y|^2 / 2) / sqrt(F),   y = sqrt(scale) x
//
// omega_i ~ N(0, I), orthogonal to one another in blocks of Dk. State, with F = features: (Dv + 2) x F: S, z, and the
// running maxima by which both are divided (exponential_features.hpp). Cost per token: recurrent 5 (Dv + 1) F + 4 Dk F
// flops and 3 F exponentials.
#include "harness/numerics/keys.hpp"
#include "harness/numerics/random.hpp"
#include "variants/kernels/chunked/exponential_features.hpp"
#include <cmath>

namespace recollect::variants {
namespace {

/// [F,D] rows along orthonormal directions, with the lengths of Gaussian vectors (chi with D degrees of freedom). So
/// each row by itself is N(0, I).
std::vector<double> orthogonal_gaussians(int F, int D, std::uint64_t seed) {
  std::vector<double> rows = make_keys({"orthonormal", F, D}, 1, seed);
  const std::vector<double> lengths = Stream(seed, "performer/lengths").normals(size_t(F) * D);
  for (int i = 0; i < F; ++i) {
    double square = 0;
    for (int j = 0; j < D; ++j) square += lengths[size_t(i) * D + j] * lengths[size_t(i) * D + j];
    for (int j = 0; j < D; ++j) rows[size_t(i) * D + j] *= std::sqrt(square);
  }
  return rows;
}

template <class Real> Array<Real> directions(const Call<Real> &call) {
  return constants<Real>(
      "omega", orthogonal_gaussians(call.params.integer("features"), call.shape.Dk, call.params.integer("seed")));
}

template <class Real> Features<Real> log_features(const Call<Real> &call) {
  const int F = call.params.integer("features");
  const Real scale = call.params.real("scale"), root = math::sqrt(scale), constant = math::log(Real(F)) / 2;
  const Array<Real> omega = directions(call);
  return map_features(
      call, F, KOKKOS_LAMBDA(const Real *x, int D, Real *l) {
        const Real half_square = scale * dot(x, x, D) / 2;
        for (int i = 0; i < F; ++i) l[i] = root * dot(omega.data() + size_t(i) * D, x, D) - half_square - constant;
      });
}

template <class Real> void recurrent(const Call<Real> &call) {
  exponential_recurrent("performer::recurrent", call, log_features(call));
}
template <class Real> void chunked(const Call<Real> &call) {
  exponential_chunked("performer::chunked", call, log_features(call));
}

template <class Real> void backward(const BackwardCall<Real> &back) {
  const int F = back.call.params.integer("features");
  const Real scale = back.call.params.real("scale"), root = math::sqrt(scale);
  const Array<Real> omega = directions(back.call);
  exponential_backward(
      "performer::backward", back, log_features(back.call),
      KOKKOS_LAMBDA(const Real *x, int D, const Real *d_l, Real *d_x) {
        Real all = 0;
        for (int i = 0; i < F; ++i) all += d_l[i];
        for (int j = 0; j < D; ++j) d_x[j] = -scale * all * x[j];
        for (int i = 0; i < F; ++i)
          for (int j = 0; j < D; ++j) d_x[j] += root * d_l[i] * omega(size_t(i) * D + j);
      });
}

} // namespace

Variant performer() {
  Variant v = exponential_variant([](const Shape &, const Params &p) { return p.integer("features"); });
  v.update = "$A_t = I$, $b_t = v_t$, $phi$ = positive orthogonal random features of $exp(scale q . k)$, divided by "
             "$z_t . phi(q_t)$";
  v.source = "Choromanski et al. 2021 (arXiv:2009.14794) Lemma 1, orthogonal features";
  v.differs = "the features are drawn once and never redrawn";
  v.cost = {5 * (cost::Dv + 1) * cost::parameter("features") + 4 * cost::Dk * cost::parameter("features"),
            3 * cost::parameter("features")};
  v.params = {integer_param("features", 64, 1, 65536, "random features"),
              integer_param("seed", 1, 0, 1e9, "random seed of the features"),
              tuned(real_param("scale", 1, 0, no_limit, "factor in the kernel $exp(scale q . k)$"), {4, 16})};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>).backward(backward<float>, backward<double>)};
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
