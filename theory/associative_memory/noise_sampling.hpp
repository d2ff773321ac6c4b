// SPDX-License-Identifier: Apache-2.0
// Noise over signal of a kernel memory by sampling.
//
// A memory holds n - 1 Gaussian pairs, is read with q = k_i, then stores (k_i, v_i) and is read again: the first read
// is the noise r, the difference of the two is the signal c v_i, and SNR^-1 = |r|^2 / |c v_i|^2. No formula for the
// kernel enters a measurement.
#pragma once
#include "harness/numerics/statistics.hpp"
#include "theory/associative_memory/kernel_law.hpp"
#include "theory/associative_memory/noise_quadrature.hpp"
#include <algorithm>

namespace recollect::theory {

struct MemorySize {
  int n, d, dv; // pairs stored, key width, value width
};

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
      const double square = inner(probe, probe, d);
      double density = 0; // tilted over natural
      for (int j = 0; j + 1 < n; ++j)
        density += std::exp(2 / tau * inner(k + size_t(j) * d, probe, d) - 2 / (tau * tau) * square) / (n - 1);
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

} // namespace recollect::theory
