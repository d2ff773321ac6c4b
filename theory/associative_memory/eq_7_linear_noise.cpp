// SPDX-License-Identifier: Apache-2.0
// Retrieval noise of kernels that are powers of the inner product: linear (000 Eq 7), ReLU (Eq 15), and one that the
// paper does not derive, as a test of Eq 10 for any kernel.
#include "theory/associative_memory/noise_points.hpp"

namespace recollect::theory {
namespace {

const MemorySize own{16, 16, 12};

using Limits = std::function<void(std::uint64_t seed, std::vector<Point> &)>;

/// d^power times the noise of one pair, over `limit`, as d grows: 1 + slope / d + O(1/d^2).
void limit_of_width(const KernelLaw &law, double slope, double wrong_slope, const std::vector<int> &widths,
                    std::uint64_t seed, std::vector<Point> &points) {
  std::vector<double> h;
  std::vector<Integral> ratio, slopes;
  for (int d : widths) {
    h.push_back(1.0 / d);
    ratio.push_back(1 / law.printed(d, 1) * mean_noise(law, d, 1, one_pair(), seed));
    slopes.push_back(d * (ratio.back() + -1));
  }
  const Params params = labels({{"kernel", txt(law.kernel)}, {"largest d", num(widths.back())}});
  points.push_back(as_limit(integral_point(limit_of(h, ratio), 1), params, "exact over printed as d grows"));
  points.push_back(as_limit(integral_point(limit_of(h, slopes), slope), params, "d times its relative error"));
  points.push_back(rival_law(points.back(), "another slope", wrong_slope));
}

/// The rest of the error, (1 - 1/n) dv/(dv-2) = 1 + 1/n + O(1/n^2) along n = dv.
void limit_of_size(const KernelLaw &law, std::uint64_t seed, std::vector<Point> &points) {
  const int d = 16;
  const Integral pair = mean_noise(law, d, 1, one_pair(), seed);
  std::vector<double> h;
  std::vector<Integral> ratio, slopes;
  for (int n : {4, 6, 8, 12, 16}) {
    const Integral whole = mean_noise(law, d, 1, gaussian_pairs(n, n, gaussian_value(n)), seed);
    h.push_back(1.0 / n), ratio.push_back(1.0 / n * (whole / pair)), slopes.push_back(n * (ratio.back() + -1));
  }
  const Params params = labels({{"kernel", txt(law.kernel)}, {"d", num(d)}, {"largest n = dv", num(16)}});
  points.push_back(as_limit(integral_point(limit_of(h, ratio), 1), params, "whole memory over n pairs as n = dv grow"));
  points.push_back(as_limit(integral_point(limit_of(h, slopes), 1), params, "n times its relative error"));
  points.push_back(rival_law(points.back(), "N for N - 1", 2));
}

/// At a point of the user's own: exact over printed is (1 - 1/n) dv/(dv-2) times `width`, which tends to 1.
Point error_law(const KernelLaw &law, MemorySize size, Integral mean, double width) {
  const double rest = size.dv / (size.dv - 2.0) * width;
  const Integral ratio = 1 / (size.n * law.printed(size.d, 1)) * mean;
  return as_limit(at_most_point(std::fabs(ratio.value - 1), rest - 1 + rest / size.n, ratio.error),
                  params_of(law, size, 1), "relative error of the printed form");
}

double linear_width(double d) { return d / (d - 2); }
double quadratic_width(double d) { return d * d / ((d - 2) * (d - 4)); }

std::vector<Point> power_kernel(const KernelLaw &law, const KernelLaw &wrong, MemorySize own, double (*width)(double),
                                const std::vector<NoiseRival> &rivals, const Limits &limits, const Protocol &protocol) {
  std::vector<Point> points;
  const MemorySize size = protocol.point ? size_of(*protocol.point) : own;
  const Integral mean = noise_points(law, size, 1, protocol.seed, rivals, wrong, points);
  if (protocol.point)
    points.push_back(error_law(law, size, mean, width(size.d)));
  else
    limits(protocol.seed, points);
  return points;
}

/// The rivals of `factor` / (d - 2), a memory's whole noise but for that.
std::vector<NoiseRival> linear_rivals(double factor) {
  const auto law = [factor](const char *name, double (*wrong)(MemorySize)) {
    return NoiseRival{name, [=](MemorySize s, double) { return factor * wrong(s); }};
  };
  return {law("N for N - 1", [](MemorySize s) { return s.n * s.dv / (s.dv - 2.0) / (s.d - 2); }),
          law("d for d - 2", [](MemorySize s) { return (s.n - 1) * s.dv / (s.dv - 2.0) / s.d; }),
          law("d - 1 for d - 2", [](MemorySize s) { return (s.n - 1) * s.dv / (s.dv - 2.0) / (s.d - 1); }),
          law("values of one norm", [](MemorySize s) { return (s.n - 1) / (s.d - 2.0); })};
}

std::vector<Point> linear(const Protocol &protocol) {
  const KernelLaw law = linear_law();
  const auto limits = [&](std::uint64_t seed, std::vector<Point> &points) {
    limit_of_width(law, 2, 1, {8, 16, 32, 64, 128}, seed, points);
    limit_of_size(law, seed, points);
    points.push_back(sampled_noise_point(law, own, 1, protocol));
  };
  return power_kernel(law, relu_law(), own, linear_width, linear_rivals(1), limits, protocol);
}

Claim snr_linear() {
  return explained(
      at_parameters(
          running(asymptotic(ledger_row(
                      "snr-linear", "000 Eq 7, App A",
                      "For i.i.d. standard Gaussian keys and values the linear memory's inverse SNR of one stored "
                      "pair, in expectation over the other pairs and with |k_i|^2 replaced by its mean, is about N "
                      "/ d_k for large N and d_k.",
                      "Given the probe (N-1) dv/|v_i|^2 / |k_i|^2; averaged over it too (N-1) dv/(dv-2) / (d-2), "
                      "for d, dv > 2. Exact over printed is (1-1/N) dv/(dv-2) d/(d-2), which tends to 1.",
                      linear)),
                  {"linear", "relu_kernel"}),
          noise_params(3, false)),
      "The rate N/d is right, and for the paper's own probe the printed form is exact but for N-1. At finite size "
      "the mean over probes is larger, and it is infinite for d or dv up to 2.");
}

std::vector<Point> relu(const Protocol &protocol) {
  const KernelLaw law = relu_law();
  std::vector<NoiseRival> rivals = linear_rivals(0.5);
  rivals.push_back({"slope 0.2 below 0", [](MemorySize s, double) { return 1.04 * exact_noise(relu_law(), s, 1); }});
  const auto limits = [&](std::uint64_t seed, std::vector<Point> &points) {
    limit_of_width(law, 2, 1, {8, 16, 32, 64, 128}, seed, points);
    points.push_back(sampled_noise_point(law, own, 1, protocol));
  };
  std::vector<Point> points = power_kernel(law, linear_law(), own, linear_width, rivals, limits, protocol);
  const int d = protocol.point ? protocol.point->integer("d") : 16;
  const Integral half =
      mean_noise(law, d, 1, one_pair(), protocol.seed) / mean_noise(linear_law(), d, 1, one_pair(), protocol.seed);
  points.push_back(as_obligation(integral_point(half, 0.5), labels({{"d", num(d)}}), "ReLU over linear"));
  return points;
}

Claim snr_relu() {
  return explained(
      at_parameters(running(asymptotic(ledger_row(
                                "snr-relu", "000 Eq 15, App A",
                                "In the same set-up the ReLU kernel's inverse SNR is about N / (2 d_k): it gains over "
                                "the linear kernel by putting negative similarities to zero.",
                                "Half of the linear kernel's at every N, d, dv, given the probe and in the mean: (N-1) "
                                "dv/|v_i|^2 / (2 |k_i|^2) and (N-1) dv/(dv-2) / (2 (d-2)).",
                                relu)),
                            {"relu_kernel", "linear"}),
                    noise_params(3, false)),
      "The factor 1/2 is exact at every size; the rest is off by what the linear form is off.");
}

std::vector<Point> quadratic(const Protocol &protocol) {
  const KernelLaw law = quadratic_law();
  const auto scaled = [](double (*noise)(double d)) {
    return [=](MemorySize s, double) { return (s.n - 1) * s.dv / (s.dv - 2.0) * noise(s.d); };
  };
  const std::vector<NoiseRival> rivals{{"3 / d^2", scaled([](double d) { return 3 / (d * d); })},
                                       {"1 for 3", scaled([](double d) { return 1 / ((d - 2) * (d - 4)); })},
                                       {"3 / ((d-1) (d-3))", scaled([](double d) { return 3 / ((d - 1) * (d - 3)); })}};
  const auto limits = [&](std::uint64_t seed, std::vector<Point> &points) {
    limit_of_width(law, 6, 4, {8, 10, 12, 16, 20}, seed, points);
  };
  return power_kernel(law, linear_law(), {4, 16, 6}, quadratic_width, rivals, limits, protocol);
}

Claim snr_eq10_quadratic() {
  return explained(
      at_parameters(
          running(asymptotic(ledger_row(
                      "snr-eq10-quadratic", "000 Eq 10, 58",
                      "For any kernel SNR^-1 = N E[kappa^2(k_j,k_i)] / kappa^2(k_i,k_i), for large N and stored "
                      "values of about equal norms; here kappa = (x.y)^2, so about 3 N / d^2.",
                      "Given the probe (N-1) dv/|v_i|^2 3/|k_i|^4; averaged over it too (N-1) dv/(dv-2) "
                      "3/((d-2)(d-4)), for d > 4. The linear kernel gives Eq 7 (snr_linear).",
                      quadratic)),
                  {"linear"}),
          {integer_param("n", 4, 2, 64, "pairs stored, the probe included"),
           integer_param("d", 16, 5, 32, "key width; the mean is infinite up to 4"),
           integer_param("dv", 6, 3, 64, "value width; the mean is infinite up to 2")}),
      "Right for any kernel given the probe; it writes N for N-1 and takes the probe's value to be as long as the "
      "others. The layer is the linear memory over the features x (x) x.");
}

/// The linear memory measures |k_i|^2 itself: it is one pair's 1 / noise. Its spread over probes, and its harmonic mean.
std::vector<Point> spread_of_denominator(const Protocol &protocol) {
  std::vector<Point> points;
  for (int d : protocol.point ? std::vector<int>{protocol.point->integer("d")} : std::vector<int>{16, 64}) {
    const Rule lengths = length_rule(d, -2, 0);
    std::vector<Integral> first, second;
    for (double length : lengths.nodes) {
      const Integral noise = noise_given_probe(linear_law(), d, 1, length, one_pair(), protocol.seed);
      const Integral square = Integral{1, 0} / noise;
      first.push_back(square), second.push_back({square.value * square.value, 2 * square.value * square.error});
    }
    const Integral mean = lengths.sum(first), square = lengths.sum(second),
                   harmonic = Integral{1, 0} / mean_noise(linear_law(), d, 1, one_pair(), protocol.seed);
    const double variance = square.value - mean.value * mean.value, error = square.error + 2 * mean.value * mean.error;
    const Integral deviation{std::sqrt(variance), error / (2 * std::sqrt(variance))};
    const Params params = labels({{"d", num(d)}});
    points.push_back(as_obligation(integral_point(mean, d), params, "mean of the denominator over probes"));
    points.push_back(as_obligation(integral_point(deviation, std::sqrt(2.0 * d)), params, "its standard deviation"));
    const Point base = points.back();
    points.push_back(rival_law(base, "sqrt(d)", std::sqrt(d)));
    points.push_back(rival_law(base, "of order d", std::sqrt(2.0) * d));
    points.push_back(as_obligation(integral_point(harmonic, d - 2), params, "denominator of the mean noise"));
    points.push_back(rival_law(points.back(), "shift by 1", d - 1));
    const Integral twice = 0.5 * (Integral{1, 0} / mean_noise(relu_law(), d, 1, one_pair(), protocol.seed));
    points.push_back(as_obligation(integral_point(twice, d - 2), params, "the same for ReLU's 2 (d + ...)"));
  }
  return points;
}

Claim linear_threshold_rapid() {
  return untested_row(
      "linear-threshold-rapid", Reason::under_specified, "000 after Eq 7",
      "Past d_k ~ N the linear memory's retrieval accuracy falls rapidly.",
      "Neither the accuracy nor the threshold is defined. The noise, (N-1)/(d-2), is linear in N without "
      "a kink: snr_linear, blog_capacity_linear.");
}

Claim snr_sqrt_correction() {
  return explained(
      at_parameters(running(ledger_row("snr-sqrt-correction", "000 App A, linear and ReLU",
                                       "Replacing |k_i|^2 by its mean costs a term of order sqrt(d_k) in the "
                                       "denominator: N / (d_k + O(sqrt d_k)), for the linear and ReLU "
                                       "kernels.",
                                       "A probe's |k_i|^2 has standard deviation sqrt(2 d); the mean noise "
                                       "over probes has the denominator d - 2 exactly.",
                                       spread_of_denominator),
                            {"linear", "relu_kernel"}),
                    {integer_param("d", 64, 3, 256, "key width")}),
      "The right order for a single probe. In the exponentials of exp and SoLU the same sqrt(d) meets a rate "
      "of about 2/sqrt(d) and leaves a factor of order 1: see snr_exp_median.");
}

} // namespace

std::vector<Claim> eq_7_linear_noise() {
  return {snr_linear(), snr_relu(), snr_eq10_quadratic(), snr_sqrt_correction(), linear_threshold_rapid()};
}

} // namespace recollect::theory
