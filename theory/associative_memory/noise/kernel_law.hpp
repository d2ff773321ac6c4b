// SPDX-License-Identifier: Apache-2.0
// The laws of 000 §2.1 and Appendix A for the retrieval noise of each kernel, and for each kernel the layer of the
// registry that computes it.
//
// A memory o = sum_j kappa(k_j, q) v_j of N Gaussian pairs, read at one of its own keys k_i (the probe), returns
// kappa(k_i,k_i) v_i + r. SNR^-1 = E|r|^2 / (kappa^2(k_i,k_i) |v_i|^2) is (N-1) dv / |v_i|^2 times the noise of one
// other pair, E[kappa^2(k_j,k_i)] / kappa^2(k_i,k_i). The mean of dv / |v_i|^2 is dv / (dv - 2).
#pragma once
#include "theory/support/layer_points.hpp"

namespace recollect::theory {
/// Kernels without a temperature ignore tau. The laws are for the noise of one other pair.
struct KernelLaw {
  std::string kernel, variant;
  int power;                                         // the power of x that is a factor of kappa
  bool tempered;                                     // kappa has the factor exp(x / tau)
  std::function<double(double, double)> given_probe; // (|k_i|^2, tau): E[kappa^2(k_j,k_i) | k_i] / kappa^2(k_i,k_i)
  std::function<double(double, double)> mean;        // (d, tau): its expectation over k_i ~ N(0, I_d)
  std::function<double(double, double)> printed;     // (d, tau): SNR^-1 / N as printed, with d for |k_i|^2
};

/// a = 2 (tau - 1) / tau^2, the decay rate of exp and solu: the noise falls as exp(-a |k_i|^2).
inline double decay_rate(double tau) { return 2 * (tau - 1) / (tau * tau); }

/// kappa = x or max(x, 0): `factor` is the share of keys with kappa != 0.
inline KernelLaw first_power(const char *kernel, const char *variant, double factor) {
  const auto given_probe = [=](double square, double) { return factor / square; };
  const auto mean = [=](double d, double) { return factor / (d - 2); };
  return {kernel, variant, 1, false, given_probe, mean, given_probe};
}
inline KernelLaw linear_law() { return first_power("linear", "linear", 1); }
inline KernelLaw relu_law() { return first_power("relu", "relu_kernel", 0.5); }

inline KernelLaw exp_law() {
  const auto given_probe = [](double square, double tau) { return std::exp(-decay_rate(tau) * square); };
  const auto mean = [](double d, double tau) { return std::pow(1 + 2 * decay_rate(tau), -d / 2); };
  return {"exp", "exp_unnormalized", 0, true, given_probe, mean, given_probe};
}

/// x exp(x / tau); `printed` is Appendix A's form for general tau.
inline KernelLaw solu_law() {
  const auto given_probe = [](double square, double tau) {
    return (1 / square + 4 / (tau * tau)) * std::exp(-decay_rate(tau) * square);
  };
  const auto mean = [](double d, double tau) {
    const double a = decay_rate(tau);
    return std::pow(1 + 2 * a, -d / 2) * ((1 + 2 * a) / (d - 2) + 4 / (tau * tau));
  };
  const auto printed = [](double d, double tau) {
    return (1 + 4 * d / (tau * tau)) / d * std::exp(-decay_rate(tau) * d);
  };
  return {"solu", "solu", 1, true, given_probe, mean, printed};
}

/// (x.y)^2, the linear memory over the features x (x) x.
inline KernelLaw quadratic_law() {
  const auto given_probe = [](double square, double) { return 3 / (square * square); };
  const auto mean = [](double d, double) { return 3 / ((d - 2) * (d - 4)); };
  return {"quadratic", "linear", 2, false, given_probe, mean, given_probe};
}

/// The products x_a x_b of each row: [n,d] -> [n,d^2].
inline Vector squared_features(const Vector &rows, int d) {
  Vector features;
  features.reserve(rows.size() * d);
  for (size_t i = 0; i < rows.size(); i += d)
    for (int a = 0; a < d; ++a)
      for (int b = 0; b < d; ++b) features.push_back(rows[i + a] * rows[i + b]);
  return features;
}

/// All reads of a memory with this kernel, computed by the layer law.variant.
inline Vector kernel_reads(const KernelLaw &law, double tau, Sequence s) {
  if (law.kernel == "quadratic")
    s.k = squared_features(s.k, s.shape.Dk), s.q = squared_features(s.q, s.shape.Dk), s.shape.Dk *= s.shape.Dk;
  Assignments settings{{"scale", "1"}};
  if (law.tempered) settings["tau"] = number(tau);
  return run(law.variant, s, settings).o;
}
} // namespace recollect::theory
