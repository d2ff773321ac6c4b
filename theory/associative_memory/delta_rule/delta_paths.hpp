// SPDX-License-Identifier: Apache-2.0
// The convergence of DeltaNet: independent runs of the layer delta_net from S_0 = 0 on random keys, and exact laws of
// their errors.
//
// Let v_t = S* k_t + e_t, where e_t has covariance R and is independent of the key. Then the error E_t = S_t - S* obeys
// E_t = E_{t-1} (I - beta k_t k_t^T) + beta e_t k_t^T. Keys of width d are isotropic. Below, "or" separates the forms
// for unit keys (uniform on the sphere) and for Gaussian keys (N(0, I)):
//   E |E_t|^2 = f E |E_{t-1}|^2 + beta^2 tr(R) E|k|^2,  f = 1 - beta (2 - beta) / d  or  1 - 2 beta + beta^2 (d + 2)
//   E S_t - S* = (1 - beta E[k_1^2])^t (S_0 - S*),  E[k_1^2] = 1/d  or  1
#pragma once
#include "theory/associative_memory/delta_rule/runs.hpp"

namespace recollect::theory {
struct DeltaPaths {
  KeyLaw keys;
  int d, dv;
  double beta, noise; // R = noise^2 I
  double factor() const {
    return keys == KeyLaw::unit ? 1 - beta * (2 - beta) / d : 1 - 2 * beta + beta * beta * (d + 2);
  }
  double inflow() const { return beta * beta * noise * noise * dv * (keys == KeyLaw::unit ? 1 : d); }
  /// The limit of E |E_t|^2 as t grows; for Gaussian keys it exists for beta < 2 / (d + 2).
  double floor() const { return inflow() / (1 - factor()); }
  /// E |E_t|^2 of a run that starts with |E_0|^2 = `start`.
  double square_after(int t, double start) const {
    double square = start;
    for (int i = 0; i < t; ++i) square = factor() * square + inflow();
    return square;
  }
};

inline Dense random_target(int d, int dv, std::uint64_t seed) {
  return normal_matrix(dv, d, seed, "delta paths/target");
}

/// Runs of T steps with the values v = target k + e, e ~ N(0, law.noise^2 I), and write strength law.beta.
inline Sequence draw_paths(const DeltaPaths &law, int T, const Dense &target, const Stretch &stretch) {
  const Vector keys = random_keys(law.keys, T, law.d, stretch);
  Sequence s = runs_on(stretch, T, keys, mapped(target, keys), law.beta);
  if (law.noise != 0) {
    const Vector noise = stretch.normals("noise", size_t(T) * law.dv);
    for (size_t i = 0; i < s.v.size(); ++i) s.v[i] += law.noise * noise[i];
  }
  return s;
}
inline Output run_paths(const Sequence &s) { return run("delta_net", s); }

/// The mean of |S_T - target|^2 over independent runs of T steps.
inline Mean mean_error(const DeltaPaths &law, int T, const Dense &target, std::uint64_t seed, double wanted) {
  const auto draw = [&](const Stretch &stretch) {
    return squared_errors(run_paths(draw_paths(law, T, target, stretch)), target);
  };
  return mean_over_runs(seed, std::string("delta paths/") + name_of(law.keys), wanted, T, law.d, draw);
}
} // namespace recollect::theory
