// SPDX-License-Identifier: Apache-2.0
// Retrieval noise over signal of the linear, exp, ReLU and SoLU kernels (000 Eq 7, 13, 15, 17, Appendix A), in three
// tiers:
//
//   conditional  SNR^-1 given the probe pair (k_i, v_i), sampled over everything else
//   expectation  over the probe as well: sampled, and by quadrature at d = 16 ... 1024 with n = dv = d
//   paper        the printed large-d form at the same points, and limit: its error against the exact form as d grows
//
// The error law is checked by extrapolating the measured values to 1/d = 0 (linear, ReLU: ratio - 1 ~ 3/d) or 1/sqrt(d)
// = 0 (exp, SoLU at tau = sqrt d: the logarithms agree to leading order, the values keep a factor e^4). Sampled points:
// sample sizes follow from the resolution and a pilot sample's spread. dv >= 9 and d >= 9 keep the fourth moments of
// 1/|v_i|^2 and 1/|k_i|^2 finite, so that a standard error means something.
#include "theory/associative_memory/noise_sampling.hpp"
#include "theory/support/claims.hpp"

namespace recollect::theory {
namespace {

Params point_params(const KernelLaw &law, MemorySize size, double tau, const std::string &quantity,
                    const std::string &method) {
  Params p;
  p.set("kernel", law.kernel)
      .set("n", size.n)
      .set("d", size.d)
      .set("dv", size.dv)
      .set("quantity", quantity)
      .set("method", method);
  if (law.tempered) p.set("tau", tau);
  return p;
}

/// Sampled until `resolution` (relative) is twice the tolerance: a pilot sample's spread sets the first size, doubled
/// where the pilot was too hopeful.
NoiseSample resolved_noise(const KernelLaw &law, MemorySize size, double tau, bool fixed, double resolution,
                           std::uint64_t seed) {
  const int pilot_size = 500, most = 400000;
  const Mean pilot = mean_of(sample_noise(law, size, tau, fixed, pilot_size, seed + 0x517cc1b7).noise);
  const double spread = pilot.standard_error * std::sqrt(pilot_size) / pilot.mean;
  const double margin = 1.4; // for the pilot's own error
  int memories =
      int(std::clamp(std::pow(margin * 2 * allowed_standard_errors * spread / resolution, 2), 500.0, double(most)));
  for (;; memories = std::min(2 * memories, most)) {
    const NoiseSample sample = sample_noise(law, size, tau, fixed, memories, seed);
    const Mean noise = mean_of(sample.noise);
    if (memories == most || 2 * allowed_standard_errors * noise.standard_error < 0.95 * resolution * noise.mean)
      return sample;
  }
}

/// SNR^-1 at one (n, d, dv, tau), in all three tiers.
void sampled_points(const KernelLaw &law, MemorySize size, double tau, const Protocol &protocol,
                    std::vector<Point> &points) {
  const double resolution = protocol.full() ? 0.15 : 0.3;
  const auto [n, d, dv] = size;
  for (bool fixed : {true, false}) {
    const std::vector<double> k = Stream(protocol.seed, 103).normals(d), v = Stream(protocol.seed, 104).normals(dv);
    const double exact =
        fixed ? (n - 1) * dv / inner(v.data(), v.data(), dv) * law.given_probe(inner(k.data(), k.data(), d), tau)
              : (n - 1) * dv / (dv - 2.0) * law.mean(d, tau);
    const NoiseSample sample = resolved_noise(law, size, tau, fixed, resolution, protocol.seed);
    const Mean noise = mean_of(sample.noise), weight = mean_of(sample.weight);
    const Params params = point_params(law, size, tau, "snr_inverse", "sampled");
    const auto against = [&](double predicted) {
      return sampled_point(noise.mean, predicted, noise.standard_error, resolution * noise.mean);
    };
    points.push_back(at(against(exact), fixed ? "conditional" : "expectation", params));
    if (law.tempered)
      points.push_back(at(sampled_point(weight.mean, 1, weight.standard_error, resolution), "premise",
                          point_params(law, size, tau, fixed ? "mean_weight_given_probe" : "mean_weight", "sampled")));
    if (!fixed) points.push_back(at(against(n * law.printed(d, tau)), "paper", params));
  }
}

struct Growth {
  std::vector<int> d;
  std::vector<double> noise, error; // SNR^-1 at n = dv = d, and a bound on its error
};

/// SNR^-1 over d by quadrature, held against the exact and the printed form.
Growth quadrature_points(const KernelLaw &law, const Protocol &protocol, std::vector<Point> &points) {
  Growth growth;
  for (int d = 16; d <= 1024; d *= 2) {
    const double tau = std::sqrt(d),
                 values = (d - 1) * d / (d - 2.0); // (n - 1) dv / (dv - 2): Gaussian values, exactly
    const Integral mean = integrated_noise(law, d, tau, protocol.seed);
    growth.d.push_back(d), growth.noise.push_back(values * mean.value), growth.error.push_back(values * mean.error);
    const auto against = [&](double predicted) {
      return integral_point({growth.noise.back(), growth.error.back()}, predicted, 1e-3 * predicted);
    };
    const Params params = point_params(law, {d, d, d}, tau, "snr_inverse", "quadrature");
    points.push_back(at(against(values * law.mean(d, tau)), "expectation", params));
    points.push_back(at(against(d * law.printed(d, tau)), "paper", params));
  }
  return growth;
}

Params limit_params(const KernelLaw &law, const std::string &quantity) {
  return labels(
      {{"kernel", txt(law.kernel)}, {"quantity", txt(quantity)}, {"method", txt("extrapolated from d = 16 ... 1024")}});
}

/// linear, ReLU: exact over printed = (1 - 1/n) dv/(dv-2) d/(d-2) = 1 + 3/d + O(1/d^2) at n = dv = d.
void algebraic_limit(const KernelLaw &law, const Growth &growth, std::vector<Point> &points) {
  std::vector<double> h, ratio, slope, error, slope_error;
  for (size_t i = 0; i < growth.d.size(); ++i) {
    const double d = growth.d[i], printed = d * law.printed(d, std::sqrt(d));
    h.push_back(1 / d);
    ratio.push_back(growth.noise[i] / printed);
    slope.push_back((ratio[i] - 1) * d);
    error.push_back(growth.error[i] / printed);
    slope_error.push_back(error[i] * d);
  }
  points.push_back(at(limit_point(h, ratio, error, 1, 1e-3), "limit", limit_params(law, "exact_over_printed")));
  points.push_back(
      at(limit_point(h, slope, slope_error, 3, 0.1), "limit", limit_params(law, "d_times_relative_error")));
}

/// exp, SoLU at tau = sqrt d: log(exact / printed) = 4 + slope / sqrt d + O(1/d), beside a printed exponent of -2 (sqrt
/// d - 1).
void logarithmic_limit(const KernelLaw &law, const Growth &growth, double slope, std::vector<Point> &points) {
  std::vector<double> h, exponents, logs, slopes, error, slope_error;
  for (size_t i = 0; i < growth.d.size(); ++i) {
    const double d = growth.d[i], tau = std::sqrt(d), printed = d * law.printed(d, tau),
                 exponent = -decay_rate(tau) * d;
    h.push_back(1 / tau);
    logs.push_back(std::log(growth.noise[i] / printed));
    exponents.push_back(1 + logs[i] / exponent);
    slopes.push_back((logs[i] - 4) * tau);
    error.push_back(growth.error[i] / growth.noise[i]);
    slope_error.push_back(error[i] * tau);
  }
  points.push_back(
      at(limit_point(h, exponents, error, 1, 0.1), "limit", limit_params(law, "exact_over_printed_exponent")));
  points.push_back(at(limit_point(h, logs, error, 4, 0.5), "limit", limit_params(law, "log_exact_over_printed")));
  points.push_back(
      at(limit_point(h, slopes, slope_error, slope, 5), "limit", limit_params(law, "sqrt_d_times_log_error_beyond_4")));
}

std::vector<Point> measure(const KernelLaw &law, const std::function<void(const Growth &, std::vector<Point> &)> &limit,
                           const Protocol &protocol) {
  std::vector<Point> points;
  if (protocol.point) {
    const Params &p = *protocol.point;
    const MemorySize size{p.integer("n"), p.integer("d"), p.integer("dv")};
    sampled_points(law, size, law.tempered ? p.real_or("tau", std::sqrt(size.d)) : 1, protocol, points);
  } else {
    std::vector<MemorySize> sizes{{4, 16, 12}, {8, 16, 12}, {16, 16, 12}, {8, 32, 12}};
    if (protocol.full())
      sizes = {{4, 32, 16},  {8, 32, 16},  {16, 32, 16}, {32, 32, 16},
               {64, 32, 16}, {16, 16, 16}, {16, 64, 16}, {16, 128, 16}};
    for (const MemorySize size : sizes) sampled_points(law, size, std::sqrt(size.d), protocol, points);
  }
  limit(quadrature_points(law, protocol, points), points);
  return points;
}

Claim snr_claim(const KernelLaw &law) {
  Claim c;
  c.id = "snr_" + law.kernel;
  c.expected = Verdict::holds_asymptotically;
  c.covers = {"snr-" + law.kernel};
  c.variants = {law.variant};
  const int least = law.kernel == "exp" ? 2 : 9;
  c.params = {integer_param("n", 16, 2, 4096, "pairs stored, the probe included"),
              integer_param("d", 32, least, 1024,
                            least == 2
                                ? "key width"
                                : "key width, for a finite fourth moment of SNR^-1 at least " + std::to_string(least)),
              integer_param("dv", 16, 9, 1024, "value width; above 8 the fourth moment of 1/|v|^2 is finite")};
  if (law.tempered) c.params.push_back(automatic_param("tau", "sqrt(d)", 1, 1e6, "temperature of the kernel"));
  return c;
}

Claim algebraic_claim(const KernelLaw &law) {
  Claim c = snr_claim(law);
  c.measure = [law](const Protocol &p) {
    return measure(
        law, [&](const Growth &g, std::vector<Point> &points) { algebraic_limit(law, g, points); }, p);
  };
  return c;
}

Claim logarithmic_claim(const KernelLaw &law, double slope) {
  Claim c = snr_claim(law);
  c.measure = [law, slope](const Protocol &p) {
    return measure(
        law, [&](const Growth &g, std::vector<Point> &points) { logarithmic_limit(law, g, slope, points); }, p);
  };
  return c;
}

} // namespace

std::vector<Claim> snr() {
  Claim linear = algebraic_claim(linear_law());
  linear.source = "000 Eq 7, Appendix A";
  linear.statement = "The inverse SNR of a linear memory of N Gaussian pairs is about N / d_k.";
  linear.exact = "Given the probe (N-1) dv/|v_i|^2 / |k_i|^2; in the mean (N-1) dv/(dv-2) / (d-2), infinite for d <= 2 "
                 "or dv <= 2. "
                 "Exact over printed is (1-1/N) dv/(dv-2) d/(d-2), which tends to 1.";

  Claim relu = algebraic_claim(relu_law());
  relu.source = "000 Eq 15, Appendix A";
  relu.statement = "The inverse SNR of a ReLU-kernel memory of N Gaussian pairs is about N / (2 d_k).";
  relu.exact =
      "Half of the linear kernel's at every N, d, dv: given the probe (N-1) dv/|v_i|^2 / (2 |k_i|^2), in the mean "
      "(N-1) dv/(dv-2) / (2 (d-2)).";

  Claim exp = logarithmic_claim(exp_law(), -56.0 / 3);
  exp.source = "000 Eq 13, Appendix A";
  exp.statement =
      "The inverse SNR of an exp-kernel memory is about N / exp(2 (tau-1)/tau^2 d_k), with tau = sqrt(d_k).";
  exp.exact =
      "Given the probe (N-1) dv/|v_i|^2 exp(-a |k_i|^2), a = 2 (tau-1)/tau^2; in the mean (N-1) dv/(dv-2) "
      "(1+2a)^(-d/2). At tau = sqrt d "
      "the printed exponent is right to leading order, and the mean is e^4 = 54.6 times the printed value for large d.";

  Claim solu = logarithmic_claim(solu_law(), -56.0 / 3 + 4.0 / 5);
  solu.source = "000 Appendix A, before Eq 17";
  solu.statement = "The inverse SNR of a SoLU-kernel memory is about N (1 + 4 d/tau^2)/d exp(-2 d (tau-1)/tau^2).";
  solu.exact = "Given the probe (N-1) dv/|v_i|^2 (1/s + 4/tau^2) exp(-a s), s = |k_i|^2; in the mean (N-1) dv/(dv-2) "
               "(1+2a)^(-d/2) "
               "((1+2a)/(d-2) + 4/tau^2). Right on the log scale; the mean is e^4 times the printed value for large d.";

  return {linear, relu, exp, solu};
}

} // namespace recollect::theory
