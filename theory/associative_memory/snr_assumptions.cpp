// SPDX-License-Identifier: Apache-2.0
// The assumptions under the SNR algebra of 000 Eq 54-58: the normaliser, vanishing cross terms, zero-mean values, equal
// value norms, the variance of an inner product, and a kernel that the paper does not derive.
#include "harness/numerics/linalg.hpp"
#include "theory/associative_memory/noise_sampling.hpp"
#include "theory/support/claims.hpp"

namespace recollect::theory {
namespace {

/// Memories of n - 1 Gaussian pairs, values of mean `mean` in every channel, read at one fixed probe of norm sqrt d.
/// The first Dv channels hold the pairs' values; the next n - 1 their unit vectors, so that one read shows r and every
/// kappa.
struct Split {
  std::vector<double> noise, diagonal; // |r|^2 and sum_j kappa_j^2 |v_j|^2 of every memory
};
Split split_noise(const KernelLaw &law, MemorySize size, double tau, double mean, int memories, std::uint64_t seed) {
  const auto [n, d, dv] = size;
  const int others = n - 1, width = dv + others;
  Sequence s;
  s.shape = {memories, 1, others, d, width};
  s.k = Stream(seed, 161).normals(size_t(memories) * others * d);
  s.q.assign(s.k.size(), 0.0);
  s.v.assign(size_t(memories) * others * width, 0.0);
  const Stream values(seed, 162);
  for (int m = 0; m < memories; ++m) {
    for (int j = 0; j < others; ++j) {
      double *v = &s.v[(size_t(m) * others + j) * width];
      for (int c = 0; c < dv; ++c) v[c] = mean + values.normal((size_t(m) * others + j) * dv + c);
      v[dv + j] = 1;
    }
    for (int c = 0; c < d; ++c) s.q[(size_t(m + 1) * others - 1) * d + c] = 1; // the probe (1, ..., 1)
  }
  const Output output = kernel_read(law, tau, s);
  Split split{std::vector<double>(memories), std::vector<double>(memories)};
  for (int m = 0; m < memories; ++m) {
    const double *o = &output.o[(size_t(m + 1) * others - 1) * width];
    split.noise[m] = inner(o, o, dv);
    for (int j = 0; j < others; ++j) {
      const double *v = &s.v[(size_t(m) * others + j) * width];
      split.diagonal[m] += o[dv + j] * o[dv + j] * inner(v, v, dv);
    }
  }
  return split;
}

/// E kappa and E kappa^2 over k_j at |k_i|^2 = square.
struct Moments {
  double first, second;
};
Moments moments_of(const KernelLaw &law, double square, double tau) {
  if (law.kernel == "relu") return {std::sqrt(square / (2 * M_PI)), square / 2};
  return {std::exp(square / (2 * tau * tau)), std::exp(2 * square / (tau * tau))}; // exp
}

/// tau large enough that the exp kernel's own moments have light tails: log kappa^2 has variance 4 d / tau^2.
constexpr double mild = 16;

std::vector<Point> cross_terms(const Protocol &protocol) {
  std::vector<Point> points;
  const MemorySize size{10, 16, 8};
  const int others = size.n - 1, memories = protocol.full() ? 60000 : 8000;
  for (const KernelLaw &law : {relu_law(), exp_law()})
    for (double mean : {0.0, 1.0}) {
      const Split split = split_noise(law, size, mild, mean, memories, protocol.seed);
      const Moments kappa = moments_of(law, size.d, mild);
      std::vector<double> cross, whole = split.noise;
      for (int m = 0; m < memories; ++m) cross.push_back(split.noise[m] - split.diagonal[m]);
      const double diagonal = others * size.dv * (1 + mean * mean) * kappa.second;
      const double expected = others * (others - 1.0) * size.dv * mean * mean * kappa.first * kappa.first;
      const Mean measured = mean_of(cross);
      points.push_back(at(sampled_point(measured.mean, expected, measured.standard_error, 0.5 * diagonal),
                          mean == 0 ? "exact" : "boundary",
                          labels({{"kernel", txt(law.kernel)},
                                  {"n", num(size.n)},
                                  {"d", num(size.d)},
                                  {"dv", num(size.dv)},
                                  {"value_mean", num(mean)},
                                  {"quantity", txt("sum of cross terms of |r|^2")}})));
    }
  return points;
}

std::vector<Point> value_mean(const Protocol &protocol) {
  std::vector<Point> points;
  const MemorySize size{20, 16, 8};
  const double mean = 1, others = size.n - 1;
  for (const KernelLaw &law : {relu_law(), exp_law()}) {
    const Moments kappa = moments_of(law, size.d, mild);
    const double without = others * size.dv * (1 + mean * mean) * kappa.second;
    const double with = without + others * (others - 1) * size.dv * mean * mean * kappa.first * kappa.first;
    const Mean noise = mean_of(split_noise(law, size, mild, mean, protocol.full() ? 40000 : 6000, protocol.seed).noise);
    const Params p = labels({{"kernel", txt(law.kernel)},
                             {"n", num(size.n)},
                             {"d", num(size.d)},
                             {"dv", num(size.dv)},
                             {"value_mean", num(mean)},
                             {"quantity", txt("mean of |r|^2")}});
    points.push_back(at(sampled_point(noise.mean, with, noise.standard_error, 0.4 * with), "exact", p));
    points.push_back(at(bounded_point(noise.mean, Point::at_least, 1.5 * without,
                                      allowed_standard_errors * noise.standard_error, 0.5 * without),
                        "boundary",
                        Params(p).set("quantity", "mean of |r|^2 against 1.5 times the form without cross terms")));
  }
  return points;
}

/// Channels hold the noise values first, the probe's value after them: one read of softmax attention shows both over
/// the same Z.
std::vector<double> split_ratios(const std::string &variant, double tau, int memories, int n, int d, int dv,
                                 std::uint64_t seed) {
  Sequence s;
  s.shape = {memories, 1, n, d, 2 * dv};
  s.k = Stream(seed, 163).normals(size_t(memories) * n * d);
  s.q = s.k; // the last read is at the last key, the probe
  s.v = Stream(seed, 164).normals(size_t(memories) * n * 2 * dv);
  for (int m = 0; m < memories; ++m)
    for (int j = 0; j < n; ++j) {
      double *v = &s.v[(size_t(m) * n + j) * 2 * dv];
      std::fill(v + (j + 1 < n ? dv : 0), v + (j + 1 < n ? 2 * dv : dv), 0.0);
    }
  const Variant &found = find_variant(variant);
  const Output output =
      forward(found, s, {"recurrent", Real::f64, 1, variant_params(found, {{"scale", number(1 / tau)}})});
  std::vector<double> ratios;
  for (int m = 0; m < memories; ++m) {
    const double *o = &output.o[(size_t(m + 1) * n - 1) * 2 * dv];
    ratios.push_back(inner(o, o, dv) / inner(o + dv, o + dv, dv));
  }
  return ratios;
}

std::vector<Point> normaliser(const Protocol &protocol) {
  const int n = 20, d = 16, dv = 8;
  const double tau = 4;
  const std::vector<double> with = split_ratios("softmax", tau, 50, n, d, dv, protocol.seed);
  const std::vector<double> without = split_ratios("exp_unnormalized", tau, 50, n, d, dv, protocol.seed);
  std::vector<double> relative;
  for (size_t m = 0; m < with.size(); ++m) relative.push_back(with[m] / without[m] - 1);
  // Exponents up to |k|^2 / tau < 20 of inner products of d terms, sums of n.
  return {at(
      exact_point(max_abs(relative), 0, 40.0 * (d + n), 1e-3), "exact",
      labels(
          {{"n", num(n)}, {"d", num(d)}, {"tau", num(tau)}, {"quantity", txt("largest relative change of SNR^-1")}}))};
}

/// E[|v_j|^2 / |v_i|^2] = dv / (dv - 2), through the linear memory: one unit key, values at the nodes of a rule in
/// |v_i|^2.
std::vector<Point> value_norm(const Protocol &protocol) {
  std::vector<Point> points;
  std::vector<double> h, factor, slope, error, slope_error;
  for (int dv = 4; dv <= 256; dv *= 2) {
    const auto measure = [&](int nodes) { // the rule for the density of X = |v|^2 / 2 under the weight 1/X
      const Quadrature rule = gamma_quadrature(nodes, dv / 2.0 - 1);
      Sequence s;
      s.shape = {nodes, 1, 1, 4, dv};
      s.k.assign(size_t(nodes) * 4, 0.5), s.q = s.k;
      s.v = Stream(protocol.seed, 165).normals(size_t(nodes) * dv);
      for (int m = 0; m < nodes; ++m) {
        double *v = &s.v[size_t(m) * dv];
        const double scale = std::sqrt(2 * rule.nodes[m] / inner(v, v, dv));
        for (int c = 0; c < dv; ++c) v[c] *= scale;
      }
      const Output output = forward(find_variant("linear"), s);
      double mean = 0;
      for (int m = 0; m < nodes; ++m) {
        const double *o = &output.o[size_t(m) * dv];
        mean += rule.weights[m] * rule.nodes[m] / (dv / 2.0 - 1) * dv / inner(o, o, dv);
      }
      return mean;
    };
    const double fine = measure(12), exact = dv / (dv - 2.0);
    const Integral mean{fine, std::fabs(fine - measure(8)) + 8 * epsilon_of(Real::f64) * (dv + 12) * fine};
    const Params p = labels({{"dv", num(dv)}, {"quantity", txt("mean of |v_j|^2 / |v_i|^2")}});
    points.push_back(at(integral_point(mean, 1, 0), "paper", p));
    points.push_back(at(integral_point(mean, exact, 1e-3), "exact", p));
    h.push_back(1.0 / dv), factor.push_back(fine), error.push_back(mean.error);
    slope.push_back((fine - 1) * dv), slope_error.push_back(mean.error * dv);
  }
  points.push_back(at(limit_point(h, factor, error, 1, 0.01), "limit",
                      labels({{"quantity", txt("mean of |v_j|^2 / |v_i|^2, extrapolated to dv = infinity")}})));
  points.push_back(at(limit_point(h, slope, slope_error, 2, 0.1), "limit",
                      labels({{"quantity", txt("dv (that mean - 1), extrapolated")}})));
  return points;
}

std::vector<Point> inner_product(const Protocol &protocol) {
  std::vector<Point> points;
  for (int d : {4, 16, 64}) {
    const int pairs = protocol.full() ? 100000 : 12000;
    Sequence s;
    s.shape = {pairs, 1, 1, d, 1};
    s.k = Stream(protocol.seed, 166).normals(size_t(pairs) * d),
    s.q = Stream(protocol.seed, 167).normals(size_t(pairs) * d);
    s.v.assign(pairs, 1.0);
    std::vector<double> squares = forward(find_variant("linear"), s).o;
    for (double &x : squares) x *= x;
    const Mean variance = mean_of(squares); // the mean is 0 by symmetry
    points.push_back(at(sampled_point(variance.mean, d, variance.standard_error, 0.3 * d), "exact",
                        labels({{"d", num(d)}, {"quantity", txt("variance of x.y")}})));
  }
  return points;
}

/// Eq 10 for (x.y)^2: 3 N / d^2 printed, (N-1) dv/(dv-2) 3 / ((d-2)(d-4)) exactly.
std::vector<Point> quadratic_kernel(const Protocol &protocol) {
  const KernelLaw law = quadratic_law();
  std::vector<Point> points;
  std::vector<double> h, ratio, slope, error, slope_error;
  for (int d : {8, 12, 16, 24, 32, 48, 64}) {
    const auto place = [&](const std::string &quantity) {
      return labels({{"d", num(d)}, {"quantity", txt(quantity)}});
    };
    const Integral mean = integrated_noise(law, d, 1, protocol.seed);
    const double probe = noise_given_probe(law, d, 1, {1.5 * d}, protocol.seed)[0], given = law.given_probe(1.5 * d, 1);
    points.push_back(at(integral_point({probe, 20 * kernel_rounding(law, d, d, 1) * probe}, given, 1e-3 * given),
                        "conditional", place("noise of one pair given |k_i|^2 = 1.5 d")));
    points.push_back(
        at(integral_point(mean, law.mean(d, 1), 1e-3 * mean.value), "expectation", place("mean noise of one pair")));
    points.push_back(at(integral_point(mean, law.printed(d, 1), 0), "paper", place("mean noise of one pair")));
    h.push_back(1.0 / d), ratio.push_back(mean.value / law.printed(d, 1)),
        error.push_back(mean.error / law.printed(d, 1));
    slope.push_back((ratio.back() - 1) * d), slope_error.push_back(error.back() * d);
  }
  points.push_back(at(limit_point(h, ratio, error, 1, 0.1), "limit",
                      labels({{"quantity", txt("exact over printed, extrapolated")}})));
  points.push_back(at(limit_point(h, slope, slope_error, 6, 1), "limit",
                      labels({{"quantity", txt("d (exact over printed - 1), extrapolated")}})));
  return points;
}

} // namespace

std::vector<Claim> snr_assumptions() {
  Claim norm = ledger_row(
      "snr-value-norm", "000 Eq 57", "E|v_j|^2 = |v_i|^2: stored values have about the same magnitude.",
      "E[|v_j|^2 / |v_i|^2] = dv/(dv-2) for Gaussian values, infinite for dv <= 2, tending to 1 as 1 + 2/dv.",
      value_norm);
  Claim quadratic = ledger_row(
      "snr-eq10-quadratic", "000 Eq 10, 58",
      "SNR^-1 = N E[kappa^2(k_j,k_i)] / kappa^2(k_i,k_i) for any kernel; here kappa = (x.y)^2, 3 N / d^2.",
      "Given the probe (N-1) dv/|v_i|^2 3/|k_i|^4; in the mean (N-1) dv/(dv-2) 3/((d-2)(d-4)).", quadratic_kernel);
  norm.expected = quadratic.expected = Verdict::holds_asymptotically;
  return {
      running(ledger_row("snr-norm-invariant", "000 footnote 4", "The softmax normaliser does not affect SNR^-1.",
                         "Exact for every sample: Z scales signal and noise of one read by the same factor.",
                         normaliser),
              {"softmax", "exp_unnormalized"}),
      running(ledger_row("snr-cross-terms", "000 Eq 55-57", "The cross terms j != j' of |r|^2 vanish in expectation.",
                         "For independent values of mean zero; values of mean mu add (N-1)(N-2) |mu|^2 (E kappa)^2.",
                         cross_terms),
              {"relu_kernel", "exp_unnormalized"}),
      running(ledger_row("snr-value-mean", "000 Eq 55-57, assumption",
                         "i.i.d. standard Gaussian values are assumed, and needed.",
                         "E|r|^2 = n (dv + |mu|^2) E kappa^2 + n (n-1) |mu|^2 (E kappa)^2: with a mean the paper's "
                         "form misses the second term.",
                         value_mean),
              {"relu_kernel", "exp_unnormalized"}),
      running(norm, {"linear"}),
      running(ledger_row("dot-variance", "000 §2.1.1, Exp Kernel",
                         "The inner product of two standard Gaussian vectors has variance d_k.", "Exactly d.",
                         inner_product),
              {"linear"}),
      running(quadratic, {"linear"}),
  };
}

} // namespace recollect::theory
