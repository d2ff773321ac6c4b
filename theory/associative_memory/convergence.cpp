// SPDX-License-Identifier: Apache-2.0
// Whether and where DeltaNet settles (000 §2.2, §2.2.2): rates, stability, noise floors (laws in delta_paths.hpp).
//
// A row e of the error obeys e <- e (I - beta k k^T). For isotropic keys log|e| is a random walk with independent steps
// log(1 + u g(|k|^2)) / 2, g(s) = (beta s - 1)^2 - 1 and u the squared cosine of e and k: their mean lambda decides
// whether almost every path converges, E|e|^2 whether the mean square does.
#include "theory/support/integral_points.hpp"
#include "theory/support/path_points.hpp"

namespace recollect::theory {
namespace {

/// lambda by nested quadrature over s = |k|^2 ~ chi^2_d and u = sin^2 theta, theta with density ~ cos^(d-2) (u = 1 for
/// d = 1).
Integral growth_exponent(int d, double beta) {
  const auto log_step = [&](double s, double theta) { // 1 + u g = cos^2 + sin^2 (beta s - 1)^2
    return 0.5 * std::log(std::pow(std::cos(theta), 2) + std::pow(std::sin(theta) * (beta * s - 1), 2));
  };
  const auto over_angle = [&](double s) {
    if (d == 1) return std::log(std::fabs(beta * s - 1));
    const auto density = [&](double theta) { return std::pow(std::cos(theta), d - 2); };
    return integrate([&](double theta) { return density(theta) * log_step(s, theta); }, 0, M_PI / 2).value /
           integrate(density, 0, M_PI / 2).value;
  };
  const auto in_root = [&](double r) { // s = r^2, so that the density of d = 1 has no singularity
    return 2 * std::exp((d - 1) * std::log(r) - r * r / 2 - d / 2.0 * std::log(2.0) - std::lgamma(d / 2.0)) *
           over_angle(r * r);
  };
  const double bend = 1 / std::sqrt(beta),
               end = std::sqrt(d) + 9; // beyond `end` the density is below 1e-17 of its peak
  const Integral low = integrate(in_root, 0, bend), high = integrate(in_root, bend, std::max(end, bend + 1));
  return {low.value + high.value, low.error + high.error};
}

/// Mean growth of log|e| a step, from S_0 = a unit row and v = 0 (S* = 0): independent increments, T of them a run.
Mean measured_exponent(KeyLaw keys, int d, double beta, int runs, int T, std::uint64_t seed) {
  const DeltaPaths law{keys, d, 1, beta, 0};
  Sequence s = draw_paths(law, runs, T, Dense(1, d), seed);
  s.state.assign(size_t(runs) * d, 0.0);
  for (int run = 0; run < runs; ++run) s.state[size_t(run) * d] = 1;
  std::vector<double> growth;
  for (double square : squared_errors(final_states(s), Dense(1, d))) growth.push_back(0.5 * std::log(square) / T);
  return mean_of(growth);
}

Point exponent_point(int d, double beta, int runs, std::uint64_t seed, double resolution) {
  const int T = 40;
  const Integral exact = growth_exponent(d, beta);
  const Mean measured = measured_exponent(KeyLaw::gaussian, d, beta, runs, T, seed);
  return at(sampled_point(measured.mean, exact.value, measured.standard_error, resolution, exact.error), "corrected",
            place({KeyLaw::gaussian, d, 1, beta, 0}, T, "mean growth of log |S - S*| a step"));
}

/// One step from a fixed error under k ~ N(0, Sigma): |E|^2 - 2 beta tr(E Sigma E^T) + beta^2 (tr Sigma tr(E Sigma E^T)
/// + 2 tr(E Sigma^2 E^T)).
void general_covariance(const Protocol &protocol, std::vector<Point> &points) {
  const int d = 6, dv = 3, runs = 20000;
  const Dense root(d, d, Stream(protocol.seed, 183).normals(d * d)), sigma = 1.0 / d * (root * transpose(root));
  const double beta = 1.8 / (trace(sigma) + 2 * symmetric_eigenvalues(sigma).back());
  const Dense E(dv, d, Stream(protocol.seed, 184).normals(dv * d));
  Sequence s;
  s.shape = {runs, 1, 1, d, dv};
  s.k = (Dense(runs, d, Stream(protocol.seed, 185).normals(size_t(runs) * d)) *
         transpose(cholesky(sigma + 1e-12 * Dense::identity(d))))
            .data,
  s.q = s.k;
  s.v.assign(size_t(runs) * dv, 0.0), s.beta.assign(runs, beta);
  for (int run = 0; run < runs; ++run) s.state.insert(s.state.end(), E.data.begin(), E.data.end());
  const double start = std::pow(frobenius_norm(E), 2), once = trace(E * sigma * transpose(E)),
               twice = trace(E * sigma * sigma * transpose(E));
  const double expected = (start - 2 * beta * once + beta * beta * (trace(sigma) * once + 2 * twice)) / start;
  const Mean mean = mean_of(squared_errors(final_states(s), Dense(dv, d)));
  const Params p = labels({{"keys", txt("gaussian, general covariance")},
                           {"d", num(d)},
                           {"dv", num(dv)},
                           {"beta", num(beta)},
                           {"quantity", txt("mean of |E_1|^2 / |E_0|^2, beta (tr Sigma + 2 lambda_max) = 1.8")}});
  points.push_back(at(sampled_point(mean.mean / start, expected, mean.standard_error / start, 0.2), "corrected", p));
  points.push_back(at(
      bounded_point(mean.mean / start, Point::at_most, 1, allowed_standard_errors * mean.standard_error / start, 0.2),
      "corrected", p));
}

std::vector<Point> gaussian_keys(const Protocol &protocol) {
  std::vector<Point> points;
  const int more = protocol.full() ? 4 : 1;
  const Mean paper = measured_exponent(KeyLaw::gaussian, 16, 1, 200, 40, protocol.seed);
  points.push_back(at(bounded_point(paper.mean, Point::at_most, 0, allowed_standard_errors * paper.standard_error, 0),
                      "paper", place({KeyLaw::gaussian, 16, 1, 1, 0}, 40, "mean growth of log |S - S*| a step")));
  for (int d : {4, 16})
    points.push_back(
        square_point({KeyLaw::gaussian, d, 4, 1, 0}, 20000, 1, protocol.seed, "corrected")); // d + 1 a step
  for (double beta : {0.1, 0.15})
    points.push_back(
        square_point({KeyLaw::gaussian, 8, 4, beta, 0}, 6000, 6, protocol.seed, "corrected")); // below 2/(d+2)
  points.push_back(exponent_point(1, 1, 1000 * more, protocol.seed, 0.15));
  points.push_back(exponent_point(2, 1, 2000 * more, protocol.seed, 0.08));
  points.push_back(exponent_point(16, 1, 400 * more, protocol.seed, 0.15));
  points.push_back(exponent_point(8, 0.1, 400 * more, protocol.seed, 0.02));
  general_covariance(protocol, points);
  return points;
}

std::vector<Point> unit_keys(const Protocol &protocol) {
  std::vector<Point> points;
  for (int d : {4, 8})
    for (double beta : {0.5, 1.0, 1.5})
      points.push_back(square_point({KeyLaw::unit, d, 4, beta, 0}, 4000, 2 * d, protocol.seed, "exact"));
  const DeltaPaths reflection{KeyLaw::unit, 8, 4, 2, 0}; // beta = 2: every run keeps its distance
  const Dense target = random_target(reflection, protocol.seed);
  const double start = std::pow(frobenius_norm(target), 2);
  std::vector<double> lost =
      squared_errors(final_states(draw_paths(reflection, 500, 16, target, protocol.seed)), target);
  for (double &square : lost) square -= start;
  points.push_back(at(exact_point(max_abs(lost), 0, 4.0 * 16 * (8 + 4) * start, 1e-3 * start), "boundary",
                      place(reflection, 16, "largest change of |S - S*|^2 of all runs")));
  points.push_back(square_point({KeyLaw::unit, 8, 4, 2.5, 0}, 4000, 16, protocol.seed, "boundary"));
  for (double beta : {0.5, 1.0})
    points.push_back(arrival_point({KeyLaw::unit, 8, 4, beta, 0}, 50, beta < 1 ? 640 : 480, protocol.seed));
  return points;
}

/// beta_t = b / (1 + t / c): the same recursion with the step of the day.
Point falling_steps(int T, std::uint64_t seed) {
  const int d = 8, dv = 4, runs = 2000;
  DeltaPaths law{KeyLaw::unit, d, dv, 1, 1};
  const Dense target = random_target(law, seed);
  Sequence s = draw_paths(law, runs, T, target, seed);
  double expected = std::pow(frobenius_norm(target), 2);
  for (int t = 0; t < T; ++t) {
    law.beta = 1 / (1 + t / (2.0 * d));
    for (int run = 0; run < runs; ++run) s.beta[size_t(run) * T + t] = law.beta;
    expected = law.square_after(1, expected);
  }
  const Mean mean = mean_of(squared_errors(final_states(s), target));
  return at(sampled_point(mean.mean, expected, mean.standard_error, 0.3 * expected), "corrected",
            place(law, T, "mean of |S - S*|^2 with beta_t = 1 / (1 + t / 16)"));
}

std::vector<Point> noise_floor(const Protocol &protocol) {
  std::vector<Point> points;
  const DeltaPaths unit{KeyLaw::unit, 8, 4, 1, 1}, half{KeyLaw::unit, 8, 4, 0.5, 1},
      gaussian{KeyLaw::gaussian, 8, 4, 0.05, 1};
  Point paper = square_point(unit, 1000, 80, protocol.seed, "paper");
  paper.predicted = 0; // no longer updated, at S*
  paper.verdict = judge(paper);
  points.push_back(paper);
  for (int T : {80, 320}) // it neither settles nor grows
    for (const DeltaPaths &law : {unit, half})
      points.push_back(square_point(law, 2000, T, protocol.seed + T, "corrected"));
  points.push_back(square_point(gaussian, 3000, 80, protocol.seed, "corrected"));
  points.push_back(falling_steps(400, protocol.seed));
  return points;
}

/// k = y / |y|, v = S y for y ~ N(0, I): |y| is independent of the direction, so S* = E|y| S and the rest is noise.
std::vector<Point> normalised_keys(const Protocol &protocol) {
  std::vector<Point> points;
  const int d = 6, dv = 3, runs = 4000;
  const double length = std::sqrt(2.0) * std::exp(std::lgamma((d + 1) / 2.0) - std::lgamma(d / 2.0)),
               spread = d - length * length;
  const DeltaPaths law{KeyLaw::unit, d, dv, 0.5, 0};
  const Dense S = random_target(law, protocol.seed);
  const double square = std::pow(frobenius_norm(S), 2);
  for (int T : {10, 60}) {
    Sequence s;
    s.shape = {runs, 1, T, d, dv};
    s.k = draw_keys(KeyLaw::gaussian, runs, T, d, protocol.seed + T);
    s.v = (Dense(runs * T, d, s.k) * transpose(S)).data;
    s.beta.assign(size_t(runs) * T, law.beta);
    for (size_t i = 0; i < s.k.size(); i += d) {
      double norm = 0;
      for (int c = 0; c < d; ++c) norm += s.k[i + c] * s.k[i + c];
      for (int c = 0; c < d; ++c) s.k[i + c] /= std::sqrt(norm);
    }
    s.q = s.k;
    const std::vector<Dense> states = final_states(s);
    std::vector<double> scales = projections(states, S);
    for (double &x : scales) x /= square;
    const Mean scale = mean_of(scales), error = mean_of(squared_errors(states, length * S));
    const double reached = 1 - std::pow(law.mean_factor(), T);
    const Params p = place(law, T, "mean of <S_T, Wv Wk^-1> / |Wv Wk^-1|^2");
    if (T == 60)
      points.push_back(at(sampled_point(scale.mean, reached, scale.standard_error, 0.3), "paper", p)); // S* = Wv Wk^-1
    points.push_back(at(sampled_point(scale.mean, length * reached, scale.standard_error, 0.3), "corrected", p));
    // e = (|y| - E|y|) S k, so E|e|^2 = Var|y| |S|^2 / d; it flows in as beta^2 E|e|^2 a step.
    const double kept = std::pow(law.factor(), T), inflow = law.beta * law.beta * spread * square / d;
    const double expected = kept * length * length * square + inflow * (1 - kept) / (1 - law.factor());
    points.push_back(at(sampled_point(error.mean, expected, error.standard_error, 0.3 * expected), "corrected",
                        place(law, T, "mean of |S_T - E|k| Wv Wk^-1|^2")));
  }
  return points;
}

/// Two histories, one last input: E|o - o'|^2 = 2 (f^t - m^{2t}) |S*|^2 / d for a unit query, m = 1 - 1/d at beta = 1.
std::vector<Point> one_input_decides(const Protocol &protocol) {
  std::vector<Point> points;
  const DeltaPaths law{KeyLaw::unit, 8, 4, 1, 0};
  const int pairs = 4000;
  const Dense target = random_target(law, protocol.seed);
  const double square = std::pow(frobenius_norm(target), 2);
  for (int T : {4, 8, 16, 32}) {
    Sequence s = draw_paths(law, 2 * pairs, T, target, protocol.seed + T);
    const std::vector<double> queries = draw_keys(KeyLaw::unit, pairs, 1, law.d, protocol.seed + 7);
    for (int run = 0; run < 2 * pairs; ++run)
      std::copy_n(&queries[size_t(run / 2) * law.d], law.d, &s.q[(size_t(run + 1) * T - 1) * law.d]);
    const Output output = forward(find_variant("delta_net"), s);
    std::vector<double> differences;
    for (int pair = 0; pair < pairs; ++pair) {
      const double *one = &output.o[(size_t(2 * pair + 1) * T - 1) * law.dv], *two = one + size_t(T) * law.dv;
      double sum = 0;
      for (int c = 0; c < law.dv; ++c) sum += (one[c] - two[c]) * (one[c] - two[c]);
      differences.push_back(sum);
    }
    const double expected = 2 * (std::pow(law.factor(), T) - std::pow(law.mean_factor(), 2 * T)) * square / law.d;
    const Mean mean = mean_of(differences);
    points.push_back(at(sampled_point(mean.mean, expected, mean.standard_error, 0.6 * expected), "exact",
                        place(law, T, "mean of |o - o'|^2 for two histories")));
  }
  return points;
}

} // namespace

std::vector<Claim> convergence() {
  const std::vector<std::string> variants{"delta_net"};
  return {
      running(refuted_row("deltanet-converges-gaussian", Scope::paper, "000 §2.2.2",
                          "DeltaNet (step 1, as in Table 2) converges to S* = Wv Wk^-1 as updates progress; keys are "
                          "standard Gaussian.",
                          "The mean square grows by 1 - 2 beta + beta^2 (d+2) a step: d + 1 at beta = 1. Paths diverge "
                          "almost surely there for d >= 2 (growth of log|S - S*| "
                          "0.030 a step at d = 2, 0.97 at d = 16) and converge almost surely, though not in mean "
                          "square, at d = 1. Stable for beta < 2/(d+2); for "
                          "keys of covariance Sigma, beta (tr Sigma + 2 lambda_max) < 2 suffices.",
                          gaussian_keys),
              variants),
      running(ledger_row("deltanet-converges-unit", "000 §2.2.2; 002 §4",
                         "DeltaNet with unit keys converges to S* when v = S* k.",
                         "E|S_t - S*|^2 = (1 - beta (2 - beta)/d)^t |S_0 - S*|^2 for isotropic keys: if and only if 0 "
                         "< beta < 2, fastest at beta = 1.",
                         unit_keys),
              variants),
      running(refuted_row("deltanet-noise-floor", Scope::paper, "000 §2.2.2",
                          "Once at S* the memory is no longer updated.",
                          "With values that S* cannot reproduce (noise sigma^2) and a constant step it moves for ever: "
                          "E|S - S*|^2 = beta sigma^2 dv d / (2 - beta) for unit keys, "
                          "beta sigma^2 dv d / (2 - beta (d+2)) for Gaussian ones. It settles if v = S* k exactly, or "
                          "if beta_t falls like 1/t.",
                          noise_floor),
              variants),
      running(refuted_row("sstar-normalised-keys", Scope::boundary, "000 Eq 47 with L2-normalised keys",
                          "S* = Wv Wk^-1 also for k = Wk x / |Wk x|.",
                          "S* = E|Wk x| Wv Wk^-1 for isotropic Wk x, E|k| = sqrt 2 Gamma((d+1)/2) / Gamma(d/2) (2.35 "
                          "at d = 6), with a residual that keeps the memory moving. An "
                          "extension, not a claim of the paper.",
                          normalised_keys),
              variants),
      running(ledger_row("bigram-degeneration", "000 §2.2.2",
                         "At S* the read depends on the current input alone: single-head DeltaNet degenerates into a "
                         "bi-gram model.",
                         "For unit keys and v = S* k: two histories' reads differ by a root mean square that falls as "
                         "(1 - 1/d)^(t/2).",
                         one_input_decides),
              variants),
  };
}

} // namespace recollect::theory
