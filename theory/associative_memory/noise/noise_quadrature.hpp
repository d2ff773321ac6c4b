// SPDX-License-Identifier: Apache-2.0
// Expectations of the noise of a kernel memory over Gaussian pairs, without sampling error: the pairs are placed at the
// nodes of quadrature rules, and the layers of the registry compute noise and signal. No formula for a kernel is used.
//
// The noise r = sum_{j != i} kappa(k_j, k_i) v_j depends on a key k_j only through z = k_j . k_i / |k_i|, which is
// N(0,1). |r|^2 is quadratic in the values; therefore any set of values with the first two moments of the Gaussian
// gives the exact mean.
#pragma once
#include "harness/core/error.hpp"
#include "harness/numerics/inputs.hpp"
#include "theory/associative_memory/noise/kernel_law.hpp"
#include "theory/support/integral_points.hpp"
#include <numeric>

namespace recollect::theory {
/// What a memory stores under its keys.
struct Stored {
  Dense others;       // [n - 1, channels]: the other pairs' values, in `copies` versions side by side
  int copies;         // number of versions; |r|^2 is averaged over them
  Rule value_lengths; // |v_i|
};

/// A single known value.
inline Rule only(double x) { return {{x}, {1}, {1}}; }

/// One pair besides the probe's pair; values have length 1. The noise is then E kappa^2(k_j,k_i) / kappa^2(k_i,k_i).
inline Stored one_pair() { return {Dense(1, 1, {1}), 1, only(1)}; }

/// Sylvester's Hadamard matrix: the element is -1 to the power of the number of binary ones that row and column share.
inline double hadamard(int row, int column) {
  int shared = 0;
  for (int bits = row & column; bits; bits &= bits - 1) ++shared;
  return shared % 2 ? -1 : 1;
}
/// The least power of two that is at least n.
inline int hadamard_order(int n) {
  int order = 1;
  while (order < n) order *= 2;
  return order;
}

/// n Gaussian pairs with values of dv channels. The probe's own value has the lengths |v_i| of the rule. The values of
/// the other pairs are rows of a Hadamard matrix of order P >= n, but not its constant row. They are repeated until the
/// number of channels is a multiple of P and of dv. Then v_j . v_j' = 0, and |v_j|^2 divided by the number of copies is
/// dv; these are the means for N(0, I). The channels of every row sum to 0.
inline Stored gaussian_pairs(int n, int dv, const Rule &value_lengths) {
  const int order = hadamard_order(n), copies = order / std::gcd(order, dv);
  Stored stored{Dense(n - 1, dv * copies), copies, value_lengths};
  for (int j = 0; j + 1 < n; ++j)
    for (int c = 0; c < dv * copies; ++c) stored.others(j, c) = hadamard(j + 1, c % order);
  return stored;
}

/// The length |v_i| of a value that is N(0, I_dv), for means of 1 / |v_i|^2.
inline Rule gaussian_value(int dv) { return length_rule(dv, 1, 0); }

/// The direction of the probe.
inline Vector unit_vector(int d, std::uint64_t seed) {
  Vector u = Stream(seed, "noise/probe").normals(d);
  normalise_rows(u, d);
  return u;
}

/// |r|^2 for probes with these lengths, at every z: [length][z]. There is a memory for every z, in which every other
/// key has k_j . k_i = z length. The components of k_j across k_i, which are Gaussian in the model, have no effect. The
/// first probe is read at the step of the last pair. The others are read at later steps, which write 0 at a key of 0
/// and therefore change nothing.
inline std::vector<std::vector<Integral>> noises_at(const KernelLaw &law, int d, double tau, const Vector &lengths,
                                                    const Vector &z, const Stored &stored, std::uint64_t seed) {
  const int n = stored.others.rows, channels = stored.others.columns, cells = int(z.size()),
            T = n + int(lengths.size()) - 1;
  const Vector probe = unit_vector(d, seed);
  Dense rest(n, d, Stream(seed, "noise/rest").normals(size_t(n) * d));
  rest = rest - outer(times(rest, probe), probe);
  Sequence s = of_shape({cells, 1, T, d, channels});
  s.k.assign(size_t(cells) * T * d, 0.0), s.q = s.k, s.v.assign(size_t(cells) * T * channels, 0.0);
  for (int m = 0; m < cells; ++m) {
    const size_t first = size_t(m) * T;
    for (int j = 0; j < n; ++j)
      for (int c = 0; c < d; ++c) s.k[(first + j) * d + c] = z[m] * probe[c] + rest(j, c);
    for (size_t l = 0; l < lengths.size(); ++l)
      for (int c = 0; c < d; ++c) s.q[(first + n - 1 + l) * d + c] = lengths[l] * probe[c];
    std::copy(stored.others.data.begin(), stored.others.data.end(), &s.v[first * channels]);
  }
  const Vector o = kernel_reads(law, tau, s);
  std::vector<std::vector<Integral>> squares(lengths.size());
  for (size_t l = 0; l < lengths.size(); ++l)
    for (int m = 0; m < cells; ++m) {
      const double *r = &o[(size_t(m) * T + n - 1 + l) * channels];
      const double square = inner(r, r, channels) / stored.copies;
      // Rounding errors of the exponent, an inner product of d terms and of size |z| length, and of a sum of n terms.
      const double units = 8.0 * ((d + 4) * (law.tempered ? 1 + std::fabs(z[m]) * lengths[l] / tau : d) + n);
      squares[l].push_back({square, units * epsilon_of(Real::f64) * square});
    }
  return squares;
}
/// The noise of one probe.
inline std::vector<Integral> noise_at(const KernelLaw &law, int d, double tau, double length, const Vector &z,
                                      const Stored &stored, std::uint64_t seed) {
  return noises_at(law, d, tau, {length}, z, stored, seed)[0];
}

/// The mean of 1 / |c v_i|^2 over |v_i|, where c v_i is the read of a memory that holds the probe's pair alone.
inline Integral inverse_signal(const KernelLaw &law, int d, double tau, double length, const Rule &value_lengths,
                               std::uint64_t seed) {
  Sequence s = of_shape({1, 1, 1, d, int(value_lengths.nodes.size())}); // a channel for every length
  s.k = unit_vector(d, seed), s.v = value_lengths.nodes;
  for (double &x : s.k) x *= length;
  s.q = s.k;
  std::vector<Integral> inverse;
  const double units = 8.0 * (d + 4) * (law.tempered ? 1 + length * length / tau : d);
  for (double o : kernel_reads(law, tau, s)) inverse.push_back({1 / (o * o), units * epsilon_of(Real::f64) / (o * o)});
  return value_lengths.sum(inverse);
}

/// The z around which the integrand has its mass: 0, or 2 |k_i| / tau for a kernel with temperature, because of its
/// squared exponential.
inline double centre_of_mass(const KernelLaw &law, double tau, double length) {
  return law.tempered ? 2 * length / tau : 0;
}
/// Usage error if kappa^2 overflows.
inline void refuse_overflow(const KernelLaw &law, int d, double tau, double length, double largest_z) {
  if (law.tempered && largest_z * length / tau > 350)
    usage_error("the exp kernel leaves float64's range at d = " + std::to_string(d) + ", tau = " + number(tau) +
                ": choose a larger tau or a smaller d");
}

/// SNR^-1 = |r|^2 / |c v_i|^2 for a given |k_i|, averaged over the other pairs.
inline Integral noise_given_probe(const KernelLaw &law, int d, double tau, double length, std::uint64_t seed,
                                  const Stored &stored = one_pair()) {
  const Rule z = normal_rule(centre_of_mass(law, tau, length));
  refuse_overflow(law, d, tau, length, z.nodes.back());
  return z.sum(noise_at(law, d, tau, length, z.nodes, stored, seed)) *
         inverse_signal(law, d, tau, length, stored.value_lengths, seed);
}

/// Quadrature over X ~ N(0,1), divided into panels of at most `width`. It suits integrands whose product with the
/// density has its mass within 8 of a centre between `low` and `high`.
inline std::vector<Rule> normal_rules(double low, double high, double width) {
  const int panels = int(std::ceil((high - low + 16) / width));
  std::vector<Rule> rules;
  for (int i = 0; i < panels; ++i) {
    const double begin = low - 8 + (high - low + 16) * i / panels, end = low - 8 + (high - low + 16) * (i + 1) / panels;
    rules.push_back(two_panels(begin, begin, end, normal_density));
  }
  return rules;
}

/// SNR^-1 for every length at common nodes of z. A memory is filled once and all probes read it; with many pairs this
/// is much less work than a memory for every probe.
inline std::vector<Integral> noise_given_probes(const KernelLaw &law, int d, double tau, const Vector &lengths,
                                                const Stored &stored, std::uint64_t seed) {
  const auto [shortest, longest] = std::minmax_element(lengths.begin(), lengths.end());
  std::vector<Integral> given(lengths.size(), Integral{0});
  for (const Rule &z : normal_rules(centre_of_mass(law, tau, *shortest), centre_of_mass(law, tau, *longest), 6)) {
    refuse_overflow(law, d, tau, *longest, *std::max_element(z.nodes.begin(), z.nodes.end()));
    const auto noise = noises_at(law, d, tau, lengths, z.nodes, stored, seed);
    for (size_t l = 0; l < lengths.size(); ++l) given[l] = given[l] + z.sum(noise[l]);
  }
  for (size_t l = 0; l < lengths.size(); ++l)
    given[l] = given[l] * inverse_signal(law, d, tau, lengths[l], stored.value_lengths, seed);
  return given;
}

/// SNR^-1 averaged over the other pairs and over the probe k_i ~ N(0, I_d); finite for d > 2 law.power.
inline Integral mean_noise(const KernelLaw &law, int d, double tau, std::uint64_t seed,
                           const Stored &stored = one_pair()) {
  const Rule lengths = length_rule(d, law.power, law.tempered ? decay_rate(tau) : 0);
  constexpr int many = 32; // with more pairs than this, common nodes take less work
  if (stored.others.rows >= many) return lengths.sum(noise_given_probes(law, d, tau, lengths.nodes, stored, seed));
  return lengths.integral([&](double length) { return noise_given_probe(law, d, tau, length, seed, stored); });
}
} // namespace recollect::theory
