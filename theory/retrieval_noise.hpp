// SPDX-License-Identifier: Apache-2.0
// Noise over signal of a kernel memory (000 §2.1), measured on the program's own variants.
//
// A memory o = sum_j kappa(k_j, q) v_j holds n - 1 Gaussian pairs, is read with q = k_i, then stores (k_i, v_i) and is
// read again: the first read is the noise r, the difference of the two is the signal c v_i, and SNR^-1 = |r|^2 / |c
// v_i|^2. No formula for the kernel enters a measurement.
#pragma once
#include "forward.hpp"
#include "quadrature.hpp"
#include "random.hpp"
#include "registry.hpp"
#include "statistics.hpp"
#include "text.hpp"
#include <algorithm>

namespace recollect::theory {

/// What theory says of one kernel; tau means nothing where the kernel has no temperature.
struct KernelLaw {
  std::string kernel, variant;
  Assignments settings; // of the variant
  bool tempered;
  std::function<double(double, double)> given_probe; // (|k_i|^2, tau): E[kappa^2(k_j,k_i) | k_i] / kappa^2(k_i,k_i)
  std::function<double(double, double)> mean;        // (d, tau): its expectation over k_i ~ N(0, I_d)
  std::function<double(double, double)> printed;     // (d, tau): SNR^-1 / N as the paper prints it
};

/// a = 2 (tau - 1) / tau^2, the decay rate of exp and solu: SNR^-1 falls as exp(-a |k_i|^2).
inline double decay_rate(double tau) { return 2 * (tau - 1) / (tau * tau); }

struct MemorySize {
  int n, d, dv; // pairs stored, key width, value width
};

inline double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int c = 0; c < n; ++c) sum += a[c] * b[c];
  return sum;
}

/// The SoLU memory's reads where q is not zero, summed on the host.
inline Output solu_read(double tau, const Sequence &s) {
  const auto [B, H, T, Dk, Dv] = s.shape;
  Output output;
  output.o.assign(s.v.size(), 0.0);
  for (size_t row = 0; row < size_t(B) * H * T; ++row) {
    const double *q = &s.q[row * Dk];
    if (dot(q, q, Dk) == 0) continue;
    for (size_t j = row - row % T; j <= row; ++j) {
      const double x = dot(&s.k[j * Dk], q, Dk), kappa = x * std::exp(x / tau);
      for (int c = 0; c < Dv; ++c) output.o[row * Dv + c] += kappa * s.v[j * Dv + c];
    }
  }
  return output;
}

/// Every read of a memory of this kernel.
inline Output kernel_read(const KernelLaw &law, double tau, Sequence s) {
  if (law.kernel == "solu") return solu_read(tau, s);
  const Variant &variant = find_variant(law.variant);
  Assignments settings = law.settings;
  if (law.tempered) settings["tau"] = number(tau);
  if (law.variant == "delta_former") s.beta.assign(s.shape.heads() * s.shape.T, 0.0); // no erase: a plain kernel sum
  return forward(variant, s, {"recurrent", Real::f64, 1, variant_params(variant, settings)});
}

/// SNR^-1 of every batch element, from the reads of its last two steps.
inline std::vector<double> noise_ratios(const Shape &shape, const Output &output) {
  std::vector<double> ratios;
  for (int m = 0; m < shape.B; ++m) {
    const double *after = &output.o[(size_t(m + 1) * shape.T - 1) * shape.Dv], *before = after - shape.Dv;
    double noise = 0, signal = 0;
    for (int c = 0; c < shape.Dv; ++c)
      noise += before[c] * before[c], signal += (after[c] - before[c]) * (after[c] - before[c]);
    ratios.push_back(noise / signal);
  }
  return ratios;
}

struct Memories {
  Sequence sequence;
  std::vector<double> weights; // natural over sampled density of each
};

