// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 3, Eq 32-33: the limit of Longhorn, NLMS, and Kaczmarz's method.
#include "harness/numerics/keys.hpp"
#include "theory/test_time_regression/one_step.hpp"

namespace recollect::theory {
namespace {

// ---- NLMS -----------------------------------------------------------------------------------------------------------

std::vector<Point> limit(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {step_point(1), step_point(100)})) {
    const Step x(p, protocol.seed);
    const double delta = p.real("delta"), kk = x.kk(), units = x.units(delta) * (1 + kk + 1 / kk);
    if (delta * kk > 1000) usage_error("beyond delta |k|^2 = 1000 the gap's own law drowns in rounding");
    const Dense layer = x.after_longhorn(delta), end = x.moved(1 / kk);
    const auto is = [&](const Dense &M) { return exact_point(layer.data, M.data, units); };
    const auto short_of_it = [&](double gap) { return end - gap / kk * write(x.error(), x.k); };
    points.push_back(as_statement(is(end), p, "Longhorn at delta solves the constrained problem"));
    points.push_back(
        as_limit(is(short_of_it(1 / (1 + delta * kk))), p, "it falls short by e k^T / (|k|^2 (1 + delta |k|^2))"));
    points.push_back(as_obligation(exact_point(x.after("nlms").data, end.data, units), p, "its limit is NLMS"));
    points.push_back(
        rival_system(exact_point(x.after_longhorn(2 * delta).data, short_of_it(1 / (1 + delta * kk)).data, units), p,
                     "Longhorn at 2 delta"));
    points.push_back(rival_law(is(short_of_it(1 / (delta * kk))), p, "1 / (delta |k|^4)"));
    points.push_back(rival_law(is(short_of_it(1 / std::sqrt(1 + delta * kk))), p, "an exponent of 1/2"));
  }
  return points;
}

Claim limit_claim() {
  return asymptotic(explained(
      at_parameters(
          running(
              ledger_row("nlms-limit", "003 Eq 30-32",
                         "For $delta$ -> infinity Eq 30 becomes the constrained problem, argmin $|M - M_{t-1}|_F^2 / "
                         "2$ subject to $M k = v$.",
                         "$M_delta - M_infinity = -(v - M k) k^T / (|k|^2 (1 + delta |k|^2))$: the gap falls as "
                         "$1/delta$.",
                         limit),
              {"longhorn", "nlms"}),
          step_params({delta_param(1)})),
      "At a finite $delta$ a residual of $1 / (1 + delta |k|^2)$ stays."));
}

std::vector<Point> closest(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {step_point(1), step_point(1, 0.6)})) {
    const Step x(p, protocol.seed);
    const double kk = x.kk(), norm = std::sqrt(kk), units = x.units(1) * (1 + kk + 1 / kk);
    const Dense M = x.after("nlms");
    const auto is = [&](const Dense &other) { return exact_point(M.data, other.data, units); };
    const auto stores = [&](const Dense &memory) { return exact_point((memory * x.k).data, x.v.data, units * norm); };
    points.push_back(as_statement(is(x.moved(1 / kk)), p, "Eq 33"));
    points.push_back(rival_system(stores(x.after_longhorn(1)), p, "Longhorn at delta = 1 stores the pair"));
    points.push_back(as_statement(stores(M), p, "stores the pair: M k = v"));
    if (p.real("norm") != 1) points.push_back(rival_law(is(x.moved(1 / norm)), p, "1/|k| for 1/|k|^2"));
    // Any other memory M + N that stores it, N k = 0, is farther from M_0 by exactly |N|^2.
    const Dense G = normal_matrix(M.rows, M.columns, protocol.seed, "003/another memory"),
                N = G - 1 / kk * write(G * x.k, x.k);
    const double near = square(M - x.M), far = square(M + N - x.M),
                 size = 64.0 * M.columns * (near + square(N) + units);
    const Point distance = as_statement(exact_point(far, near + square(N), size), p, "the closest memory that does");
    points.push_back(distance);
    points.push_back(rival_system(exact_point(square(x.after_longhorn(1) + N - x.M), near + square(N), size), p,
                                  "from Longhorn's memory"));
    points.push_back(rival_law(distance, "as far as M", near));
    points.push_back(
        rival_law(distance, "distances add without their squares", std::pow(std::sqrt(near) + frobenius_norm(N), 2)));
  }
  return points;
}

Claim closest_claim() {
  return explained(
      at_parameters(
          running(
              ledger_row("nlms-eq33", "003 Eq 32-33",
                         "The constrained problem is solved by the hyperparameter-free step $beta = 1/|k|^2$: "
                         "$M_{t-1} (I - k k^T / |k|^2) + v k^T / |k|^2$ (NLMS).",
                         "It stores the pair and is the closest memory that does: any other, $M + N$ with $N k = 0$, "
                         "is farther by exactly $|N|^2$.",
                         closest),
              {"nlms", "longhorn"}),
          step_params()),
      "Eq 32 writes $M_t$ for the variable that it minimises over.");
}

// ---- Kaczmarz -------------------------------------------------------------------------------------------------------

