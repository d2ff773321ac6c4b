// SPDX-License-Identifier: Apache-2.0
// 000 §2.2.2, Eq 45-48: the optimal memory S* of fixed weights against the least-squares solution on data, and against
// where DeltaNet goes (delta_paths.hpp has the laws, convergence.cpp the claims about them one by one).
#include "theory/associative_memory/optimum.hpp"
#include "harness/numerics/verdict.hpp"
#include "theory/support/path_points.hpp"

namespace recollect::theory {
namespace {

struct Sizes {
  int D, m, dv, n;
};

Params params_of(const Sizes &size, const std::string &quantity) {
  Params p;
  return p.set("D", size.D).set("m", size.m).set("dv", size.dv).set("n", size.n).set("quantity", quantity);
}

/// The layer with E[x x^T] replaced by the data's own second moment: Eq 46 and least squares then speak of the same
/// data.
struct Fit {
  Layer layer;
  Dense keys, values, solution;
  double conditioning;
};
Fit fit(Layer layer, const Dense &X) {
  layer.moment = 1.0 / X.rows * (transpose(X) * X);
  const Dense keys = X * transpose(layer.Wk), values = X * transpose(layer.Wv);
  return {layer, keys, values, least_squares(keys, values), optimum_conditioning(keys, values)};
}
Fit random_fit(const Sizes &s, std::uint64_t seed) {
  const Layer layer = random_layer(s.D, s.m, s.dv, seed);
  return fit(layer, draw_inputs(layer.moment, s.n, seed));
}

Point same(const Dense &formula, const Fit &f, const Sizes &size, const std::string &tier,
           const std::string &quantity) {
  return at(exact_point(max_difference(formula.data, f.solution.data), 0, f.conditioning, 1e-3), tier,
            params_of(size, quantity));
}

std::vector<Point> equation_46(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Sizes size : {Sizes{6, 6, 4, 100}, Sizes{8, 3, 5, 200}, Sizes{16, 8, 8, 400}}) {
    const Fit f = random_fit(size, protocol.seed);
    points.push_back(same(optimum_eq46(f.layer), f, size, "exact", "Eq 46 - least squares"));
  }
  // Two equal rows of Wk: the inverse does not exist, the pseudo-inverse gives the solution of least norm.
  const Sizes size{6, 3, 4, 100};
  Layer layer = random_layer(size.D, size.m, size.dv, protocol.seed);
  for (int c = 0; c < size.D; ++c) layer.Wk(2, c) = layer.Wk(1, c);
  Fit f = fit(layer, draw_inputs(layer.moment, size.n, protocol.seed));
  const std::vector<double> s = singular_values(f.keys); // the rank is 2
  f.conditioning = 4.0 * size.n * std::pow(s[0] / s[1], 2) * frobenius_norm(f.values) / s[1];
  points.push_back(
      same(optimum_eq46(f.layer), f, size, "exact", "Eq 46 with the pseudo-inverse - least squares of least norm"));
  return points;
}

/// Wk square: two data distributions, one optimum.
std::vector<Point> equation_47(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Sizes size : {Sizes{6, 6, 4, 100}, Sizes{12, 12, 12, 300}}) {
    const Layer layer = random_layer(size.D, size.m, size.dv, protocol.seed);
    const Dense printed = layer.Wv * inverse(layer.Wk);
    for (std::uint64_t data : {1, 2}) {
      const Dense moment = random_layer(size.D, size.m, size.dv, protocol.seed + 1000 * data).moment;
      const Fit f = fit(layer, draw_inputs(moment, size.n, protocol.seed + data));
      points.push_back(same(printed, f, size, "exact", "Wv Wk^-1 - least squares"));
      points.back().params.set("data", double(data));
    }
  }
  return points;
}

/// Eq 48 against least squares: the smallest data that shows the gap, then Eq 46 in its place, and where Eq 48 does
/// hold.
std::vector<Point> equation_48(const Protocol &protocol) {
  std::vector<Point> points;
  const Sizes smallest{2, 1, 1, 2};
  const Dense row(1, 2, {1, 0}), X(2, 2, {1, 1, 0, 1}); // E[x x^T] ~ [[1,1],[1,2]], k = v = x_1: S* = 1
  const Fit counter_example = fit({row, row, Dense(2, 2)}, X);
  points.push_back(at(exact_point(optimum_eq48(counter_example.layer)(0, 0), counter_example.solution(0, 0), 1e3, 0.1),
                      "paper", params_of(smallest, "Eq 48, x = (1,1), (0,1), Wk = Wv = (1,0)")));
  for (const Sizes size : {Sizes{8, 3, 5, 200}, Sizes{16, 8, 8, 400}}) {
    const Fit f = random_fit(size, protocol.seed);
    points.push_back(same(optimum_eq46(f.layer), f, size, "corrected", "Eq 46 - least squares"));
    Layer isotropic = f.layer;
    isotropic.moment = 2.0 * Dense::identity(size.D);
    const double units = 100.0 * size.D *
                         std::pow(spectral_norm(isotropic.Wk) / singular_values(isotropic.Wk).back(), 2) *
                         frobenius_norm(isotropic.Wv);
    points.push_back(
        at(exact_point(max_difference(optimum_eq48(isotropic).data, optimum_eq46(isotropic).data), 0, units, 1e-3),
           "exact", params_of(size, "Eq 48 - Eq 46 for isotropic data")));
  }
  return points;
}

