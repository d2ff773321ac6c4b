// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 4, p = 1: the locally linear fit (Eq 52-54): which maps it reproduces, and on which prefixes it has no
// inverse.
#include "harness/core/error.hpp"
#include "theory/test_time_regression/local_weights.hpp"

namespace recollect::theory {
namespace {

/// Eq 52-53 at the query of one step: X has rows (1, k_i - q).
struct LocalData {
  Dense X, V;
  Weights w;
  LocalData(const Sequence &s, int t)
      : X(t + 1, s.shape.Dk + 1), V(rows_of(s.v, t + 1, s.shape.Dv)), w(weights_at(s, t)) {
    for (int i = 0; i <= t; ++i) {
      X(i, 0) = 1;
      for (int c = 0; c < s.shape.Dk; ++c) X(i, 1 + c) = s.k[i * s.shape.Dk + c] - s.q[t * s.shape.Dk + c];
    }
  }
  Dense scaled(Dense m, double power) const {
    for (int i = 0; i < m.rows; ++i)
      for (int c = 0; c < m.columns; ++c) m(i, c) *= std::pow(w[i], power);
    return m;
  }
  /// (V^T W X) (X^T W X + penalties)^{-1} = [M0 M1], [Dv, 1 + Dk]; Eq 52 without penalties.
  Dense eq52(double constant = 0, double slopes = 0) const {
    Dense G = transpose(X) * scaled(X, 1);
    for (int c = 0; c < G.rows; ++c) G(c, c) += c ? slopes : constant;
    return transpose(V) * scaled(X, 1) * inverse(G);
  }
  /// The shortest minimiser of the weighted loss.
  Dense minimiser() const { return transpose(pseudo_inverse(scaled(X, 0.5)) * scaled(V, 0.5)); }
  int rank() const {
    const std::vector<double> values = singular_values(scaled(X, 0.5));
    return int(std::count_if(values.begin(), values.end(), [&](double x) { return x > 1e-12 * values.front(); }));
  }
  /// vbar + sign M1 dbar; Eq 54 has sign -1.
  Dense offset_mean(const Dense &M, double sign = -1) const {
    Dense M1 = M, centre = weighted_mean(X, w);
    centre.data[0] = 0; // the contribution of X's column of ones
    return weighted_mean(V, w) + sign * M1 * centre;
  }
  /// Rounding units of the normal equations: the square of the scaled design's condition number, in the scale of M;
  /// plus the effect of the smallest ridge, which stands for none.
  double units(const Dense &M, double ridge = 0) const {
    const std::vector<double> values = singular_values(scaled(X, 0.5));
    const double largest = values.front(), least = values[rank() - 1];
    return 16.0 * X.rows * X.columns * std::pow(largest / least, 2) * (1 + frobenius_norm(M)) * (1 + max_abs(X.data)) +
           ridge / epsilon_of(Real::f64) / (least * least) * frobenius_norm(M);
  }
};

/// The constant terms M0, as one step's read.
std::vector<double> constants(const Dense &M) {
  std::vector<double> M0;
  for (int i = 0; i < M.rows; ++i) M0.push_back(M(i, 0));
  return M0;
}
std::vector<double> reads_at(const std::vector<double> &reads, int t, int width) {
  return column(reads, t, width).data;
}
std::vector<double> layer(const Sequence &s, const std::string &ridge) {
  return results_of("local_linear", s, {{"ridge", ridge}});
}
/// The layer's smallest ridge on the slopes, which stands for no ridge.
constexpr double no_ridge = 1e-12;
const std::string no_ridge_text = "1e-12";

const std::vector<ParamSpec> one_head = one_head_params(point_P);

/// Steps at which the equations are well posed: from Dk + 3 pairs on.
std::vector<int> solvable_steps(const Shape &shape) {
  if (shape.T < shape.Dk + 3) usage_error("Eq 52 is measured from Dk + 3 pairs on: T = " + std::to_string(shape.T));
  return {shape.Dk + 2, shape.T - 1};
}

// ---- Eq 52-54 ------------------------------------------------------------------------------------------------------------

std::vector<Point> linear_fit(const Protocol &p) {
  const Params at = point_of(p, one_head);
  const Sequence s = random_sequence(shape_of(at), p.seed);
  const int Dv = s.shape.Dv;
  const std::vector<double> reads = layer(s, no_ridge_text), means = results_of("softmax_qknorm", s);
  std::vector<Point> points;
  for (int t : solvable_steps(s.shape)) {
    const LocalData x(s, t);
    LocalData unweighted = x, uncentred = x;
    unweighted.w.assign(t + 1, 1);
    for (int i = 0; i <= t; ++i)
      for (int c = 0; c < s.shape.Dk; ++c) uncentred.X(i, 1 + c) = s.k[i * s.shape.Dk + c];
    const Dense M = x.minimiser();
    const double units = x.units(M, no_ridge);
    const std::vector<double> read = reads_at(reads, t, Dv);
    const std::string after = ", " + std::to_string(t + 1) + " pairs";
    points.push_back(as_statement(exact_point(x.eq52().data, M.data, units), at, "Eq 52 minimises the loss" + after));
    points.push_back(
        rival_law(exact_point(x.eq52().data, unweighted.minimiser().data, units), at, "no weights" + after));
    points.push_back(
        rival_law(exact_point(x.eq52().data, uncentred.minimiser().data, units), at, "keys not centred at q" + after));
    points.push_back(as_statement(exact_point(read, constants(M), units), at, "the layer reads M0" + after));
    points.push_back(rival_system(exact_point(reads_at(means, t, Dv), constants(M), units), at, "p = 0" + after));
    points.push_back(
        as_statement(exact_point(read, x.offset_mean(M).data, units), at, "Eq 54: M0 = vbar - M1 dbar" + after));
    points.push_back(rival_law(exact_point(read, x.offset_mean(M, +1).data, units), at, "vbar + M1 dbar" + after));
  }
  return points;
}

Claim local_linear_eq52_54() {
  return at_parameters(
      running(
          ledger_row("local-linear-eq52-54", "003 Eq 52-54",
                     "The $p = 1$ fit with weights $s(k_i, q)$ is $[M0 M1] = (V^T W X)(X^T W X)^{-1}$ with rows $(1, "
                     "k_i - q)$ "
                     "in $X$, and its value at the query is M0 = vbar - M1 dbar, an offset softmax attention.",
                     "Identity, for positive weights on $Dk + 1$ affinely independent keys or more. The prediction is "
                     "the minimum of the weighted loss, from a decomposition of its design.",
                     linear_fit),
          {"local_linear", "softmax_qknorm"}),
      one_head);
}

// ---- Which maps it reproduces --------------------------------------------------------------------------------------------

/// v_i = B k_i + c + bend (B k_i)^2, channel by channel.
Sequence with_map(Sequence s, const Dense &B, const Dense &c, double bend) {
  for (int i = 0; i < s.shape.T; ++i) {
    const Dense linear = B * column(s.k, i, s.shape.Dk);
    for (int j = 0; j < s.shape.Dv; ++j)
      s.v[i * s.shape.Dv + j] = linear.data[j] + c.data[j] + bend * linear.data[j] * linear.data[j];
  }
  return s;
}

std::vector<Point> affine_maps(const Protocol &p) {
  const Params at = point_of(p, one_head);
  const Shape shape = shape_of(at);
  const Dense B = normal_matrix(shape.Dv, shape.Dk, p.seed, "affine map/slopes"),
              c = normal_matrix(shape.Dv, 1, p.seed, "affine map/constant");
  const Sequence straight = with_map(random_sequence(shape, p.seed), B, c, 0), bent = with_map(straight, B, c, 1);
  Sequence origin = straight;
  std::fill(origin.q.begin(), origin.q.end(), 0.0);
  const std::vector<double> reads = layer(straight, no_ridge_text), means = results_of("softmax_qknorm", straight);
  std::vector<Point> points;
  for (int t : solvable_steps(shape)) {
    const LocalData x(straight, t), around_origin(origin, t);
    const Dense q = column(straight.q, t, shape.Dk), value = B * q + c;
    Dense dbar = -1.0 * q; // kbar - q
    dbar = dbar + weighted_mean(rows_of(straight.k, t + 1, shape.Dk), x.w);
    Dense right(shape.Dv, shape.Dk + 1); // [B q + c, B]
    for (int i = 0; i < shape.Dv; ++i)
      for (int j = 0; j <= shape.Dk; ++j) right(i, j) = j ? B(i, j - 1) : value.data[i];
    const double units = x.units(right, no_ridge), origin_units = around_origin.units(right, no_ridge);
    const std::string after = ", " + std::to_string(t + 1) + " pairs";
    const auto read = [&](const std::vector<double> &reads) { return reads_at(reads, t, shape.Dv); };
    points.push_back(as_statement(exact_point(x.eq52().data, right.data, units), at, "[M0 M1] = [B q + c, B]" + after));
    points.push_back(rival_system(exact_point(LocalData(bent, t).eq52().data, right.data, units), at,
                                  "values that are quadratic in the key" + after));
    points.push_back(as_statement(exact_point(read(reads), value.data, units), at, "the layer reads B q + c" + after));
    points.push_back(rival_system(exact_point(read(means), value.data, units), at, "p = 0 reads B q + c" + after));
    points.push_back(
        as_obligation(exact_point(read(means), (value + B * dbar).data, units), at, "p = 0 errs by B dbar" + after));
    points.push_back(rival_law(exact_point(read(means), (value - B * dbar).data, units), at, "by -B dbar" + after));
    points.push_back(
        as_statement(exact_point(read(layer(origin, no_ridge_text)), c.data, origin_units), at, "c at q = 0" + after));
    points.push_back(rival_system(exact_point(read(run("rls", origin, {{"ridge", "1e-12"}}).o), c.data, origin_units),
                                  at, "no constant fitted" + after));
  }
  return points;
}

Claim local_linear_affine_exact() {
  return at_parameters(
      running(
          ledger_row("local-linear-affine-exact", "003 §4, p = 1 (derived)",
                     "Where the values are an affine map of the keys the $p = 1$ fit reproduces it and the $p = 0$ fit "
                     "does not.",
                     "$M0 = B q + c$ and $M1 = B$; softmax attention errs by $B$ dbar.", affine_maps),
          {"local_linear", "softmax_qknorm", "rls"}),
      one_head);
}

// ---- Too few pairs -------------------------------------------------------------------------------------------------------

const std::vector<ParamSpec> few{integer_param("T", 64, 4, 1024, "prefixes"),
                                 integer_param("Dk", 16, 3, 64, "key width, at most T / 2"),
                                 integer_param("Dv", 3, 1, 64, "value width")};

std::vector<Point> too_few_pairs(const Protocol &p) {
  const Params at = point_of(p, few);
  const Shape shape = shape_of(at);
  if (2 * shape.Dk > shape.T) usage_error("T prefixes with Dk <= T / 2, so that later ones have an inverse");
  const Sequence s = random_sequence(shape, p.seed);
  double singular = 0;
  for (int t = 0; t < 2 * shape.Dk; ++t) singular += LocalData(s, t).rank() < shape.Dk + 1;
  std::vector<Point> points{
      as_statement(exact_point(singular, 0, 0), at, "prefixes without an inverse"),
      as_obligation(exact_point(singular, shape.Dk, 0), at, "prefixes without an inverse: the first Dk"),
      rival_law(exact_point(singular, shape.Dk - 1, 0), at, "the first Dk - 1"),
      rival_law(exact_point(singular, shape.Dk + 1, 0), at, "the first Dk + 1")};

  const int t = shape.Dk / 2; // Eq 54 needs no inverse
  const LocalData x(s, t);
  const Dense shortest = x.minimiser(), ridge = x.eq52(0, 0.1), everything = x.eq52(0.5, 0.1);
  const double units = x.units(shortest), ridge_units = x.units(ridge) / 0.1;
  points.push_back(as_obligation(exact_point(constants(shortest), x.offset_mean(shortest).data, units), at,
                                 "Eq 54 by the pseudo-inverse"));
  points.push_back(rival_law(exact_point(constants(shortest), x.offset_mean(shortest, +1).data, units), at,
                             "vbar + M1 dbar by the pseudo-inverse"));
  points.push_back(
      as_obligation(exact_point(reads_at(layer(s, "0.1"), t, shape.Dv), x.offset_mean(ridge).data, ridge_units), at,
                    "Eq 54 of the layer with a ridge on the slopes"));
  points.push_back(rival_system(exact_point(constants(everything), x.offset_mean(ridge).data, ridge_units), at,
                                "the constant penalised as well"));
  return points;
}

Claim local_linear_underdetermined() {
  return at_parameters(
      running(explained(
                  refuted_row("local-linear-underdetermined",
                              stricter("Eq 52 and 53.", "$D_k = 64$, every step of Fig 2 is plotted",
                                       "What stands for the inverse at $t < D_k + 1$ is not said."),
                              "003 Eq 52, t < Dk + 1", "Eq 52 predicts from every prefix.",
                              "The first Dk prefixes have no inverse. Eq 54 still holds for the pseudo-inverse and "
                              "for a ridge on the slopes alone, not where the constant is penalised too.",
                              too_few_pairs),
                  "The paper plots every step of Fig 2, whose first quarter $(T/4 = Dk = 64)$ is exactly the prefixes "
                  "without an inverse, and does not say what replaces it. The closed form is right from "
                  "$t = Dk + 1$ on."),
              {"local_linear"}),
      few);
}

} // namespace

std::vector<Claim> vignette_4_local_linear() {
  return {local_linear_eq52_54(), local_linear_affine_exact(), local_linear_underdetermined()};
}

} // namespace recollect::theory