std::vector<Point> kaczmarz(const Protocol &protocol) {
  std::vector<Point> points;
  const auto own = [](int sweeps) {
    return labels({{"n", num(4)}, {"Dk", num(6)}, {"Dv", num(3)}, {"cosine", num(0.3)}, {"sweeps", num(sweeps)}});
  };
  for (const Params &p : points_of(protocol, {own(1), own(4), own(32)})) {
    const int n = p.integer("n"), Dk = p.integer("Dk"), Dv = p.integer("Dv"), sweeps = p.integer("sweeps");
    if (n > Dk) usage_error("an interpolant of n independent keys needs n <= Dk");
    const Pairs x(Dense(n, Dk, make_keys({"equicorrelated", n, Dk, p.real("cosine")}, 1, protocol.seed)),
                  normal_matrix(n, Dv, protocol.seed, "003/values"));
    const Dense target = x.best(), origin(Dv, Dk), ones(Dv, Dk, std::vector<double>(size_t(Dv) * Dk, 1));
    const auto cycle = [&](const std::string &variant, const Dense &start, double relaxation) {
      Sequence s;
      s.shape = {1, 1, n * sweeps, Dk, Dv};
      for (int i = 0; i < sweeps; ++i) {
        s.k.insert(s.k.end(), x.K.data.begin(), x.K.data.end());
        s.v.insert(s.v.end(), x.V.data.begin(), x.V.data.end());
      }
      s.q = s.k, s.beta.assign(n * sweeps, relaxation), s.state = start.data;
      return memory(run(variant, s), s.shape);
    };
    // The distance from the target is multiplied by one projector per pair, in the order of the pairs.
    Dense sweep = Dense::identity(Dk), reversed = sweep;
    for (int i = 0; i < n; ++i) {
      const auto projector = [&](int j) {
        const Dense k = column(x.K.data, j, Dk);
        return Dense::identity(Dk) - 1 / square(k) * write(k, k);
      };
      sweep = sweep * projector(i), reversed = reversed * projector(n - 1 - i);
    }
    const auto remaining = [&](const Dense &start, const Dense &factor, int times) {
      Dense left = start - target;
      for (int i = 0; i < times; ++i) left = left * factor;
      return target + left;
    };
    const double units = 16.0 * n * sweeps * Dk * (1 + max_abs(target.data));
    const auto is = [&](const Dense &M, const Dense &expected) { return exact_point(M.data, expected.data, units); };
    const Dense M = cycle("nlms", origin, 1);
    points.push_back(as_statement(is(M, remaining(origin, sweep, sweeps)), p,
                                  "each pass multiplies the distance by the projectors"));
    points.push_back(
        rival_system(is(cycle("delta_net", origin, 2), remaining(origin, sweep, sweeps)), p, "relaxation 2"));
    // The law and its rivals can be told apart while the distance is well above rounding.
    const Dense expected = remaining(origin, sweep, sweeps);
    if (max_abs((expected - target).data) > 1e4 * units * epsilon_of(Real::f64)) {
      points.push_back(rival_law(is(M, remaining(origin, sweep, sweeps - 1)), p, "one pass fewer"));
      if (n > 1)
        points.push_back(rival_law(is(M, remaining(origin, reversed, sweeps)), p, "the projectors in reverse order"));
    }
    if (n < Dk) {
      const Dense from_ones = cycle("nlms", ones, 1);
      points.push_back(as_obligation(is(from_ones, remaining(ones, sweep, sweeps)), p, "from elsewhere: the same law"));
      points.push_back(rival_system(is(from_ones, remaining(origin, sweep, sweeps)), p, "another start"));
    }
    // At a rate r per pass it reaches the target to rounding once r^sweeps < eps.
    const double rate = spectral_norm(sweep * (pseudo_inverse(x.K) * x.K));
    if (sweeps * std::log(rate) < std::log(epsilon_of(Real::f64)))
      points.push_back(as_statement(is(M, target), p, "the min-norm interpolant"));
  }
  return points;
}

Claim kaczmarz_claim() {
  return explained(
      at_parameters(
          running(ledger_row(
                      "kaczmarz-convergence", "003 after Eq 33",
                      "The NLMS update is known as the projection method or Kaczmarz's method in optimisation "
                      "theory.",
                      "In cyclic passes over $n <= Dk$ independent pairs $M_s - M$_* = ($M_0 - M$_*) (product of the "
                      "projectors)^s: linear convergence, from the origin to the min-norm interpolant.",
                      kaczmarz),
                  {"nlms", "delta_net"}),
          {integer_param("n", 4, 1, 32, "pairs"), integer_param("Dk", 6, 1, 64, "key width"),
           integer_param("Dv", 3, 1, 16, "value width"),
           real_param("cosine", 0.3, 0.01, 0.9, "inner product of any two keys"),
           integer_param("sweeps", 32, 1, 200, "passes over the pairs")}),
      "From elsewhere it converges too, but keeps the part of the start that no key sees: an interpolant, not the "
      "shortest.");
}

} // namespace

std::vector<Claim> vignette_3_nlms() { return {limit_claim(), closest_claim(), kaczmarz_claim()}; }

} // namespace recollect::theory
