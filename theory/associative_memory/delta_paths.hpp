// SPDX-License-Identifier: Apache-2.0
// Where DeltaNet goes: many independent runs of the program's own delta_net on random keys, against exact laws.
//
// With v_t = S* k_t + e_t, e_t independent of the key with covariance R, the error E_t = S_t - S* obeys
// E_t = E_{t-1} (I - beta k k^T) + beta e_t k^T. For isotropic keys of width d (unit: on the sphere; Gaussian: N(0,
// I)):
//   E |E_t|^2 = f E |E_{t-1}|^2 + beta^2 tr(R) E|k|^2,  f = 1 - beta (2 - beta) / d  or  1 - 2 beta + beta^2 (d + 2)
//   E S_t - S* = (1 - beta E[k_1^2])^t (S_0 - S*)
#pragma once
#include "harness/core/registry.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/statistics.hpp"
#include "harness/pipeline/forward.hpp"
#include <cmath>

namespace recollect::theory {

enum class KeyLaw { unit, gaussian };
inline const char *name_of(KeyLaw keys) { return keys == KeyLaw::unit ? "unit" : "gaussian"; }

struct DeltaPaths {
  KeyLaw keys;
  int d, dv;
  double beta, noise; // R = noise^2 I

  double factor() const {
    return keys == KeyLaw::unit ? 1 - beta * (2 - beta) / d : 1 - 2 * beta + beta * beta * (d + 2);
  }
  double inflow() const { return beta * beta * noise * noise * dv * (keys == KeyLaw::unit ? 1 : d); }
  double floor() const { return inflow() / (1 - factor()); }
  double mean_factor() const { return keys == KeyLaw::unit ? 1 - beta / d : 1 - beta; }
  /// E |E_t|^2 from |E_0|^2.
  double square_after(int t, double start) const {
    const double kept = std::pow(factor(), t);
    return kept * start + (factor() == 1 ? inflow() * t : inflow() * (1 - kept) / (1 - factor()));
  }
};

/// Isotropic keys [runs,T,d].
inline std::vector<double> draw_keys(KeyLaw law, int runs, int T, int d, std::uint64_t seed) {
  std::vector<double> k = Stream(seed, 131).normals(size_t(runs) * T * d);
  for (size_t i = 0; law == KeyLaw::unit && i < k.size(); i += d) {
    double square = 0;
    for (int c = 0; c < d; ++c) square += k[i + c] * k[i + c];
    for (int c = 0; c < d; ++c) k[i + c] /= std::sqrt(square);
  }
  return k;
}

/// `runs` sequences of T steps with v = target k + noise e, write strength beta at every step.
inline Sequence draw_paths(const DeltaPaths &law, int runs, int T, const Dense &target, std::uint64_t seed) {
  Sequence s;
  s.shape = {runs, 1, T, law.d, law.dv};
  s.k = draw_keys(law.keys, runs, T, law.d, seed), s.q = s.k;
  const size_t steps = size_t(runs) * T;
  s.v = (Dense(int(steps), law.d, s.k) * transpose(target)).data;
  const Stream noise(seed, 132);
  for (size_t i = 0; law.noise != 0 && i < s.v.size(); ++i) s.v[i] += law.noise * noise.normal(i);
  s.beta.assign(steps, law.beta);
  return s;
}

/// Final states, one a run.
inline std::vector<Dense> final_states(const Sequence &s) {
  const Output output = forward(find_variant("delta_net"), s);
  std::vector<Dense> states;
  const size_t size = output.state_shape.size();
  for (int run = 0; run < s.shape.B; ++run)
    states.emplace_back(
        s.shape.Dv, s.shape.Dk,
        std::vector<double>(output.state.begin() + run * size, output.state.begin() + (run + 1) * size));
  return states;
}

/// |S - target|_F^2 of every state.
inline std::vector<double> squared_errors(const std::vector<Dense> &states, const Dense &target) {
  std::vector<double> errors;
  for (const Dense &S : states) errors.push_back(std::pow(frobenius_norm(S - target), 2));
  return errors;
}

/// <S, direction> of every state, for testing a mean state along one direction.
inline std::vector<double> projections(const std::vector<Dense> &states, const Dense &direction) {
  std::vector<double> values;
  for (const Dense &S : states) values.push_back(trace(transpose(S) * direction));
  return values;
}

} // namespace recollect::theory
