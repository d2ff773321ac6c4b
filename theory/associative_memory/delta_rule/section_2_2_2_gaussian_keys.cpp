// SPDX-License-Identifier: Apache-2.0
// 000 §2.2.2 with the keys of §2.1: does DeltaNet converge on standard Gaussian keys?
//
// A row e of the error S - S* obeys e <- e (I - beta k k^T). Hence log|e| is a random walk with independent steps log(1
// + u g(|k|^2)) / 2, where g(s) = (beta s - 1)^2 - 1 and u is the squared cosine between e and k. Almost every path
// converges if and only if the mean step is negative; the mean square converges if and only if the factor of E|e|^2 is
// below 1.
#include "theory/associative_memory/delta_rule/delta_paths.hpp"
#include "theory/support/quadrature.hpp"

namespace recollect::theory {
namespace {
/// The mean step of log|e| by nested quadrature over s = |k|^2 ~ chi^2_d and u = sin^2 theta, where the density of
/// theta is proportional to cos^(d-2) (u = 1 for d = 1).
Integral mean_log_step(int d, double beta) {
  const auto log_step = [&](double s, double theta) { // 1 + u g = cos^2 + sin^2 (beta s - 1)^2
    return 0.5 * std::log(std::pow(std::cos(theta), 2) + std::pow(std::sin(theta) * (beta * s - 1), 2));
  };
  const auto density = [&](double theta) { return std::pow(std::cos(theta), d - 2); };
  const double all_angles = d == 1 ? 1 : integrate(density, 0, M_PI / 2).value;
  const auto over_angle = [&](double s) {
    if (d == 1) return std::log(std::fabs(beta * s - 1));
    return integrate([&](double theta) { return density(theta) * log_step(s, theta); }, 0, M_PI / 2).value / all_angles;
  };
  const auto in_root = [&](double r) { // s = r^2: in r, the density for d = 1 has no singularity
    return 2 * std::exp((d - 1) * std::log(r) - r * r / 2 - d / 2.0 * std::log(2.0) - std::lgamma(d / 2.0)) *
           over_angle(r * r);
  };
  // Beyond `end` the density is below 1e-17 of its peak.
  const double bend = 1 / std::sqrt(beta), end = std::sqrt(d) + 9;
  const Integral low = integrate(in_root, 0, bend), high = integrate(in_root, bend, std::max(end, bend + 1));
  return {low.value + high.value, low.error + high.error};
}

/// log|e| after T steps from e = (1, 0, ..., 0), divided by T; one value per run.
Vector log_growth(Sequence s) {
  const int d = s.shape.Dk;
  s.q = s.k, s.v.assign(s.k.size() / d, 0.0);
  s.state.assign(size_t(s.shape.B) * d, 0.0);
  for (int run = 0; run < s.shape.B; ++run) s.state[size_t(run) * d] = 1;
  return each_state(run_paths(s), [&](const double *e) { return 0.5 * std::log(inner(e, e, d)) / s.shape.T; });
}
/// The mean growth of log|e| per step, from independent runs of 20 steps.
Mean sampled_growth(int d, double beta, std::uint64_t seed, double wanted) {
  const int T = 20;
  return mean_over_runs(seed, "growth exponent", wanted, T, d, [&](const Stretch &stretch) {
    const Vector keys = random_keys(KeyLaw::gaussian, T, d, stretch);
    return log_growth(runs_on(stretch, T, keys, Vector(stretch.runs * T), beta));
  });
}
/// The mean growth of log|e| per step at d = 2, where it is a small difference of large logarithms. It is measured on
/// single steps. The keys are the nodes of a randomly shifted Fibonacci lattice (Cranley and Patterson 1976), made
/// Gaussian by the Box-Muller transform. Each shift is one sample.
Mean lattice_growth(double beta, int nodes, int generator, std::uint64_t seed) {
  const auto part = [](double x) { return x - std::floor(x); };
  Vector samples;
  for (int shift = 0; shift < 256; ++shift) {
    const Vector by = Stream(seed, "growth lattice").uniforms(2, 0, 1, 2 * shift);
    Sequence s = of_shape({nodes, 1, 1, 2, 1});
    s.beta.assign(nodes, beta);
    for (int i = 0; i < nodes; ++i) {
      const double r = std::sqrt(-2 * std::log(part(double(i) / nodes + by[0]))),
                   angle = 2 * M_PI * part(double(i) * generator / nodes + by[1]);
      s.k.insert(s.k.end(), {r * std::cos(angle), r * std::sin(angle)});
    }
    samples.push_back(mean_of(log_growth(s)).mean);
  }
  return mean_of(samples);
}
Mean growth(int d, double beta, const Protocol &protocol) {
  if (d != 2) return sampled_growth(d, beta, protocol.seed, wanted_sensitivity(protocol));
  return protocol.full() ? lattice_growth(beta, 2584, 1597, protocol.seed)
                         : lattice_growth(beta, 610, 377, protocol.seed);
}

/// One step from an error e with a key k ~ N(0, Sigma). The mean of |e|^2 becomes |e|^2 - 2 beta e Sigma e^T + beta^2
/// (tr Sigma e Sigma e^T + 2 e Sigma^2 e^T). For e along the first principal direction this is a decrease if and only
/// if beta (tr Sigma + 2 lambda_max) < 2.
void general_covariance(Points &points, const Protocol &protocol) {
  const int d = 6;
  const Vector basis = make_keys({"orthonormal", d, d}, 1, protocol.seed), first(basis.begin(), basis.begin() + d);
  const double top = 4;
  Dense root(d, d); // Sigma = root root^T has the spectrum 4, 2, 1, 1/2, 1/4, 1/8
  double total = 0;
  for (int j = 0; j < d; ++j) {
    total += top * std::pow(0.5, j);
    for (int i = 0; i < d; ++i) root(i, j) = std::sqrt(top * std::pow(0.5, j)) * basis[j * d + i];
  }
  const double edge = 2 / (total + 2 * top);
  const auto one_step = [&](double beta, double wanted) {
    return mean_over_runs(protocol.seed, "covariance", wanted, 1, d, [&](const Stretch &stretch) {
      const Vector keys = mapped(root, random_keys(KeyLaw::gaussian, 1, d, stretch));
      Sequence s = runs_on(stretch, 1, keys, Vector(stretch.runs), beta);
      s.state = repeated(first, stretch.runs);
      return state_squares(run_paths(s));
    });
  };
  const auto law = [&](double beta, double twice) {
    return 1 - 2 * beta * top + beta * beta * (total * top + twice * top * top);
  };
  const double below = 0.9 * edge, beyond = 1.2 * edge;
  const Mean falling = one_step(below, wanted_sensitivity(protocol));
  points.at({{"d", d}, {"beta", below}});
  points
      .obligation("keys $N(0, Sigma)$, $beta$ at 0.9 of its bound: mean of $|e_1|^2$ after one step from a unit error "
                  "$e_0$ along the first principal direction",
                  falling, law(below, 2))
      .but_not("$e Sigma^2 e^T$ counted once, not twice", law(below, 1));
  points.obligation(
      "keys $N(0, Sigma)$, $beta$ at 0.9 of its bound: mean of $|e_1|^2$ after one step from a unit error, at most 1",
      at_most_point(falling, 1));
  points.at({{"d", d}, {"beta", beyond}});
  points.wrong_system("$beta$ at 1.2 of its bound", at_most_point(one_step(beyond, rough), 1));
}

Claim gaussian_keys() {
  ClaimBuilder c("deltanet-converges-gaussian", "000 §2.2.2, with the keys of §2.1");
  c.says("Stricter reading: with step size 1, as in Table 2, $S$ converges to $S*$ also if the keys are standard "
         "Gaussian and $v = S* k$.");
  c.is_refuted(
      stricter("§2.2.2, single-head DeltaNet: 'ideally, as memory updates progress, memory $S$ converges to "
               "the fixed value $S$*'.",
               "$k = W_k x$, $v = W_v x$; the law of $x$ is not named",
               "The word 'ideally' precedes this sentence, and the Gaussian keys are those of §2.1, not of §2.2.2."));
  c.exactly(
      "Each step multiplies the mean of $|S - S*|^2$ by $1 - 2 beta + beta^2 (d+2)$. This factor is $d + 1$ at $beta = "
      "1$, and is less than 1 only for $beta < 2/(d+2)$. With step size 1 and $d >= 2$ almost every path diverges: "
      "$log|S - S*|$ grows by 0.030 per step at $d = 2$ and by 0.97 at $d = 16$. At $d = 1$ almost every path "
      "converges (-0.417 per step), but the mean square does not. For Gaussian keys of covariance $Sigma$ with the "
      "largest eigenvalue $lambda_max$, the mean square converges if $beta$ (tr $Sigma + 2 lambda_max$) < 2.");
  c.because("§2.2.2 says 'ideally' and names no distribution of the keys. The Gaussian distribution is that of §2.1. "
            "With normalised keys, or with a step size below $2/(d+2)$, $S$ converges.");
  c.runs({"delta_net"}), c.takes({key_width_param(16, 2, 32)}), c.at({{{"d", 2}}, {}});
  c.last([](Points &points, const Protocol &protocol) {
    const Integral exponent = mean_log_step(1, 1);
    points.at({{"d", 1}, {"beta", 1}});
    points.obligation("$d = 1$: mean change of $log|S - S*|$ per step, below zero",
                      sampled_point(growth(1, 1, protocol), exponent.value, exponent.error));
    general_covariance(points, protocol);
  });
  return measure(c, [](Points &points, const Protocol &protocol, int d) {
    const int dv = 4;
    const Dense target = random_target(d, dv, protocol.seed);
    const double start = inner(target.data, target.data), wanted = wanted_sensitivity(protocol);
    points.at({{"d", d}, {"dv", dv}, {"beta", 1}});
    const Mean square = mean_error({KeyLaw::gaussian, d, dv, 1, 0}, 1, target, protocol.seed, wanted);
    points.statement("mean of $|S_1 - S*|^2$, at most $|S*|^2$", at_most_point(square, start));
    points.obligation("mean of $|S_1 - S*|^2$ against $(d + 1) |S*|^2$", square, (d + 1) * start)
        .but_not("$d |S*|^2$", d * start)
        .but_not("$(d + 2) |S*|^2$", (d + 2) * start);
    const Mean unit = mean_error({KeyLaw::unit, d, dv, 1, 0}, 1, target, protocol.seed, rough);
    points.wrong_system("unit keys", unit, (d + 1) * start);
    const Integral exponent = mean_log_step(d, 1);
    const Mean walk = growth(d, 1, protocol);
    points.statement("mean change of $log|S - S*|$ per step, at most 0", at_most_point(walk, 0));
    points
        .obligation("mean change of $log|S - S*|$ per step, against its value as an integral",
                    sampled_point(walk, exponent.value, exponent.error))
        .but_not("half of $log(d + 1)$, as if the mean of the log were the log of the mean", 0.5 * std::log(d + 1.0));
    // This T is long enough to distinguish d + 2 from the rival d + 1. In longer runs the fourth moment is too large
    // for sampling.
    const int T = std::max(d, 4);
    const DeltaPaths stable{KeyLaw::gaussian, d, dv, 1.5 / (d + 2), 0};
    points.at({{"d", d}, {"dv", dv}, {"beta", stable.beta}, {"T", T}});
    points
        .obligation("$beta = 1.5/(d+2)$: mean of $|S_T - S*|^2$ against $(1 - 2 beta + beta^2 (d+2))^T |S*|^2$",
                    mean_error(stable, T, target, protocol.seed, wanted), stable.square_after(T, start))
        .but_not("$d + 1$ in place of $d + 2$",
                 start * std::pow(1 - 2 * stable.beta + stable.beta * stable.beta * (d + 1), T));
  });
}
} // namespace

std::vector<Claim> section_2_2_2_gaussian_keys() { return {gaussian_keys()}; }
} // namespace recollect::theory