/// Memories first ... first + count - 1 of the seed. With `fixed`, all share the probe pair of memory 0.
///
/// Rare draws rule the plain mean of exp and solu, which are therefore drawn from a defensive mixture (Owen and Zhou
/// 2000): half of the memories as they are, half with the probe shrunk to variance 1 / (1 + 2a) and one other key
/// shifted by 2 k_i / tau. The weights are at most 2, so that the weighted mean is unbiased and has finite variance at
/// every tau.
inline Memories draw_memories(const KernelLaw &law, MemorySize size, double tau, bool fixed, size_t first, int count,
                              std::uint64_t seed) {
  const auto [n, d, dv] = size;
  const size_t keys = size_t(n) * d, values = size_t(n) * dv;
  Memories drawn;
  Sequence &s = drawn.sequence;
  s.shape = {count, 1, n, d, dv};
  s.k = Stream(seed, 101).normals(count * keys, first * keys);
  s.v = Stream(seed, 102).normals(count * values, first * values);
  s.q.assign(s.k.size(), 0.0);
  drawn.weights.assign(count, 1.0);
  const std::vector<double> probe_key = Stream(seed, 103).normals(d), probe_value = Stream(seed, 104).normals(dv);
  const Stream choice(seed, 105);
  for (int m = 0; m < count; ++m) {
    double *k = &s.k[m * keys], *probe = k + keys - d, *q = &s.q[(m + 1) * keys] - 2 * d;
    if (fixed) {
      std::copy(probe_key.begin(), probe_key.end(), probe);
      std::copy(probe_value.begin(), probe_value.end(), &s.v[(m + 1) * values] - dv);
    }
    if (law.tempered) {
      const double a = decay_rate(tau), shrink = 1 / std::sqrt(1 + 2 * a);
      const std::uint64_t index = 2 * (first + m);
      const bool tilted = choice.bits(index) & 1;
      double *shifted = k + choice.below(index + 1, n - 1) * d;
      for (int c = 0; tilted && c < d; ++c) {
        if (!fixed) probe[c] *= shrink;
        shifted[c] += 2 / tau * probe[c];
      }
      const double square = dot(probe, probe, d);
      double density = 0; // tilted over natural
      for (int j = 0; j + 1 < n; ++j)
        density += std::exp(2 / tau * dot(k + size_t(j) * d, probe, d) - 2 / (tau * tau) * square) / (n - 1);
      if (!fixed) density *= std::exp(-a * square - d * std::log(shrink));
      drawn.weights[m] = 2 / (1 + density);
    }
    std::copy(probe, probe + d, q);
    std::copy(probe, probe + d, q + d);
  }
  return drawn;
}

struct NoiseSample {
  std::vector<double> noise;  // weighted SNR^-1 of each memory
  std::vector<double> weight; // mean 1
};

inline NoiseSample sample_noise(const KernelLaw &law, MemorySize size, double tau, bool fixed, int memories,
                                std::uint64_t seed) {
  NoiseSample sample;
  const int batch = int(std::clamp<size_t>((size_t(1) << 17) / (size_t(size.n) * size.d), 1, memories));
  for (int first = 0; first < memories; first += batch) {
    const Memories drawn = draw_memories(law, size, tau, fixed, first, std::min(batch, memories - first), seed);
    const std::vector<double> ratios = noise_ratios(drawn.sequence.shape, kernel_read(law, tau, drawn.sequence));
    for (size_t m = 0; m < ratios.size(); ++m) sample.noise.push_back(drawn.weights[m] * ratios[m]);
    sample.weight.insert(sample.weight.end(), drawn.weights.begin(), drawn.weights.end());
  }
  return sample;
}

