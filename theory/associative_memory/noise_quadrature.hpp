// SPDX-License-Identifier: Apache-2.0
// Expectations of a kernel memory's noise over Gaussian keys without sampling error: keys are placed at the nodes of
// Gauss rules, kappa is read off the program's own memory, and the sums are taken over what was read.
#pragma once
#include "harness/numerics/random.hpp"
#include "theory/associative_memory/kernel_law.hpp"
#include "theory/support/integral_points.hpp"

namespace recollect::theory {

/// kappa(k_j, k_m) / kappa(k_m, k_m) for probes of squared norms `squares` and keys with k_j.k_m = overlaps(m, j)
/// |k_m|: one memory a probe, the rest of every key random. Values are the unit vectors, so that the last read shows
/// every kappa. With `key_square`, keys have that squared norm instead of a random one.
inline Dense kappa_ratios(const KernelLaw &law, int d, double tau, const std::vector<double> &squares,
                          const Dense &overlaps, std::uint64_t seed, double key_square = 0) {
  const int probes = int(squares.size()), n = overlaps.columns, T = n + 1;
  Sequence s;
  s.shape = {probes, 1, T, d, T};
  s.k = Stream(seed, 111).normals(size_t(probes) * T * d);
  s.q.assign(s.k.size(), 0.0);
  s.v.assign(size_t(probes) * T * T, 0.0);
  for (int m = 0; m < probes; ++m) {
    double *k = &s.k[size_t(m) * T * d], *probe = k + size_t(n) * d;
    const double scale = std::sqrt(squares[m] / inner(probe, probe, d));
    for (int c = 0; c < d; ++c) probe[c] *= scale;
    const double length = std::sqrt(squares[m]);
    for (int j = 0; j < n; ++j) {
      double *key = k + size_t(j) * d;
      const double along = inner(key, probe, d) / squares[m];
      for (int c = 0; c < d; ++c) key[c] -= along * probe[c];
      const double across = inner(key, key, d), x = overlaps(m, j);
      const double rest = key_square > 0 ? std::sqrt(std::max(key_square - x * x, 0.0) / across) : 1;
      for (int c = 0; c < d; ++c) key[c] = rest * key[c] + x / length * probe[c];
    }
    std::copy(probe, probe + d, &s.q[(size_t(m + 1) * T - 1) * d]);
    for (int j = 0; j < T; ++j) s.v[(size_t(m) * T + j) * T + j] = 1;
  }
  const Output output = kernel_read(law, tau, s);
  Dense ratios(probes, n);
  for (int m = 0; m < probes; ++m) {
    const double *kappa = &output.o[(size_t(m + 1) * T - 1) * T];
    for (int j = 0; j < n; ++j) ratios(m, j) = kappa[j] / kappa[n];
  }
  return ratios;
}

/// Rounding of a kernel's ratio: inner products of d terms of size `square`, relative to x for powers, times 1/tau in
/// an exponent.
inline double kernel_rounding(const KernelLaw &law, double d, double square, double tau) {
  return 4 * epsilon_of(Real::f64) * (d + 4) * (law.power * std::sqrt(d) + (law.tempered ? square / tau : 0) + 1);
}

/// E[kappa^2(k_j,k_i) | k_i] / kappa^2(k_i,k_i) for each |k_i|^2 in `squares`. The rule is for N(2 |k_i| / tau, 1)
/// where the kernel is tempered, the density of k_j.k_i / |k_i| under the weight exp(2 x / tau), and counts what it
/// sees by the ratio of densities.
inline std::vector<double> noise_given_probe(const KernelLaw &law, int d, double tau,
                                             const std::vector<double> &squares, std::uint64_t seed, int nodes = 12) {
  const Quadrature rule = normal_quadrature(nodes);
  Dense overlaps(int(squares.size()), nodes);
  const auto centre = [&](size_t m) { return law.tempered ? 2 * std::sqrt(squares[m]) / tau : 0; };
  for (size_t m = 0; m < squares.size(); ++m)
    for (int j = 0; j < nodes; ++j) overlaps(m, j) = rule.nodes[j] + centre(m);
  const Dense ratios = kappa_ratios(law, d, tau, squares, overlaps, seed);
  std::vector<double> noise(squares.size());
  for (size_t m = 0; m < squares.size(); ++m)
    for (int j = 0; j < nodes; ++j) {
      const double z = rule.nodes[j], density = std::exp(-centre(m) * z - centre(m) * centre(m) / 2);
      noise[m] += rule.weights[j] * density * ratios(m, j) * ratios(m, j);
    }
  return noise;
}

/// The same averaged over k_i ~ N(0, I_d), for d > 2 power. |k_i|^2 = 2 X: the rule is for X ~ Gamma(d/2 - power,
/// 1/(1+2a)), the density of X under the weight X^-power exp(-2 a X), and counts what it sees by the ratio of
/// densities.
inline double mean_noise(const KernelLaw &law, int d, double tau, std::uint64_t seed, int nodes) {
  const double shape = d / 2.0, tilted = shape - law.power, scale = law.tempered ? 1 / (1 + 2 * decay_rate(tau)) : 1;
  const Quadrature rule = gamma_quadrature(nodes, tilted);
  std::vector<double> squares;
  for (double x : rule.nodes) squares.push_back(2 * scale * x);
  const std::vector<double> noise = noise_given_probe(law, d, tau, squares, seed, nodes);
  double mean = 0;
  for (int m = 0; m < nodes; ++m) {
    const double x = rule.nodes[m];
    const double log_density =
        shape * std::log(scale) + law.power * std::log(x) + std::lgamma(tilted) - std::lgamma(shape) - (scale - 1) * x;
    mean += rule.weights[m] * std::exp(log_density) * noise[m];
  }
  return mean;
}

/// mean_noise with its error: what a coarser rule changes, and rounding.
inline Integral integrated_noise(const KernelLaw &law, int d, double tau, std::uint64_t seed) {
  const double fine = mean_noise(law, d, tau, seed, 12), coarse = mean_noise(law, d, tau, seed, 8);
  // lgamma of d/2 and its exponential lose d log d units.
  const double rounding = kernel_rounding(law, d, d + 40.0, tau) + 4 * epsilon_of(Real::f64) * d * std::log(d + 1);
  return {fine, std::fabs(fine - coarse) + rounding * fine};
}

} // namespace recollect::theory