/// S* of one low-rank layer under two data distributions, and of an invertible one.
std::vector<Point> depends_on_data(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Sizes size : {Sizes{8, 3, 5, 200}, Sizes{8, 8, 5, 200}}) {
    const Layer layer = random_layer(size.D, size.m, size.dv, protocol.seed);
    const Fit one = fit(layer, draw_inputs(layer.moment, size.n, protocol.seed));
    const Fit two = fit(
        layer, draw_inputs(random_layer(size.D, size.m, size.dv, protocol.seed + 1).moment, size.n, protocol.seed + 1));
    const double gap = frobenius_norm(one.solution - two.solution) / frobenius_norm(one.solution),
                 rounding = (one.conditioning + two.conditioning) * epsilon_of(Real::f64);
    points.push_back(size.m < size.D ? at(bounded_point(gap, Point::at_least, 0.01, rounding, 0.01), "exact",
                                          params_of(size, "relative change of S*, low rank"))
                                     : at(bounded_point(gap, Point::at_most, 0, rounding, 0.01), "exact",
                                          params_of(size, "relative change of S*, invertible")));
  }
  return points;
}

std::vector<Point> single_head(const Protocol &protocol) {
  std::vector<Point> points = equation_46(protocol);
  append(points, equation_47(protocol));
  const int d = 8, dv = 4;
  for (double beta : {0.5, 1.0, 1.5, 2.5})
    points.push_back(square_point({KeyLaw::unit, d, dv, beta, 0}, 3000, 2 * d, protocol.seed,
                                  beta < 2 ? "convergence" : "boundary"));
  points.push_back(arrival_point({KeyLaw::unit, d, dv, 1, 0}, 50, 60 * d, protocol.seed));
  for (double beta : {0.1, 0.15, 0.25, 1.0}) // stable below 2/(d+2) = 0.2
    points.push_back(square_point({KeyLaw::gaussian, d, dv, beta, 0}, 20000, 1, protocol.seed,
                                  beta < 0.2 ? "convergence" : "boundary"));
  return points;
}

/// Low-rank heads: k = Wk x with E[k k^T] = I, v = Wv x = S* k + e, and S* of Eq 46. The rest e has covariance R != 0.
struct Head {
  Layer layer;
  Dense optimum;
  double residual; // tr R
};
Head low_rank_head(int D, int m, int dv, std::uint64_t seed) {
  Layer l = random_layer(D, m, dv, seed);
  l.Wk = inverse(cholesky(l.Wk * l.moment * transpose(l.Wk))) * l.Wk;
  const Dense optimum = optimum_eq46(l), R = l.Wv * l.moment * transpose(l.Wv) - optimum * transpose(optimum);
  return {l, optimum, trace(R)};
}

std::vector<Point> multi_head_paths(const Protocol &protocol) {
  std::vector<Point> points;
  const int D = 12, m = 4, dv = 3, runs = 4000;
  const Head head = low_rank_head(D, m, dv, protocol.seed);
  const double start = std::pow(frobenius_norm(head.optimum), 2);
  const Dense printed = optimum_eq48(head.layer);
  for (int T : {1, 4, 40}) {
    const DeltaPaths law{KeyLaw::gaussian, m, dv, 0.1, std::sqrt(head.residual / dv)};
    const Dense X = draw_inputs(head.layer.moment, runs * T, protocol.seed + T);
    Sequence s;
    s.shape = {runs, 1, T, m, dv};
    s.k = (X * transpose(head.layer.Wk)).data, s.q = s.k;
    s.v = (X * transpose(head.layer.Wv)).data;
    s.beta.assign(size_t(runs) * T, law.beta);
    const std::vector<Dense> states = final_states(s);
    const auto params = [&](const std::string &quantity) {
      Params p;
      return p.set("D", D).set("m", m).set("dv", dv).set("beta", law.beta).set("T", T).set("quantity", quantity);
    };
    const Mean square = mean_of(squared_errors(states, head.optimum)),
               mean = mean_of(projections(states, head.optimum));
    const double expected = law.square_after(T, start), approach = (1 - std::pow(law.mean_factor(), T)) * start;
    points.push_back(at(sampled_point(square.mean, expected, square.standard_error, 0.4 * expected), "expectation",
                        params("mean of |S_T - S*|^2, S* of Eq 46")));
    points.push_back(at(sampled_point(mean.mean, approach, mean.standard_error, 0.4 * approach), "expectation",
                        params("mean of <S_T, S*>, S* of Eq 46")));
    if (T == 40) { // where the mean state lies on the line from Eq 46's optimum (0) to Eq 48's (1)
      const Dense line = printed - head.optimum;
      std::vector<double> places = projections(states, line);
      for (double &x : places) x = (x - trace(transpose(head.optimum) * line)) / std::pow(frobenius_norm(line), 2);
      const double left =
          -std::pow(law.mean_factor(), T) * trace(transpose(head.optimum) * line) / std::pow(frobenius_norm(line), 2);
      const Mean place = mean_of(places);
      points.push_back(at(sampled_point(place.mean, left, place.standard_error, 0.5), "expectation",
                          params("mean state on the line from Eq 46 (0) to Eq 48 (1)")));
    }
  }
  return points;
}

