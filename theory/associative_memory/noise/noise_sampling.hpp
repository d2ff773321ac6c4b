// SPDX-License-Identifier: Apache-2.0
// Noise over signal of a memory by plain sampling; the probe is every pair of a memory in turn.
#pragma once
#include "theory/associative_memory/noise/kernel_law.hpp"

namespace recollect::theory {
struct MemorySize {
  int n, d, dv; // pairs stored, key width, value width
};

/// The mean over i of |o_i - c_i v_i|^2 / |c_i v_i|^2 for memories first ... first + count - 1, where o_i is the read
/// of the whole memory at k_i and c_i v_i that of a memory with this pair alone.
inline Vector sampled_noise(const KernelLaw &law, MemorySize size, double tau, std::uint64_t seed, size_t first,
                            int count) {
  const auto [n, d, dv] = size;
  const size_t keys = size_t(n) * d, values = size_t(n) * dv;
  Sequence alone = of_shape({count * n, 1, 1, d, dv});
  alone.k = alone.q = Stream(seed, "noise/keys").normals(count * keys, first * keys);
  alone.v = Stream(seed, "noise/values").normals(count * values, first * values);
  Sequence whole; // n writes, then n reads that write a value of 0
  whole.shape = {count, 1, 2 * n, d, dv};
  whole.k.assign(2 * count * keys, 0.0), whole.q = whole.k, whole.v.assign(2 * count * values, 0.0);
  for (int m = 0; m < count; ++m) {
    std::copy_n(&alone.k[m * keys], keys, &whole.k[2 * m * keys]);
    std::copy_n(&alone.k[m * keys], keys, &whole.q[(2 * m + 1) * keys]);
    std::copy_n(&alone.v[m * values], values, &whole.v[2 * m * values]);
  }
  const Vector signals = kernel_reads(law, tau, alone), reads = kernel_reads(law, tau, whole);
  Vector means(count, 0.0);
  for (int m = 0; m < count; ++m)
    for (int i = 0; i < n; ++i) {
      const double *signal = &signals[m * values + size_t(i) * dv],
                   *read = &reads[(2 * m + 1) * values + size_t(i) * dv];
      double noise = 0;
      for (int c = 0; c < dv; ++c) noise += (read[c] - signal[c]) * (read[c] - signal[c]);
      means[m] += noise / inner(signal, signal, dv) / n;
    }
  return means;
}
} // namespace recollect::theory
