// SPDX-License-Identifier: Apache-2.0
// The inverse SNR of a kernel memory of n Gaussian pairs, in two readings of the paper. In the first reading (Eq 6 and
// Appendix A), the expectation is over the other pairs, and the probe has |k_i|^2 = d and |v_i|^2 = dv. In the second
// reading, the inverse SNR is averaged over Gaussian probes as well.
#pragma once
#include "theory/associative_memory/noise/noise_quadrature.hpp"
#include "theory/support/measure.hpp"
#include "theory/support/sampling.hpp"
#include <map>

namespace recollect::theory {
struct MemorySize {
  int n, d, dv; // pairs stored, key width, value width
};
/// A wrong law of the mean SNR^-1, divided by the right one.
struct NoiseRival {
  std::string name;
  double factor;
};
inline NoiseRival wrong_pair(const std::string &name, double wrong, double right) { return {name, wrong / right}; }

inline Params params_of(const KernelLaw &law, MemorySize size, double tau) {
  Params p;
  p.set("kernel", law.kernel).set("n", size.n).set("d", size.d).set("dv", size.dv);
  return law.tempered ? p.set("tau", tau) : p;
}

/// The exact mean: cross terms vanish, E|v_j|^2 = dv, E 1/|v_i|^2 = 1/(dv - 2).
inline double exact_noise(const KernelLaw &law, MemorySize size, double tau) {
  return (size.n - 1) * size.dv / (size.dv - 2.0) * law.mean(size.d, tau);
}

/// Compares both readings with the printed form and with the exact form, and returns the mean over probes. Rivals are
/// wrong laws of this mean, and the memory of another kernel. Points that follow get the label of this memory.
inline Integral noise_points(Points &points, const KernelLaw &law, MemorySize size, double tau, std::uint64_t seed,
                             const std::vector<NoiseRival> &rivals, const KernelLaw &wrong_kernel) {
  const auto [n, d, dv] = size;
  const Integral mean = mean_noise(law, d, tau, seed, gaussian_pairs(n, dv, gaussian_value(dv)));
  const double printed = n * law.printed(d, tau), exact = exact_noise(law, size, tau);
  points.at(params_of(law, size, tau)).statement("$SNR^-1$, mean over probes, against the printed form", mean, printed);
  auto stated = points.obligation("$SNR^-1$, mean over probes, against the exact form", mean, exact);
  for (const NoiseRival &rival : rivals) stated.but_not(rival.name, rival.factor * exact);
  const auto given = [&, n = n, d = d, dv = dv](const KernelLaw &kernel, double square, double value_square) {
    return noise_given_probe(kernel, d, tau, std::sqrt(square), seed,
                             gaussian_pairs(n, dv, only(std::sqrt(value_square))));
  };
  const Integral own = given(law, d, dv);
  const double own_law = (n - 1) * law.given_probe(d, tau);
  points.statement("$SNR^-1$ of a probe with $|k_i|^2 = d$, $|v_i|^2 = dv$, against the printed form", own, printed);
  points.obligation("$SNR^-1$ of a probe with $|k_i|^2 = d$, $|v_i|^2 = dv$, against the exact form", own, own_law);
  points.wrong_system("memory with the " + wrong_kernel.kernel + " kernel", given(wrong_kernel, d, dv), own_law);
  points.obligation("$SNR^-1$ of a probe with $|k_i|^2 = 1.5 d$, $|v_i|^2 = 0.7 dv$, against the exact form",
                    given(law, 1.5 * d, 0.7 * dv), (n - 1) / 0.7 * law.given_probe(1.5 * d, tau));
  return mean;
}

/// ratio(x) = 1 + slope / x + O(1/x^2) along growing `sizes`: compares the limit with 1, then the measured slope with
/// `slope`. Rivals can be added to the point of the slope.
template <class Ratio>
Points::Stated<Integral> limits_of_ratio(Points &points, const std::string &label, const std::string &size,
                                         double slope, const std::vector<int> &sizes, const Ratio &ratio) {
  Vector h;
  std::vector<Integral> ratios, slopes;
  for (int x : sizes) {
    h.push_back(1.0 / x), ratios.push_back(ratio(x)), slopes.push_back(x * (ratios.back() + -1));
  }
  points.limit(label, limit_of(h, ratios), 1);
  return points.limit(label + ": " + size + " times (this ratio minus 1)", limit_of(h, slopes), slope);
}

/// The mean over i of |o_i - c_i v_i|^2 / |c_i v_i|^2 for memories first ... first + count - 1 of random pairs, where
/// o_i is the read of the whole memory at k_i, and c_i v_i is the read of a memory with this pair alone.
inline Vector sampled_noise(const KernelLaw &law, MemorySize size, double tau, std::uint64_t seed, size_t first,
                            int count) {
  const auto [n, d, dv] = size;
  const size_t keys = size_t(n) * d, values = size_t(n) * dv;
  Sequence alone = of_shape({count * n, 1, 1, d, dv});
  alone.k = alone.q = Stream(seed, "noise/keys").normals(count * keys, first * keys);
  alone.v = Stream(seed, "noise/values").normals(count * values, first * values);
  Sequence whole = of_shape({count, 1, 2 * n, d, dv}); // n writes, then n reads that write a value of 0
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
/// The mean over probes as in noise_points(), by plain sampling instead of quadrature.
inline void sampled_noise_point(Points &points, const KernelLaw &law, MemorySize size, double tau,
                                const Protocol &protocol) {
  const auto draw = [&](size_t first, size_t count) {
    return sampled_noise(law, size, tau, protocol.seed, first, int(count));
  };
  points.at(params_of(law, size, tau));
  points.obligation("$SNR^-1$, mean over sampled probes, against the exact form",
                    sample_mean(wanted_sensitivity(protocol), 400, 100000, in_blocks(200, draw)),
                    exact_noise(law, size, tau));
}

const std::vector<int> growing_widths{9, 16, 25, 36, 64, 100, 144, 256};
/// The limit of y(d) as d grows, for a y that is smooth in 1 / sqrt(d).
template <class Y> Integral limit_in_root(const Y &y, const std::vector<int> &widths = growing_widths) {
  Vector h;
  std::vector<Integral> values;
  for (int d : widths) h.push_back(1 / std::sqrt(d)), values.push_back(y(d));
  return limit_of(h, values);
}

/// The exp and SoLU kernels at tau = sqrt(d), where the printed exponent is -2 (sqrt(d) - 1): log(exact / printed) is 4
/// + slope / sqrt(d) + O(1/d).
inline void limits_of_exponent(Points &points, const KernelLaw &law, double slope, double wrong_slope,
                               std::uint64_t seed) {
  std::map<int, Integral> logs; // log(exact / printed) for each width d
  for (int d : growing_widths) logs[d] = log(1 / law.printed(d, std::sqrt(d)) * mean_noise(law, d, std::sqrt(d), seed));
  points.at({{"kernel", law.kernel}, {"largest d", 256}, {"tau", "sqrt(d)"}});
  points.limit("exponent of the mean over probes / printed exponent as d grows",
               limit_in_root([&](double d) { return -1 / (2 * (std::sqrt(d) - 1)) * logs[d] + 1; }), 1);
  points.limit("log(mean over probes / printed form) as d grows", limit_in_root([&](int d) { return logs[d]; }), 4)
      .but_not("2 in place of 4", 2);
  points
      .limit("$sqrt(d)$ times (log(mean over probes / printed form) - 4) as d grows",
             limit_in_root([&](int d) { return std::sqrt(d) * (logs[d] + -4); }), slope)
      .but_not("another slope", wrong_slope);
}

/// For tau >= sqrt(d), mean / printed is at most (n-1)/n dv/(dv-2) e^4 `rest`. The reason: the logarithm of mean /
/// printed is d a^2 - (4/3) d a^3 + ... with a = decay_rate(tau), which is at most d a^2 <= 4 d / tau^2.
inline Point exponent_law(const KernelLaw &law, MemorySize size, double tau, Integral mean, double rest) {
  const Integral ratio = log(1 / (size.n * law.printed(size.d, tau)) * mean);
  return at_most_point(ratio.value, 4 + std::log(size.dv / (size.dv - 2.0) * rest), ratio.error);
}

/// `least_d` is the least width at which the mean is finite. If `tempered`, --point takes tau as well; its default is
/// sqrt(d).
inline std::vector<ParamSpec> noise_params(int least_d, bool tempered) {
  std::vector<ParamSpec> params{integer_param("n", 16, 2, 256, "pairs stored, the probe included"),
                                integer_param("d", 16, least_d, 256, "key width"),
                                integer_param("dv", 12, 3, 256, "value width; the mean is infinite up to 2")};
  if (tempered) params.push_back(automatic_param("tau", "sqrt(d)", 1.05, 1000, "temperature of the kernel"));
  return params;
}
inline MemorySize size_of(const Params &p) { return {p.integer("n"), p.integer("d"), p.integer("dv")}; }
} // namespace recollect::theory
