// SPDX-License-Identifier: Apache-2.0
// 000 §2.2.2, Eq 45-48, and Appendix F: the optimal memory S* for fixed weights Wk and Wv. Each printed form is
// compared with the least-squares solution on data. section_2_2_2_delta_net.cpp tests whether DeltaNet converges to S*.
#include "theory/associative_memory/objectives/optimal_memory.hpp"
#include "theory/support/measure.hpp"

namespace recollect::theory {
namespace {
const ParamSpec input_width = integer_param("D", 8, 2, 32, "width of x"),
                key_width = integer_param("m", 3, 2, 32, "width of k"),
                value_width = integer_param("dv", 5, 1, 32, "width of v");
Layer layer_at(int D, int m, int dv, Seed seed) {
  if (m > D)
    usage_error("keys of width m = " + number(m) + " from inputs of width D = " + number(D) + ": m is at most D");
  return random_layer(D, m, dv, seed);
}

/// 25 D inputs that follow N(0, moment), as rows.
Dense inputs_of(const Dense &moment, std::uint64_t seed) {
  return normal_matrix(25 * moment.rows, moment.rows, seed, "optimum/inputs") * transpose(cholesky(moment));
}

/// The layer with the E[x x^T] of the data as its moment, so printed forms and least squares use the same moment.
struct Fit {
  Layer layer;
  Dense solution;
  double units;
};
Fit fit(Layer layer, const Dense &X, int rank) {
  layer.moment = 1.0 / X.rows * (transpose(X) * X);
  const Dense keys = X * transpose(layer.Wk), values = X * transpose(layer.Wv);
  return {layer, least_squares(keys, values), optimum_conditioning(keys, values, rank)};
}
Fit fit(const Layer &layer, std::uint64_t seed) { return fit(layer, inputs_of(layer.moment, seed), layer.Wk.rows); }
/// The fit on data whose second moment is `scale` times the identity.
Fit isotropic_fit(const Layer &layer, double scale = 1) {
  const int D = layer.Wk.columns;
  return fit(layer, std::sqrt(scale * D) * Dense::identity(D), layer.Wk.rows);
}
Point against(const Fit &f, const Dense &form) { return exact_point(f.solution.data, form.data, f.units); }

Layer with_moment(Layer layer, const Dense &moment) {
  layer.moment = moment;
  return layer;
}

Claim equation_46() {
  ClaimBuilder c("sstar-eq46", "000 Eq 45-46, Appendix F (Eq 112-116)");
  c.says("The minimiser over $S$ of $E|S Wk x - Wv x|^2 / 2$ is $(Wv E[xx^T] Wk^T)(Wk E[xx^T] Wk^T)^-1$.");
  c.exactly("This is the least-squares solution if $Wk E[xx^T] Wk^T$ is invertible. If it is not, the pseudo-inverse "
            "in place of the inverse gives the minimiser of least norm.");
  c.takes({input_width, key_width, value_width});
  c.at({{}, {{"D", 6}, {"m", 6}, {"dv", 4}}, {{"D", 16}, {"m", 8}, {"dv", 8}}});
  return measure(c, [](Points &points, Seed seed, int D, int m, int dv) {
    const Layer layer = layer_at(D, m, dv, seed);
    const Fit f = fit(layer, seed);
    const Dense form = optimum_eq46(f.layer);
    points.rounding(f.units);
    auto stated = points.statement("least squares against Eq 46", f.solution, form);
    if (m < D) { // otherwise S* does not depend on the data
      stated.but_not("$Wv Wk^+$, without $E[x x^T]$", f.layer.Wv * pseudo_inverse(f.layer.Wk))
          .but_not("$E[x x^T]^-1$ in place of $E[x x^T]$", optimum_eq46(with_moment(f.layer, inverse(f.layer.moment))));
      points.wrong_system("isotropic data", isotropic_fit(layer).solution, form);
    }
    stated.but_not("the first factor of Eq 46 alone", f.layer.Wv * f.layer.moment * transpose(f.layer.Wk));
    // With two equal rows of Wk there is no inverse; the pseudo-inverse gives the minimiser of least norm.
    Layer equal_rows = layer;
    for (int c = 0; c < D; ++c) equal_rows.Wk(m - 1, c) = equal_rows.Wk(0, c);
    const Fit g = fit(equal_rows, inputs_of(layer.moment, seed), m - 1);
    points.obligation(
        "two equal rows of Wk: least-squares solution of least norm against Eq 46 with the pseudo-inverse",
        against(g, optimum_eq46(g.layer)));
  });
}

Claim equation_47() {
  ClaimBuilder c("sstar-eq47", "000 Eq 47");
  c.says("If $Wk$ is invertible and $E[xx^T]$ is positive definite, the optimal memory is $S* = Wv Wk^-1$.");
  c.exactly("This holds for any distribution of $x$.");
  c.takes({input_width, value_width}), c.at({{{"D", 6}, {"dv", 4}}, {{"D", 12}, {"dv", 12}}});
  return measure(c, [](Points &points, Seed seed, int D, int dv) {
    const Layer layer = random_layer(D, D, dv, seed);
    const Dense form = layer.Wv * inverse(layer.Wk);
    const Fit one = fit(layer, seed), two = fit(with_moment(layer, random_moment(D, seed + 1)), seed + 1);
    Layer singular = layer; // Wk loses a row
    for (int c = 0; c < D; ++c) singular.Wk(0, c) = 0;
    const Fit without = fit(singular, inputs_of(layer.moment, seed), D - 1);
    points.rounding(one.units);
    points.statement("least squares against $Wv Wk^-1$, one distribution of x", one.solution, form)
        .but_not("$Wv Wk^T$", layer.Wv * transpose(layer.Wk))
        .but_not("Wv Wk", layer.Wv * layer.Wk);
    points.wrong_system("Wk with a row of zeros", without.solution, form);
    points.rounding(two.units).statement("least squares against $Wv Wk^-1$, another distribution of x", two.solution,
                                         form);
  });
}

Claim equation_48() {
  ClaimBuilder c("sstar-eq48", "000 Eq 48");
  c.says("With multiple heads $Wk$ and $Wv$ have low rank, and $S* = Wv E[xx^T] Wk^+ Wk E[xx^T]^-1 Wk^+$.");
  c.is_refuted(asserted("§2.2.2, multi-head DeltaNet: 'Eq. 46 is thus simplified to' Eq 48.",
                        "$W_k$ and $W_v$ of low rank",
                        "The next sentences conclude that $E[xx^T]$ cannot be eliminated and that $S*$ depends on the "
                        "data; they do not restrict the formula.",
                        "What we use of Eq 48 is that $E[xx^T]$ does not cancel, so that $S*$ depends on the data; Eq "
                        "46 shows it as well. The simplification holds where the data are isotropic on the heads' "
                        "subspaces, and we should have kept Eq 46."));
  c.exactly("Eq 46 should stay as it is. Eq 48 equals Eq 46 only if $E[xx^T]$ commutes with the projector $Wk^+ Wk$ "
            "(isotropic data) or Wk is invertible. The smallest counter-example is $E[xx^T] ~ [[1,1],[1,2]]$ with $k = "
            "v = x_1$, where Eq 48 gives 2 and the minimiser is 1.");
  c.because("Eq 46 is right. The step to Eq 48 splits $(Wk E Wk^T)^-1$, $E = E[xx^T]$, into $(Wk^T)^+ E^-1 Wk^+$, "
            "which is not valid for pseudo-inverses. The conclusion of the text, that $S*$ then depends on the data, "
            "is true (sstar_depends_on_data).");
  c.takes({input_width, key_width, value_width}), c.at({{}, {{"D", 16}, {"m", 8}, {"dv", 8}}});
  c.first([](Points &points, const Protocol &) { // E[x x^T] ~ [[1,1],[1,2]] and k = v = x_1: S* = 1
    const Dense first(1, 2, {1, 0}), X(2, 2, {1, 1, 0, 1});
    const Fit smallest = fit({first, first, Dense(2, 2)}, X, 1);
    points.at({{"D", 2}, {"m", 1}, {"dv", 1}});
    points.statement("least squares against Eq 48, $x = (1,1)$, (0,1), $Wk = Wv = (1,0)$",
                     against(smallest, optimum_eq48(smallest.layer)));
  });
  return measure(c, [](Points &points, Seed seed, int D, int m, int dv) {
    const Layer layer = layer_at(D, m, dv, seed);
    if (m == D) usage_error("at m = D the projection has full rank, and Eq 48 is Eq 47");
    const Fit f = fit(layer, seed), isotropic = isotropic_fit(layer, 2),
              invertible = fit(random_layer(D, D, dv, seed), seed);
    const Vector of_moment = singular_values(invertible.layer.moment);
    points.rounding(f.units).statement("least squares against Eq 48", f.solution, optimum_eq48(f.layer));
    points.obligation("least squares against Eq 46", f.solution, optimum_eq46(f.layer))
        .but_not("$Wv Wk^+$", f.layer.Wv * pseudo_inverse(f.layer.Wk));
    points.wrong_system("Eq 48 for other data", f.solution, optimum_eq48(isotropic.layer));
    points.obligation("isotropic data: least squares against Eq 48", against(isotropic, optimum_eq48(isotropic.layer)));
    points.rounding(invertible.units * of_moment.front() / of_moment.back())
        .obligation("invertible Wk: least squares against Eq 48", invertible.solution, optimum_eq48(invertible.layer));
  });
}

Claim depends_on_data() {
  ClaimBuilder c("sstar-depends-on-data", "000 §2.2.2 after Eq 48");
  c.says("With low-rank projections $E[xx^T]$ cannot be eliminated: the optimal memory $S*$ depends on the "
         "distribution of the data and may not be fixed.");
  c.exactly("$S*$ depends on the distribution if $m < D$, and does not if $Wk$ is invertible.");
  c.because("For one stationary distribution of the data $S*$ is still one fixed matrix. It is 'not fixed' only if the "
            "distribution changes.");
  c.takes({input_width, key_width, value_width}), c.at({{}, {{"D", 12}, {"m", 4}, {"dv", 3}}});
  return measure(c, [](Points &points, Seed seed, int D, int m, int dv) {
    const Layer layer = layer_at(D, m, dv, seed), square = random_layer(D, D, dv, seed);
    if (m == D) usage_error("at m = D the projection has full rank, and S* does not depend on the data");
    const auto elsewhere = [&](const Layer &of) { return fit(with_moment(of, random_moment(D, seed + 1)), seed + 1); };
    const Fit one = fit(layer, seed), two = elsewhere(layer), invertible = elsewhere(square),
              flat = isotropic_fit(layer, 1), scaled = isotropic_fit(layer, 3);
    const auto change = [](const Dense &a, const Dense &b) { return frobenius_norm(a - b) / frobenius_norm(a); };
    const double law = change(optimum_eq46(one.layer), optimum_eq46(two.layer));
    points.rounding(4 * (one.units + two.units));
    points.statement(
        "relative change of the least-squares $S*$ between two distributions of x, against the change by Eq 46",
        change(one.solution, two.solution), law);
    points.wrong_system("two isotropic distributions, between which $S*$ does not change",
                        change(flat.solution, scaled.solution), law);
    points.rounding(two.units)
        .statement("least squares on the second distribution against Eq 46 for this distribution", two.solution,
                   optimum_eq46(two.layer))
        .but_not("the $S*$ of the first distribution", optimum_eq46(one.layer));
    points.obligation("$m = D$, the second distribution: least squares against $Wv Wk^-1$",
                      against(invertible, square.Wv * inverse(square.Wk)));
  });
}
} // namespace

std::vector<Claim> eq_46_optimal_memory() { return {equation_46(), equation_47(), equation_48(), depends_on_data()}; }
} // namespace recollect::theory