std::vector<Point> multi_head(const Protocol &protocol) {
  std::vector<Point> points = equation_48(protocol);
  append(points, multi_head_paths(protocol));
  return points;
}

} // namespace

std::vector<Claim> optimum() {
  Claim single = ledger_row(
      "sstar-eq46", "000 Eq 46-47, §2.2.2",
      "The optimal memory of single-head DeltaNet is S* = Wv Wk^-1, and as updates progress S converges to it.",
      "S* is the least-squares solution for every data distribution of full rank. With values v = S* k, isotropic unit "
      "keys converge for "
      "step sizes 0 < beta < 2, E|S_t - S*|^2 falling by 1 - beta (2 - beta)/d a step; standard Gaussian keys only for "
      "beta < 2/(d+2).",
      single_head);
  single.id = "optimum_single_head", single.covers = {"sstar-eq46", "sstar-eq47", "deltanet-converges-unit"};
  Claim multi = refuted_row(
      "sstar-eq48", Scope::paper, "000 Eq 48, §2.2.2",
      "With low-rank Wk the optimum is S* = Wv E[xx^T] Wk^+ Wk E[xx^T]^-1 Wk^+.",
      "Keep Eq 46: Eq 48 equals it only for isotropic data or invertible Wk. DeltaNet's mean state tends to Eq 46's "
      "S*, and the state keeps "
      "fluctuating about it with E|S - S*|^2 = beta d tr(R) / (2 - beta (d+2)), R the covariance of v given k.",
      multi_head);
  multi.id = "optimum_multi_head", multi.covers = {"sstar-eq48", "multihead-deltanet"};
  return {
      running(single, {"delta_net"}),
      running(multi, {"delta_net"}),
      ledger_row("sstar-eq46", "000 Eq 46, 113-116",
                 "S* = (Wv E[xx^T] Wk^T)(Wk E[xx^T] Wk^T)^-1 minimises E |S Wk x - Wv x|^2.",
                 "Needs Wk E[xx^T] Wk^T invertible (Wk of full row rank); else the pseudo-inverse gives the minimiser "
                 "of least norm.",
                 equation_46),
      ledger_row("sstar-eq47", "000 Eq 47", "For invertible Wk, S* = Wv Wk^-1.",
                 "Whatever E[xx^T], as long as it has full rank.", equation_47),
      refuted_row("sstar-eq48", Scope::paper, "000 Eq 48", "For low-rank Wk, S* = Wv E[xx^T] Wk^+ Wk E[xx^T]^-1 Wk^+.",
                  "(Wk E Wk^T)^-1 is not (Wk^T)^+ E^-1 Wk^+ unless E commutes with the projector Wk^+ Wk (isotropic "
                  "data, invertible Wk). Keep Eq 46.",
                  equation_48),
      ledger_row("sstar-depends-on-data", "000 after Eq 48", "For low-rank Wk, S* depends on the data distribution.",
                 "It does for m < D and does not for invertible Wk; for one stationary distribution it is still one "
                 "fixed matrix.",
                 depends_on_data),
      running(ledger_row("multihead-deltanet", "000 §2.2.2, multi-head",
                         "Multi-head (low-rank Wk) DeltaNet tends to S* and depends on the data.",
                         "E S_t tends to S* of Eq 46, not of Eq 48; E|S - S*|^2 stays at beta d tr(R) / (2 - beta "
                         "(d+2)), R the covariance of v given k.",
                         multi_head_paths),
              {"delta_net"}),
  };
}

} // namespace recollect::theory
