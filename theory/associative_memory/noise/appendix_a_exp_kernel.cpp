// SPDX-License-Identifier: Apache-2.0
// The derivation for the exp kernel in 000 Appendix A, line by line: the noise for a given probe, the effect of
// replacing |k_i|^2 by d in an exponent, keys that all have the same norm, and a misplaced bracket.
#include "theory/associative_memory/noise/noise_points.hpp"
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/hypergeometric_0F1.hpp>

namespace recollect::theory {
namespace {
const ParamSpec width = key_width_param(16, 4, 256);

/// The mean and variance of a quantity over the nodes of a quadrature rule, from its first two moments.
struct Spread {
  Integral mean, variance;
};
Spread spread_over(const Rule &rule, const std::vector<Integral> &values) {
  std::vector<Integral> squares;
  for (const Integral &value : values) squares.push_back(value * value);
  const Integral mean = rule.sum(values), square = rule.sum(squares);
  return {mean, {square.value - mean.value * mean.value, square.error + 2 * std::fabs(mean.value) * mean.error}};
}

/// Mean and variance of the logarithm of the noise of one term, over the random key of this term.
Spread spread_of_term(int d, double tau, double square, std::uint64_t seed) {
  const Rule z = normal_rule(0);
  const double length = std::sqrt(square);
  const Integral scale = inverse_signal(exp_law(), d, tau, length, only(1), seed);
  std::vector<Integral> logs;
  for (const Integral &noise : noise_at(exp_law(), d, tau, length, z.nodes, one_pair(), seed))
    logs.push_back(log(noise * scale));
  return spread_over(z, logs);
}

Claim snr_exp_conditional() {
  ClaimBuilder c("snr-exp-conditional", "000 App A, exp kernel");
  c.says("For a given probe key $k_i$ the inverse SNR of the exp kernel is $N exp(2 (1-tau)/tau^2 |k_i|^2)$, if the "
         "pairs are i.i.d. standard Gaussian and the stored values have about equal norms.");
  c.exactly("This form is exact with $N-1$ in place of $N$ and with the factor $dv/|v_i|^2$. The log of one noise term "
            "$kappa^2$ has variance $4 |k_i|^2/tau^2$.");
  c.because("The paper derives the form by a moment generating function, and this derivation is right.");
  c.runs({"exp_unnormalized"});
  c.takes({key_width_param(16, 2, 256), real_param("tau", 4, 1.05, 1000, "temperature"),
           real_param("square", 16, 0.1, 1000, "$|k_i|^2$ of the probe")});
  c.at({{}, {{"d", 4}, {"tau", 2}, {"square", 8}}, {{"d", 64}, {"tau", 8}, {"square", 32}}});
  return measure(c, [](Points &points, Seed seed, const Params &p, int d, double tau, double s) {
    const auto noise = [&](const Stored &stored) {
      return noise_given_probe(exp_law(), d, tau, std::sqrt(s), seed, stored);
    };
    points
        .obligation("noise of one pair given $|k_i|^2$, against $exp(2 (1-tau)/tau^2 |k_i|^2)$", noise(one_pair()),
                    std::exp(2 * (1 - tau) / (tau * tau) * s))
        .but_not("$exp(-2 |k_i|^2 / tau)$, without the moment generating function", std::exp(-2 / tau * s))
        .but_not("$1/tau^2$ in place of $2/tau^2$", std::exp((1 / (tau * tau) - 2 / tau) * s));
    const Spread term = spread_of_term(d, tau, s, seed);
    points.obligation("mean of the log of one noise term: $-2 |k_i|^2 / tau$", term.mean, -2 * s / tau);
    points.obligation("variance of the log of one noise term: $4 |k_i|^2 / tau^2$", term.variance, 4 * s / (tau * tau))
        .but_not("$2 |k_i|^2 / tau^2$", 2 * s / (tau * tau));
    const int n = 8, dv = 12, value = 3; // |v_i|
    const auto of_others = [&](int count) {
      return count * dv / double(value * value) * std::exp(-decay_rate(tau) * s);
    };
    points.at(changed(p, {{"n", n}, {"dv", dv}, {"|v_i|^2", value * value}}))
        .obligation("$SNR^-1$ for a given probe", noise(gaussian_pairs(n, dv, only(value))), of_others(n - 1))
        .but_not("$N$ in place of $N - 1$", of_others(n));
  });
}

/// The noise of one pair for keys uniform on the sphere of radius sqrt(d). The density of the angle between two keys is
/// proportional to sin^(d-2).
Integral sphere_noise(int d, std::uint64_t seed) {
  const double tau = std::sqrt(d), z = 2 * tau; // the integrand is exp(z cos)
  const double peak = std::acos((std::sqrt((d - 3.0) * (d - 3) + 4 * z * z) - (d - 3)) / (2 * z)),
               reach = 8 / std::sqrt(d - 2.0), total = std::lgamma((d - 1) / 2.0) - std::lgamma(d / 2.0);
  const Rule angles = two_panels(std::max(0.0, peak - reach), peak, std::min(M_PI, peak + reach), [&](double angle) {
    return std::exp((d - 2) * std::log(std::sin(angle)) - total) / std::sqrt(M_PI);
  });
  Vector overlaps;
  for (double angle : angles.nodes) overlaps.push_back(tau * std::cos(angle));
  return angles.sum(noise_at(exp_law(), d, tau, tau, overlaps, one_pair(), seed)) *
         inverse_signal(exp_law(), d, tau, tau, only(1), seed);
}
/// exp(-z) Gamma(b) (2/z)^(b-1) I_{b-1}(z) at z = 2 sqrt(d).
double sphere_law(double b, double d) { return boost::math::hypergeometric_0F1(b, d) * std::exp(-2 * std::sqrt(d)); }

Claim snr_exp_sphere() {
  ClaimBuilder c("snr-exp-sphere", "000 Eq 13");
  c.says("Extension: for keys uniform on the sphere of radius $sqrt(d)$, at $tau = sqrt(d)$, $SNR^-1$ of the exp "
         "kernel is about $N / exp(2 (tau-1)/tau^2 d)$.");
  c.exactly("The noise of one pair is $E kappa^2(k_j,k_i) / kappa^2(k_i,k_i) = Gamma(d/2) (2/z)^(d/2-1) I_{d/2-1}(z) "
            "e^-z$ with $z = 2 sqrt(d)$ and the modified Bessel function $I$. This is between $1 - 4/d$ and 1 times "
            "the printed form.");
  c.because("If all probes have the same norm, as RMS-normalised keys do, the factor $e^4$ of Gaussian probes "
            "(snr_exp) does not appear, and the printed form is also right on average.");
  c.holds_asymptotically(), c.runs({"exp_unnormalized"}), c.takes({width}), c.at({{}, {{"d", 256}}});
  c.also([](Points &points, const Protocol &protocol) {
    points.at({{"largest d", 256}});
    limits_of_ratio(points, "noise of one pair / printed form as d grows", "d", -4, {16, 32, 64, 128, 256},
                    [&](int d) { return 1 / exp_law().printed(d, std::sqrt(d)) * sphere_noise(d, protocol.seed); })
        .but_not("$-2$ in place of $-4$", -2)
        .but_not("$-8$ in place of $-4$", -8);
  });
  return measure(c, [](Points &points, Seed seed, int d) {
    const double printed = exp_law().printed(d, std::sqrt(d));
    const Integral noise = sphere_noise(d, seed);
    points.statement("noise of one pair, against the printed form", noise, printed);
    points.obligation("noise of one pair, against the exact form", noise, sphere_law(d / 2.0, d))
        .but_not("Bessel index $d/2$ in place of $d/2 - 1$", sphere_law(d / 2.0 + 1, d))
        .but_not("Bessel index $(d-3)/2$ in place of $d/2 - 1$", sphere_law((d - 1) / 2.0, d));
    points.wrong_system("Gaussian keys", mean_noise(exp_law(), d, std::sqrt(d), seed), sphere_law(d / 2.0, d));
    // 0F1(; d/2; d) is between e^2 (1 - 4/d) and e^2, because its term m is between 2^m/m! (1 - m (m-1)/d) and 2^m/m!
    points.limit("noise of one pair / printed form, at least $1 - 4/d$",
                 at_least_point(noise.value / printed, 1 - 4.0 / d, noise.error / printed));
  });
}

/// The logarithm of (the noise of a probe / the printed form), which is -a (|k_i|^2 - d).
Integral log_excess(int d, double square, std::uint64_t seed) {
  const KernelLaw law = exp_law();
  const double tau = std::sqrt(d);
  return log(1 / law.printed(d, tau) * noise_given_probe(law, d, tau, std::sqrt(square), seed));
}
double quantile_of_square(int d, double share) { return quantile(boost::math::chi_squared(d), share); }

/// The mean and variance of log_excess() over Gaussian probes.
Spread spread_of_excess(int d, std::uint64_t seed) {
  const Rule lengths = length_rule(d, -2, 0);
  std::vector<Integral> logs;
  for (double length : lengths.nodes) logs.push_back(log_excess(d, length * length, seed));
  return spread_over(lengths, logs);
}

Claim snr_exp_median() {
  ClaimBuilder c("snr-exp-median", "000 App A, concentration");
  c.says("For large $d_k$, $|k_i|^2$ concentrates sharply about $d_k$, so that replacing it by $d_k$ is harmless. "
         "Stricter reading: this holds in the exponent of the exp kernel too.");
  c.is_refuted(stricter("Appendix A, linear kernel: $|k_i|^2$ 'concentrates sharply around this value when $d_k$ is "
                        "large, we replace it by its expectation'.",
                        "$d_k$ is large; the sentence is about the linear kernel's denominator",
                        "The exponential kernel is treated on its own, and $d_k + O(sqrt d_k)$ is written in its "
                        "exponent: the text does not call the replacement harmless there."));
  c.exactly("Take the ratio of a probe's noise to the printed form. With $a = 2 (tau-1)/tau^2$ and $tau = sqrt(d)$ its "
            "logarithm has mean 0 and variance $2 d a^2 = 8 (1 - 1/sqrt d)^2$, which tends to 8. For nine of ten "
            "probes the ratio is between $exp(-4.65)$ and $exp(4.65)$.");
  c.because("The text says 'sharply' only about the linear kernel's sum, and it writes $d_k + O(sqrt d_k)$ in the "
            "exponent. For the median probe, and for keys that all have the same norm, the replacement is harmless.");
  c.runs({"exp_unnormalized"}), c.takes({width}), c.at({{}, {{"d", 256}}});
  c.also([](Points &points, const Protocol &protocol) {
    const std::vector<int> widths(growing_widths.begin() + 1, growing_widths.end());
    const auto excess_at = [&](double share) { // for a probe longer than this share of all probes
      return limit_in_root([&](int d) { return log_excess(d, quantile_of_square(d, share), protocol.seed); }, widths);
    };
    const double band = std::sqrt(8.0) * quantile(boost::math::normal(), 0.95); // 4.65
    points.at({{"largest d", 256}});
    points
        .obligation("variance over probes of log(noise / printed form) as d grows",
                    limit_in_root([&](int d) { return spread_of_excess(d, protocol.seed).variance; }, widths), 8)
        .but_not("2, the variance for half the exponent", 2);
    points.obligation("log(noise / printed form) at the 5% quantile of the probe's norm, as d grows", excess_at(0.05),
                      band);
    points.obligation("log(noise / printed form) at the 95% quantile of the probe's norm, as d grows", excess_at(0.95),
                      -band);
  });
  return measure(c, [](Points &points, Seed seed, int d) {
    const double a = decay_rate(std::sqrt(d)), low = quantile_of_square(d, 0.05), median = quantile_of_square(d, 0.5);
    const Spread found = spread_of_excess(d, seed);
    const Integral noisy = log_excess(d, low, seed);
    points.statement("log(noise / printed form) at the 5% quantile of the probe's norm, against 0", noisy, 0);
    points.obligation("log(noise / printed form) at the 5% quantile of the probe's norm, against $a (d - |k_i|^2)$",
                      noisy, a * (d - low));
    points.obligation("log(noise / printed form) at the median of the probe's norm, against $a (d - |k_i|^2)$",
                      log_excess(d, median, seed), a * (d - median));
    const double law = 8 * std::pow(1 - 1 / std::sqrt(d), 2);
    points.obligation("mean over probes of log(noise / printed form): 0", found.mean, 0);
    points.obligation("variance over probes of log(noise / printed form): $2 d a^2$", found.variance, law)
        .but_not("8, the limit as d grows", 8)
        .but_not("$d a^2$", d * a * a);
    points.wrong_system("variance over other keys, not over probes", spread_of_term(d, std::sqrt(d), d, seed).variance,
                        law);
  });
}

/// The paper prints N exp(2/tau^2 - 2/tau) |k_i|^2 in place of N exp((2/tau^2 - 2/tau) |k_i|^2).
Claim snr_exp_typo() {
  ClaimBuilder c("snr-exp-typo", "000 App A, after the moment generating function");
  c.says("$N exp(2/tau^2 - 2/tau) |k_i|^2 = N exp(2 (1-tau)/tau^2 |k_i|^2)$: on the left the norm stands outside the "
         "exponential.");
  c.is_refuted(slip("Appendix A, display after the moment generating function: $N exp(2/tau^2 - 2/tau) |k_i|^2 = N "
                    "exp(2 (1-tau)/tau^2 |k_i|^2)$.",
                    "given the probe",
                    "The right-hand side of the same line, from which the text goes on, has the norm inside."));
  c.exactly("The norm belongs inside the exponential, as on the right-hand side.");
  c.because("A bracket is misplaced.");
  c.runs({"exp_unnormalized", "solu"});
  c.takes({key_width_param(16, 2, 256), real_param("tau", 2, 1.05, 1000, "temperature"),
           real_param("square", 16, 1.5, 1000, "$|k_i|^2$ of the probe")});
  return measure(c, [](Points &points, Seed seed, int d, double tau, double s) {
    const double right = std::exp(2 * (1 - tau) / (tau * tau) * s);
    const auto noise = [&](const KernelLaw &law) { return noise_given_probe(law, d, tau, std::sqrt(s), seed); };
    points.statement("noise of one pair given $|k_i|^2$, against the left-hand side as printed", noise(exp_law()),
                     std::exp(2 / (tau * tau) - 2 / tau) * s);
    points.wrong_system("SoLU kernel", noise(solu_law()), right);
    points.obligation("noise of one pair given $|k_i|^2$, against the right-hand side", noise(exp_law()), right)
        .but_not("the norm as a factor of $2/tau^2$ alone", std::exp(2 * s / (tau * tau) - 2 / tau))
        .but_not("the norm as a factor of $2/tau$ alone", std::exp(2 / (tau * tau) - 2 * s / tau));
  });
}
} // namespace

std::vector<Claim> appendix_a_exp_kernel() {
  return {snr_exp_conditional(), snr_exp_sphere(), snr_exp_median(), snr_exp_typo()};
}
} // namespace recollect::theory
