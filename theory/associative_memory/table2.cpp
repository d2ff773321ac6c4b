// SPDX-License-Identifier: Apache-2.0
// 000 Table 2 row by row: the layer's own step S_{t-1} -> S_t against S_{t-1} - dL_t/dS at S_{t-1}, L_t the printed
// objective.
//
// States are those of the program's variants; gradients are central differences of L_t, which are exact for the table's
// quadratics whatever the step: only the rounding of L_t remains. The gates of Table 2 act on the rows of S (the value
// side), those of gated_linear on the columns, so that the gated rows run it with keys and values exchanged: its state
// is then S^T. Control: the sign of the term that rewards <S k, v> flipped.
#include "harness/core/registry.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/verdict.hpp"
#include "harness/pipeline/forward.hpp"
#include "theory/support/claims.hpp"
#include "theory/support/mercer.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::theory {
namespace {

using Vector = std::vector<double>;

/// k [T,Dk] as the state sees it (features for softmax), v [T,Dv], row gates lambda [T,Dv].
struct Story {
  Dense k, v, lambda;
  double eta;
};

Vector row(const Dense &m, int i) {
  return Vector(m.data.begin() + size_t(i) * m.columns, m.data.begin() + size_t(i + 1) * m.columns);
}
/// ||diag(sqrt(weights)) S||_F^2
double weighted_square(const Dense &S, const std::function<double(int)> &weight) {
  double sum = 0;
  for (int i = 0; i < S.rows; ++i) sum += weight(i) * inner(row(S, i), row(S, i));
  return sum;
}

/// The variant's whole state after the first t >= 1 steps.
Dense run_stacked(const std::string &name, const Story &story, int t, const Assignments &settings) {
  const int Dk = story.k.columns, Dv = story.v.columns;
  Sequence s;
  s.shape = {1, 1, t, Dk, Dv};
  s.k = Vector(story.k.data.begin(), story.k.data.begin() + size_t(t) * Dk), s.q = s.k;
  s.v = Vector(story.v.data.begin(), story.v.data.begin() + size_t(t) * Dv);
  s.beta.assign(t, 1.0);
  const Variant &variant = find_variant(name);
  const Output output = forward(variant, s, {"recurrent", Real::f64, 1, variant_params(variant, settings)});
  return Dense(output.state_shape.rows, output.state_shape.columns, output.state);
}

/// S_t [Dv,Dk], without what a variant stacks below it.
Dense run(const std::string &name, const Story &story, int t, const Assignments &settings = {}) {
  const int Dk = story.k.columns, Dv = story.v.columns;
  Dense S = t ? run_stacked(name, story, t, settings) : Dense(Dv, Dk);
  S.data.resize(size_t(Dv) * Dk), S.rows = Dv;
  return S;
}

/// S_t = decay(t) diag(lambda_t) S_{t-1} + weight(t) v_t k_t^T by gated_linear on exchanged keys and values.
Dense run_gated(const Story &story, int t, const std::function<double(int)> &decay,
                const std::function<double(int)> &weight, bool gated) {
  const int Dk = story.k.columns, Dv = story.v.columns;
  if (t == 0) return Dense(Dv, Dk);
  Sequence s;
  s.shape = {1, 1, t, Dv, Dk};
  for (int i = 0; i < t; ++i) {
    for (double x : row(story.v, i)) s.k.push_back(weight(i + 1) * x);
    for (double x : row(story.lambda, i)) s.lambda.push_back(gated ? x : 1);
    s.alpha.push_back(decay(i + 1));
  }
  s.q = s.k;
  s.v = Vector(story.k.data.begin(), story.k.data.begin() + size_t(t) * Dk);
  return transpose(Dense(Dk, Dv, forward(find_variant("gated_linear"), s).state));
}

/// One row of the table: its layer, and L_t(S) with `sign` on the term that rewards recall.
struct Row {
  std::string id, model, variant, statement, exact; // id: of the ledger's row
  std::function<Dense(const Story &, int t)> state;
  std::function<double(const Dense &S, const Story &, int t, double sign)> objective;
  bool features = false; // k is phi(k)
};

double one(int) { return 1; }
double inverse_time(int t) { return 1.0 / t; }
double past_share(int t) { return (t - 1.0) / t; }
double recall(const Dense &S, const Story &s, int t) { return inner(times(S, row(s.k, t - 1)), row(s.v, t - 1)); }

double linear_objective(const Dense &S, const Story &s, int t, double sign) { return -sign * recall(S, s, t); }
double gla_objective(const Dense &S, const Story &s, int t, double sign) {
  return -sign * recall(S, s, t) + 0.5 * weighted_square(S, [&](int i) { return 1 - s.lambda(t - 1, i); });
}
double delta_objective(const Dense &S, const Story &s, int t, double sign) {
  const Vector read = times(S, row(s.k, t - 1)), v = row(s.v, t - 1);
  return 0.5 * inner(read, read) - sign * inner(read, v) + 0.5 * inner(v, v);
}
double momentum_objective(const Dense &S, const Story &s, int t, double sign) {
  const Vector read = times(S, row(s.k, t - 1));
  double sum = 0;
  for (int i = 1; i <= t; ++i) sum += std::pow(s.eta, t - i) * recall(S, s, i);
  return 0.5 * inner(read, read) - sign * sum;
}
double momentum_as_printed(const Dense &S, const Story &s, int t, double sign) {
  const Vector read = times(S, row(s.k, t - 1));
  double weights = 0;
  for (int i = 1; i <= t; ++i) weights += std::pow(s.eta, t - i);
  return 0.5 * inner(read, read) - sign * weights * recall(S, s, t);
}
double softmax_objective(const Dense &S, const Story &s, int t, double sign) {
  return -sign / t * recall(S, s, t) + 0.5 / t * weighted_square(S, one);
}
double gated_softmax_as_printed(const Dense &S, const Story &s, int t, double sign) {
  return -sign / t * recall(S, s, t) + 0.5 / t * weighted_square(S, [&](int i) { return 1 - s.lambda(t - 1, i); });
}
double gated_softmax_corrected(const Dense &S, const Story &s, int t, double sign) {
  return -sign / t * recall(S, s, t) +
         0.5 * weighted_square(S, [&](int i) { return 1 - past_share(t) * s.lambda(t - 1, i); });
}
Dense momentum_state(const Story &s, int t) { return run("delta_momentum", s, t, {{"eta", "0.75"}}); }
Dense gated_softmax_state(const Story &s, int t) { return run_gated(s, t, past_share, inverse_time, true); }

std::vector<Row> holding_rows() {
  return {
      {"table2-linear", "Linear Attention", "linear", "A = B = I, C = v k^T is one gradient step on -<S k, v>.",
       "Identity.", [](const Story &s, int t) { return run("linear", s, t); }, linear_objective},
      {"table2-gla", "Gated Linear Attention", "gated_linear",
       "A = diag(lambda), B = I, C = v k^T is one gradient step on -<S k, v> + 1/2 ||diag(sqrt(1-lambda)) S||_F^2.",
       "Identity, with the gate on the value side (rows of S). The GLA of reference [47] gates the key side, B = "
       "diag(lambda).",
       [](const Story &s, int t) { return run_gated(s, t, one, one, true); }, gla_objective},
      {"table2-deltanet", "DeltaNet", "delta_net",
       "A = I, B = I - k k^T, C = v k^T is one gradient step on 1/2 ||S k - v||^2.", "Identity.",
       [](const Story &s, int t) { return run("delta_net", s, t); }, delta_objective},
      {"table2-momentum", "DeltaNet + Momentum", "delta_momentum",
       "C_t = eta C_{t-1} + v k^T with B = I - k k^T is one gradient step on 1/2 ||S k_t||^2 - sum_i (prod eta) v_i^T "
       "S k_i.",
       "Identity. The momentum acts on the write term alone; it is not heavy-ball momentum on the gradient of "
       "DeltaNet's objective.",
       momentum_state, momentum_objective},
      {"table2-softmax-nonorm", "Softmax Attention w/o Norm", "linear",
       "A = B = I, C = v phi(k)^T is one gradient step on -<S phi(k), v>.", "Identity.",
       [](const Story &s, int t) { return run("linear", s, t); }, linear_objective, true},
      {"table2-softmax-norm", "Softmax Attention w/ Norm", "gated_linear",
       "A = (t-1)/t I, C = v phi(k)^T / t is one gradient step on -1/t <S phi(k), v> + 1/(2t) ||S||_F^2.", "Identity.",
       [](const Story &s, int t) { return run_gated(s, t, past_share, inverse_time, false); }, softmax_objective, true},
  };
}

Story tell(const Row &row, std::uint64_t seed) {
  const int T = 9, d = 3, dv = 4;
  Story story{Dense(T, d, Stream(seed, 121).normals(T * d)), Dense(T, dv, Stream(seed, 122).normals(T * dv)),
              Dense(T, dv, Stream(seed, 123).uniforms(T * dv, 0.1, 0.9)), 0.75};
  if (!row.features) return story;
  Dense features(T, 1 + d + d * d);
  for (int t = 0; t < T; ++t) {
    const Vector phi = mercer_features(theory::row(story.k, t), 2);
    std::copy(phi.begin(), phi.end(), &features(t, 0));
  }
  story.k = features;
  return story;
}

using Objective = decltype(Row::objective);

/// max |S_t - (S_{t-1} - dL/dS)|, the gradient by central differences of step 1.
Point step_point(const Row &row, const Objective &objective, const Story &story, int t, double sign) {
  const Dense S = row.state(story, t - 1), next = row.state(story, t);
  Dense descended = S;
  double largest = 0;
  for (size_t e = 0; e < S.data.size(); ++e) {
    Dense up = S, down = S;
    up.data[e] += 1, down.data[e] -= 1;
    const double high = objective(up, story, t, sign), low = objective(down, story, t, sign);
    descended.data[e] -= (high - low) / 2;
    largest = std::max({largest, std::fabs(high), std::fabs(low)});
  }
  // L sums Dv Dk products t times over, of terms no larger than (|S| |k| + |v|)^2 + |S|^2.
  const double s = frobenius_norm(S) + 1, k = frobenius_norm(story.k), v = frobenius_norm(story.v);
  const double conditioning = 4.0 * S.data.size() * t * ((s * k + v) * (s * k + v) + s * s);
  Params p;
  p.set("model", row.model).set("t", t).set("quantity", "largest difference of an element");
  return at(exact_point(max_difference(next.data, descended.data), 0, conditioning, 1e-3), "exact", p);
}

std::vector<Point> descend(const Row &row, const Objective &objective, const Protocol &protocol, double sign) {
  std::vector<Point> points;
  const Story story = tell(row, protocol.seed);
  for (int t : {1, 2, 3, 9}) points.push_back(step_point(row, objective, story, t, sign));
  return points;
}

Claim holding_row(const Row &row) {
  const auto all = [row](double sign) {
    return [row, sign](const Protocol &p) { return descend(row, row.objective, p, sign); };
  };
  Claim c = running(ledger_row(row.id, "000 Table 2, Appendix B.2", row.statement, row.exact, all(+1)), {row.variant});
  c.control = all(-1);
  return c;
}

/// A row whose printed objective is wrong: `story` is the smallest case that shows it at step t; `corrected` generates
/// the layer.
Claim wrong_row(const Row &row, Scope scope, const std::string &source, const Story &story, int t,
                const Objective &corrected) {
  const auto measure = [=](const Protocol &p) {
    std::vector<Point> points = descend(row, corrected, p, +1);
    for (Point &point : points) point.tier = "corrected";
    Point counter_example = step_point(row, row.objective, story, t, +1);
    counter_example.tier = "paper";
    points.insert(points.begin(), counter_example);
    return points;
  };
  Claim c = running(refuted_row(row.id, scope, source, row.statement, row.exact, measure), {row.variant});
  c.control = [=](const Protocol &p) { return descend(row, corrected, p, -1); };
  return c;
}

Claim whole_table() {
  Claim c;
  c.id = "table2_gradients";
  c.source = "000 Table 2, Appendix B.2, Eq 60";
  c.statement = "Every layer of Table 2 is S_t = S_{t-1} - dL_t/dS at S_{t-1} with the objective listed beside it.";
  c.exact = "Identity for the six rows measured here. The last row, gated softmax attention, is its own claim: "
            "table2_gated_softmax.";
  for (const Row &row : holding_rows()) {
    c.covers.push_back(row.id);
    if (std::find(c.variants.begin(), c.variants.end(), row.variant) == c.variants.end())
      c.variants.push_back(row.variant);
  }
  const auto all = [](const Protocol &p, double sign) {
    std::vector<Point> points;
    for (const Row &row : holding_rows()) append(points, descend(row, row.objective, p, sign));
    return points;
  };
  c.measure = [=](const Protocol &p) { return all(p, +1); };
  c.control = [=](const Protocol &p) { return all(p, -1); };
  return c;
}

Claim gated_softmax() {
  const Row row{
      "table2-gated-softmax",
      "Gated Softmax Attention",
      "gated_linear",
      "A = (t-1)/t diag(lambda), C = v phi(k)^T / t is one gradient step on -1/t <S phi, v> + 1/(2t) "
      "||diag(sqrt(1-lambda)) S||_F^2.",
      "The printed objective generates A = I - diag(1-lambda)/t. The layer's own objective is -1/t <S phi, v> + "
      "1/2 ||diag(sqrt(1 - (t-1)/t lambda)) S||_F^2 (Eq 64). The gap of A's diagonal tends to 1 - lambda; at lambda = "
      "1 the two agree.",
      gated_softmax_state,
      gated_softmax_as_printed,
      true};
  const Story smallest{Dense(2, 1, {1, 1}), Dense(2, 1, {1, 1}), Dense(2, 1, {0.5, 0.5}), 0}; // A = 1/4, printed 3/4
  return wrong_row(row, Scope::paper, "000 Table 2, last row; Eq 81", smallest, 2, gated_softmax_corrected);
}

Claim momentum_typo() {
  const Row row{"eq76-momentum",
                "DeltaNet + Momentum",
                "delta_momentum",
                "L = 1/2 ||S k_t||^2 - sum_i (prod eta) <S k_t, v_t>.",
                "The indices of the sum should be i, <S k_i, v_i>, as Table 2 has them: as printed it generates C = "
                "(sum of weights) v_t k_t^T.",
                momentum_state,
                momentum_as_printed};
  const Story smallest{Dense(2, 1, {1, 1}), Dense(2, 1, {1, 2}), Dense(2, 1, {1, 1}), 0.75}; // C_2 = 2.75, printed 3.5
  return wrong_row(row, Scope::typo, "000 Eq 76", smallest, 2, momentum_objective);
}

/// Eq 75: the recursion of C against its sum; C is the lower half of delta_momentum's state.
std::vector<Point> momentum_sum(const Protocol &protocol, double first_weight) {
  const Row row = holding_rows()[3];
  const Story story = tell(row, protocol.seed);
  std::vector<Point> points;
  for (int t : {1, 2, 9}) {
    const Dense state = run_stacked("delta_momentum", story, t, {{"eta", "0.75"}}),
                C(4, 3, Vector(state.data.begin() + 12, state.data.end()));
    Dense sum(4, 3);
    for (int i = 1; i <= t; ++i)
      sum = sum + (i == 1 ? first_weight : 1) * std::pow(story.eta, t - i) *
                      outer(theory::row(story.v, i - 1), theory::row(story.k, i - 1));
    Params p;
    p.set("t", t);
    const double size = frobenius_norm(story.v) * frobenius_norm(story.k);
    points.push_back(at(exact_point(max_difference(C.data, sum.data), 0, 4.0 * t * size, 1e-3), "exact", p));
  }
  return points;
}

Claim momentum_equation_75() {
  Claim c =
      ledger_row("table2-momentum-eq75", "000 Eq 75",
                 "C_t = eta_t C_{t-1} + v_t k_t^T, C_0 = 0, is sum_i (prod_{j>i} eta_j) v_i k_i^T.",
                 "Identity. Control: the first term dropped.", [](const Protocol &p) { return momentum_sum(p, 1); });
  c.control = [](const Protocol &p) { return momentum_sum(p, 0); };
  return running(c, {"delta_momentum"});
}

} // namespace

std::vector<Claim> table2() {
  std::vector<Claim> claims{whole_table()};
  for (const Row &row : holding_rows()) claims.push_back(holding_row(row));
  claims.insert(claims.end(), {gated_softmax(), momentum_typo(), momentum_equation_75()});
  return claims;
}

} // namespace recollect::theory