/// E[kappa^2(k_j,k_i) / kappa^2(k_i,k_i)] over Gaussian keys without sampling error: reads of keys placed at the nodes
/// of a Gauss rule along each probe, probes placed at the nodes of a rule in |k_i|^2, values the unit vectors, so that
/// one read shows every kappa.
inline double quadrature_noise(const KernelLaw &law, int d, double tau, int nodes, std::uint64_t seed) {
  const Quadrature overlap = normal_quadrature(nodes), half_square = gamma_quadrature(nodes, d / 2.0);
  const int T = nodes + 1;
  Sequence s;
  s.shape = {nodes, 1, T, d, T};
  s.k = Stream(seed, 111).normals(size_t(nodes) * T * d);
  s.q.assign(s.k.size(), 0.0);
  s.v.assign(size_t(nodes) * T * T, 0.0);
  for (int m = 0; m < nodes; ++m) {
    double *k = &s.k[size_t(m) * T * d], *probe = k + size_t(nodes) * d;
    const double scale = std::sqrt(2 * half_square.nodes[m] / dot(probe, probe, d));
    for (int c = 0; c < d; ++c) probe[c] *= scale;
    const double square = dot(probe, probe, d);
    for (int j = 0; j < nodes; ++j) { // the component along the probe becomes the node, the rest stays random
      double *key = k + size_t(j) * d;
      const double shift = overlap.nodes[j] / std::sqrt(square) - dot(key, probe, d) / square;
      for (int c = 0; c < d; ++c) key[c] += shift * probe[c];
    }
    std::copy(probe, probe + d, &s.q[(size_t(m + 1) * T - 1) * d]);
    for (int j = 0; j < T; ++j) s.v[(size_t(m) * T + j) * T + j] = 1;
  }
  const Output output = kernel_read(law, tau, s);
  double mean = 0;
  for (int m = 0; m < nodes; ++m) {
    const double *kappa = &output.o[(size_t(m + 1) * T - 1) * T], self = kappa[nodes];
    for (int j = 0; j < nodes; ++j) mean += half_square.weights[m] * overlap.weights[j] * std::pow(kappa[j] / self, 2);
  }
  return mean;
}

struct Integral {
  double value, error;
};

/// quadrature_noise with its error: what the rule gains over one of 3/4 as many nodes, and the rounding of inner
/// products of d terms of size |k|^2 ~ d, which enter as 2 x / tau (relative to x itself for the kernels that are
/// powers of x).
inline Integral integrated_noise(const KernelLaw &law, int d, double tau, std::uint64_t seed) {
  const double fine = quadrature_noise(law, d, tau, 40, seed), coarse = quadrature_noise(law, d, tau, 30, seed);
  const double rounding = 2 * epsilon_of(Real::f64) * d * (law.tempered ? d / tau : std::sqrt(d));
  return {fine, std::fabs(fine - coarse) + rounding * fine};
}

// The laws, 000 Appendix A and claims.md. E[1/chi2_d] = 1/(d-2) and E[exp(-a chi2_d)] = (1+2a)^(-d/2).

inline KernelLaw linear_law() {
  return {"linear",
          "linear",
          {},
          false,
          [](double square, double) { return 1 / square; },
          [](double d, double) { return 1 / (d - 2); },
          [](double d, double) { return 1 / d; }};
}

inline KernelLaw relu_law() {
  return {"relu",
          "delta_former",
          {{"kappa2", "relu"}},
          false,
          [](double square, double) { return 0.5 / square; },
          [](double d, double) { return 0.5 / (d - 2); },
          [](double d, double) { return 0.5 / d; }};
}

inline KernelLaw exp_law() {
  return {"exp",
          "delta_former",
          {{"kappa2", "exp"}},
          true,
          [](double square, double tau) { return std::exp(-decay_rate(tau) * square); },
          [](double d, double tau) { return std::pow(1 + 2 * decay_rate(tau), -d / 2); },
          [](double d, double tau) { return std::exp(-decay_rate(tau) * d); }};
}

/// x exp(x / tau); `printed` is Appendix A's form for general tau.
inline KernelLaw solu_law() {
  return {
      "solu",
      "",
      {},
      true,
      [](double square, double tau) { return (1 / square + 4 / (tau * tau)) * std::exp(-decay_rate(tau) * square); },
      [](double d, double tau) {
        const double a = decay_rate(tau);
        return std::pow(1 + 2 * a, -d / 2) * ((1 + 2 * a) / (d - 2) + 4 / (tau * tau));
      },
      [](double d, double tau) { return (1 + 4 * d / (tau * tau)) / d * std::exp(-decay_rate(tau) * d); }};
}

} // namespace recollect::theory
