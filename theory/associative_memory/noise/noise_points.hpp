// SPDX-License-Identifier: Apache-2.0
// The inverse SNR of one kernel memory of n Gaussian pairs, in the paper's two readings: for a probe of |k_i|^2 = d and
// |v_i|^2 = dv, as Eq 6 and Appendix A have it (the expectation is over the other pairs, then the squared norm is
// replaced by its mean), and averaged over Gaussian probes as well.
#pragma once
#include "theory/associative_memory/noise/noise_quadrature.hpp"
#include "theory/associative_memory/noise/noise_sampling.hpp"
#include "theory/support/claims.hpp"
#include "theory/support/sampling.hpp"

namespace recollect::theory {

/// A wrong law of the mean SNR^-1, over the right one.
struct NoiseRival {
  std::string name;
  double factor;
};
/// One that is wrong in the noise of a pair.
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

/// Both readings against the printed and the exact form. The mean's rivals: wrong laws, and the memory of another
/// kernel.
inline Integral noise_points(const KernelLaw &law, MemorySize size, double tau, std::uint64_t seed,
                             const std::vector<NoiseRival> &rivals, const KernelLaw &wrong_kernel,
                             std::vector<Point> &points) {
  const auto [n, d, dv] = size;
  const Params params = params_of(law, size, tau);
  const Stored gaussian = gaussian_pairs(n, dv, gaussian_value(dv));
  const Integral mean = mean_noise(law, d, tau, gaussian, seed);
  const double printed = n * law.printed(d, tau), exact = exact_noise(law, size, tau);
  points.push_back(as_statement(integral_point(mean, printed), params, "mean over the probe, as printed"));
  points.push_back(as_obligation(integral_point(mean, exact), params, "mean over the probe"));
  const Point base = points.back();
  for (const NoiseRival &rival : rivals) points.push_back(rival_law(base, rival.name, rival.factor * exact));
  const auto given = [&](const KernelLaw &kernel, double square, double value_square) {
    return noise_given_probe(kernel, d, tau, std::sqrt(square), gaussian_pairs(n, dv, only(std::sqrt(value_square))),
                             seed);
  };
  const Integral own = given(law, d, dv), other = given(law, 1.5 * d, 0.7 * dv);
  points.push_back(
      as_statement(integral_point(own, printed), params, "probe of |k_i|^2 = d, |v_i|^2 = dv, as printed"));
  points.push_back(as_obligation(integral_point(own, (n - 1) * law.given_probe(d, tau)), params,
                                 "probe of |k_i|^2 = d, |v_i|^2 = dv"));
  points.push_back(rival_system(integral_point(given(wrong_kernel, d, dv), (n - 1) * law.given_probe(d, tau)), params,
                                "memory with the " + wrong_kernel.kernel + " kernel"));
  points.push_back(as_obligation(integral_point(other, (n - 1) / 0.7 * law.given_probe(1.5 * d, tau)), params,
                                 "probe of |k_i|^2 = 1.5 d, |v_i|^2 = 0.7 dv"));
  return mean;
}

/// The same mean with nothing integrated.
inline Point sampled_noise_point(const KernelLaw &law, MemorySize size, double tau, const Protocol &protocol) {
  const auto draw = [&](size_t first, size_t count) {
    return sampled_noise(law, size, tau, protocol.seed, first, int(count));
  };
  const Mean noise = sample_mean(wanted_sensitivity(protocol), 400, 100000, in_blocks(200, draw));
  return as_obligation(sampled_point(noise, exact_noise(law, size, tau)), params_of(law, size, tau),
                       "mean over the probe, sampled");
}

/// exp and SoLU along tau = sqrt(d): log(exact / printed) is 4 + slope / sqrt(d) + O(1/d), beside a printed exponent of
/// -2 (sqrt(d) - 1).
inline void limits_of_exponent(const KernelLaw &law, double slope, double wrong_slope, std::uint64_t seed,
                               std::vector<Point> &points) {
  std::vector<double> h;
  std::vector<Integral> exponents, logs, slopes;
  for (int d : {9, 16, 25, 36, 64, 100, 144, 256}) {
    const double root = std::sqrt(d);
    h.push_back(1 / root);
    logs.push_back(log(1 / law.printed(d, root) * mean_noise(law, d, root, one_pair(), seed)));
    exponents.push_back(-1 / (2 * (root - 1)) * logs.back() + 1);
    slopes.push_back(root * (logs.back() + -4));
  }
  const Params params = labels({{"kernel", txt(law.kernel)}, {"largest d", num(256)}, {"tau", txt("sqrt(d)")}});
  points.push_back(
      as_limit(integral_point(limit_of(h, exponents), 1), params, "exact over printed exponent as d grows"));
  points.push_back(as_limit(integral_point(limit_of(h, logs), 4), params, "log of exact over printed as d grows"));
  points.push_back(rival_law(points.back(), "e^2 for e^4", 2));
  points.push_back(as_limit(integral_point(limit_of(h, slopes), slope), params, "sqrt(d) times what that lacks to 4"));
  points.push_back(rival_law(points.back(), "another slope", wrong_slope));
}

/// Where no limit is taken: (n-1)/n dv/(dv-2) e^4 `rest` is the most by which the mean exceeds the printed form
/// where tau >= sqrt(d), since log of mean over printed is d a^2 - (4/3) d a^3 + ... <= d a^2 <= 4 d / tau^2.
inline Point exponent_law(const KernelLaw &law, MemorySize size, double tau, Integral mean, double rest) {
  const Integral ratio = log(1 / (size.n * law.printed(size.d, tau)) * mean);
  return as_limit(at_most_point(ratio.value, 4 + std::log(size.dv / (size.dv - 2.0) * rest), ratio.error),
                  params_of(law, size, tau), "log of exact over printed");
}

/// What --point takes. `least_d`: for a mean that is finite; `tempered`: tau as well, sqrt(d) where it is not given.
inline std::vector<ParamSpec> noise_params(int least_d, bool tempered) {
  std::vector<ParamSpec> params{integer_param("n", 16, 2, 256, "pairs stored, the probe included"),
                                integer_param("d", 16, least_d, 256, "key width"),
                                integer_param("dv", 12, 3, 256, "value width; the mean is infinite up to 2")};
  if (tempered) params.push_back(automatic_param("tau", "sqrt(d)", 1.05, 1000, "temperature of the kernel"));
  return params;
}
inline MemorySize size_of(const Params &p) { return {p.integer("n"), p.integer("d"), p.integer("dv")}; }

} // namespace recollect::theory
