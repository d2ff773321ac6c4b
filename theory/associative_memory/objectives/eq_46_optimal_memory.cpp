// SPDX-License-Identifier: Apache-2.0
// 000 §2.2.2, Eq 45-48, and Appendix F: the optimal memory S* of fixed weights, each printed form against the least-squares
// solution on data. Where DeltaNet goes: section_2_2_2_delta_net.cpp.
#include "harness/core/error.hpp"
#include "theory/associative_memory/objectives/optimal_memory.hpp"
#include "theory/support/layer_points.hpp"

namespace recollect::theory {
namespace {

const ParamSpec input_width = integer_param("D", 8, 2, 32, "width of x"),
                key_width = integer_param("m", 3, 2, 32, "width of k"),
                value_width = integer_param("dv", 5, 1, 32, "width of v");
Params place(int D, int m, int dv) { return labels({{"D", num(D)}, {"m", num(m)}, {"dv", num(dv)}}); }
Layer layer_at(const Params &at, std::uint64_t seed) {
  const int D = at.integer("D"), m = at.has("m") ? at.integer("m") : D;
  if (m > D)
    usage_error("keys of width m = " + number(m) + " from inputs of width D = " + number(D) + ": m is at most D");
  return random_layer(D, m, at.integer("dv"), seed);
}

/// 25 D inputs of N(0, moment), as rows.
Dense inputs_of(const Dense &moment, std::uint64_t seed) {
  return normal_matrix(25 * moment.rows, moment.rows, seed, "optimum/inputs") * transpose(cholesky(moment));
}

/// The layer with E[x x^T] replaced by the data's own second moment, so that the forms and least squares speak of the same
/// data.
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
/// On data whose second moment is `scale` times the identity.
Fit isotropic_fit(const Layer &layer, double scale = 1) {
  const int D = layer.Wk.columns;
  return fit(layer, std::sqrt(scale * D) * Dense::identity(D), layer.Wk.rows);
}
Point against(const Fit &f, const Dense &form) { return exact_point(f.solution.data, form.data, f.units); }
Point rival(const Fit &f, const Params &at, const std::string &name, const Dense &form) {
  return rival_law(f.solution.data, at, name, form.data, f.units);
}

Layer with_moment(Layer layer, const Dense &moment) {
  layer.moment = moment;
  return layer;
}

Claim equation_46() {
  const auto measure = [](const Protocol &protocol) {
    std::vector<Point> points;
    for (const Params &at : points_of(protocol, {place(8, 3, 5), place(6, 6, 4), place(16, 8, 8)})) {
      const Layer layer = layer_at(at, protocol.seed);
      const int D = layer.Wk.columns, m = layer.Wk.rows;
      const Fit f = fit(layer, protocol.seed);
      const Dense form = optimum_eq46(f.layer);
      points.push_back(as_statement(against(f, form), at, "least squares against Eq 46"));
      if (m < D) { // otherwise S* does not depend on the data
        append(points,
               {rival_system(exact_point(isotropic_fit(layer).solution.data, form.data, f.units), at,
                             "isotropic data in place of these"),
                rival(f, at, "without E[x x^T]: Wv Wk^+", f.layer.Wv * pseudo_inverse(f.layer.Wk)),
                rival(f, at, "E[x x^T]^-1 for E[x x^T]", optimum_eq46(with_moment(f.layer, inverse(f.layer.moment))))});
      }
      points.push_back(rival(f, at, "the first factor alone", f.layer.Wv * f.layer.moment * transpose(f.layer.Wk)));
      // Two equal rows of Wk: no inverse; the pseudo-inverse gives the minimiser of least norm.
      Layer equal_rows = layer;
      for (int c = 0; c < D; ++c) equal_rows.Wk(m - 1, c) = equal_rows.Wk(0, c);
      const Fit g = fit(equal_rows, inputs_of(layer.moment, protocol.seed), m - 1);
      points.push_back(as_obligation(against(g, optimum_eq46(g.layer)), at,
                                     "two rows of Wk equal: least squares of least norm against the pseudo-inverse"));
    }
    return points;
  };
  return at_parameters(
      ledger_row("sstar-eq46", "000 Eq 45-46, Appendix F (Eq 112-116)",
                 "The minimiser over $S$ of $E|S Wk x - Wv x|^2 / 2$ is $(Wv E[xx^T] Wk^T)(Wk E[xx^T] Wk^T)^-1$.",
                 "It equals least squares. It needs $Wk E[xx^T] Wk^T$ invertible; otherwise the pseudo-inverse "
                 "gives the minimiser of least norm.",
                 measure),
      {input_width, key_width, value_width});
}

Claim equation_47() {
  const auto measure = [](const Protocol &protocol) {
    std::vector<Point> points;
    const auto square = [](int D, int dv) { return labels({{"D", num(D)}, {"dv", num(dv)}}); };
    for (const Params &at : points_of(protocol, {square(6, 4), square(12, 12)})) {
      const Layer layer = layer_at(at, protocol.seed);
      const Dense form = layer.Wv * inverse(layer.Wk);
      const Fit one = fit(layer, protocol.seed),
                two = fit(with_moment(layer, random_moment(layer.Wk.columns, protocol.seed + 1)), protocol.seed + 1);
      Layer singular = layer; // Wk loses a row
      for (int c = 0; c < layer.Wk.columns; ++c) singular.Wk(0, c) = 0;
      append(points,
             {as_statement(against(one, form), at, "least squares against Wv Wk^-1, one law of x"),
              rival_system(
                  exact_point(fit(singular, inputs_of(layer.moment, protocol.seed), layer.Wk.rows - 1).solution.data,
                              form.data, one.units),
                  at, "Wk with a row of zeros"),
              as_statement(against(two, form), at, "least squares against Wv Wk^-1, another law of x"),
              rival(one, at, "Wv Wk^T", layer.Wv * transpose(layer.Wk)), rival(one, at, "Wv Wk", layer.Wv * layer.Wk)});
    }
    return points;
  };
  return at_parameters(ledger_row("sstar-eq47", "000 Eq 47",
                                  "Where Wk is invertible and $E[xx^T]$ positive definite, $S* = Wv Wk^-1$.",
                                  "Whatever the law of $x$.", measure),
                       {input_width, value_width});
}

Claim equation_48() {
  const auto measure = [](const Protocol &protocol) {
    // E[x x^T] ~ [[1,1],[1,2]] and k = v = x_1: S* = 1.
    const Dense first(1, 2, {1, 0}), X(2, 2, {1, 1, 0, 1});
    const Fit smallest = fit({first, first, Dense(2, 2)}, X, 1);
    std::vector<Point> points{as_statement(against(smallest, optimum_eq48(smallest.layer)), place(2, 1, 1),
                                           "least squares against Eq 48, x = (1,1), (0,1), Wk = Wv = (1,0)")};
    for (const Params &at : points_of(protocol, {place(8, 3, 5), place(16, 8, 8)})) {
      const Layer layer = layer_at(at, protocol.seed);
      if (layer.Wk.rows == layer.Wk.columns) usage_error("at m = D the projection has full rank, and Eq 48 is Eq 47");
      const Fit f = fit(layer, protocol.seed), isotropic = isotropic_fit(layer, 2),
                invertible =
                    fit(random_layer(layer.Wk.columns, layer.Wk.columns, layer.Wv.rows, protocol.seed), protocol.seed);
      const auto conditioned = [](Fit g, double condition) {
        g.units *= condition;
        return g;
      };
      const std::vector<double> of_moment = singular_values(invertible.layer.moment);
      append(points,
             {as_statement(against(f, optimum_eq48(f.layer)), at, "least squares against Eq 48"),
              as_obligation(against(f, optimum_eq46(f.layer)), at, "least squares against Eq 46"),
              rival(f, at, "Wv Wk^+", f.layer.Wv * pseudo_inverse(f.layer.Wk)),
              as_obligation(against(isotropic, optimum_eq48(isotropic.layer)), at,
                            "isotropic data: least squares against Eq 48"),
              rival_system(exact_point(f.solution.data, optimum_eq48(isotropic.layer).data, f.units), at, "other data"),
              as_obligation(against(conditioned(invertible, of_moment.front() / of_moment.back()),
                                    optimum_eq48(invertible.layer)),
                            at, "invertible Wk: least squares against Eq 48")});
    }
    return points;
  };
  return at_parameters(
      explained(
          refuted_row(
              "sstar-eq48",
              asserted(
                  "§2.2.2, multi-head DeltaNet: 'Eq. 46 is thus simplified to' Eq 48.", "$W_k$ and $W_v$ of low rank",
                  "The next sentences conclude that $E[xx^T]$ cannot be eliminated and that $S*$ depends on the data; "
                  "they do not restrict the formula.",
                  "What we use of Eq 48 is that $E[xx^T]$ does not cancel, so that $S*$ depends on the data; Eq 46 "
                  "shows it as well. The simplification holds where the data are isotropic on the heads' "
                  "subspaces, and we should have kept Eq 46."),
              "000 Eq 48",
              "With multiple heads Wk and Wv have low rank, and $S* = Wv E[xx^T] Wk^+ Wk E[xx^T]^-1 Wk^+$.",
              "Keep Eq 46. Eq 48 equals it only where $E[xx^T]$ commutes with the projector $Wk^+ Wk$ (isotropic data) "
              "or Wk is invertible. Smallest counter-example: $E[xx^T] ~ [[1,1],[1,2]]$, $k = v = x_1$: 2 for 1.",
              measure),
          "Eq 46 is right. The step to Eq 48 pulls $(Wk E Wk^T)^-1$ apart into $(Wk^T)^+ E^-1 Wk^+$, which "
          "pseudo-inverses do not allow. What the text concludes, that $S*$ then depends on the data, is true "
          "(sstar_depends_on_data)."),
      {input_width, key_width, value_width});
}

Claim depends_on_data() {
  const auto measure = [](const Protocol &protocol) {
    std::vector<Point> points;
    for (const Params &at : points_of(protocol, {place(8, 3, 5), place(12, 4, 3)})) {
      const Layer layer = layer_at(at, protocol.seed);
      const int D = layer.Wk.columns;
      if (layer.Wk.rows == D) usage_error("at m = D the projection has full rank, and S* does not depend on the data");
      const Layer elsewhere = with_moment(layer, random_moment(D, protocol.seed + 1));
      const Fit one = fit(layer, protocol.seed), two = fit(elsewhere, protocol.seed + 1),
                flat = isotropic_fit(layer, 1), scaled = isotropic_fit(layer, 3);
      const auto change = [](const Dense &a, const Dense &b) { return frobenius_norm(a - b) / frobenius_norm(a); };
      const double law = change(optimum_eq46(one.layer), optimum_eq46(two.layer)), units = 4 * (one.units + two.units);
      const Layer square = random_layer(D, D, layer.Wv.rows, protocol.seed);
      const Fit invertible = fit(with_moment(square, random_moment(D, protocol.seed + 1)), protocol.seed + 1);
      append(points, {as_statement(exact_point(change(one.solution, two.solution), law, units), at,
                                   "relative change of the least-squares S* between two laws of x, against Eq 46's"),
                      rival_system(exact_point(change(flat.solution, scaled.solution), law, units), at,
                                   "two isotropic laws: no change"),
                      as_statement(against(two, optimum_eq46(two.layer)), at,
                                   "least squares on the second law against Eq 46's for it"),
                      rival(two, at, "one S* for every law: that of the first", optimum_eq46(one.layer)),
                      as_obligation(against(invertible, square.Wv * inverse(square.Wk)), at,
                                    "m = D, the second law: least squares against Wv Wk^-1")});
    }
    return points;
  };
  return at_parameters(
      explained(ledger_row("sstar-depends-on-data", "000 §2.2.2 after Eq 48",
                           "With low-rank projections $E[xx^T]$ cannot be eliminated: the optimal memory $S*$ depends "
                           "on the distribution of the data and may not be fixed.",
                           "It depends for $m < D$ and does not for invertible Wk.", measure),
                "For one stationary law of the data it is still one fixed matrix: 'not fixed' needs data that "
                "change."),
      {input_width, key_width, value_width});
}

} // namespace

std::vector<Claim> eq_46_optimal_memory() { return {equation_46(), equation_47(), equation_48(), depends_on_data()}; }

} // namespace recollect::theory
