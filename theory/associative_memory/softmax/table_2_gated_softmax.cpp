// SPDX-License-Identifier: Apache-2.0
// 000 Table 2, last row, Eq 81 and §2.1.2 Gating: gated softmax attention in two readings. In the table A = (t-1)/t
// diag(lambda) and C = v phi^T / t. The layer gated_linear runs this with keys and values exchanged, because here the
// gate acts on the rows of S. In FoX, the layer that the row cites, the normaliser is gated too.
#include "theory/associative_memory/objectives/quadratic.hpp"

namespace recollect::theory {
namespace {
/// One step at time t: S [gates, d], with one gate for each row.
struct Step {
  Dense S;
  Vector phi, v, gates;
  double t;
};
Step random_step(const Vector &gates, double t, std::uint64_t seed) {
  const int d = 6, dv = int(gates.size());
  return {normal_matrix(dv, d, seed, "gated softmax/S"), Stream(seed, "gated softmax/phi").normals(d),
          Stream(seed, "gated softmax/v").normals(dv), gates, t};
}
/// One step with the A and C of the row: (t-1)/t diag(lambda) S + v phi^T / t.
Dense layer_step(const Step &s) {
  Sequence one = stored({1, 1, 1, s.S.rows, s.S.columns}, s.v, s.phi);
  one.lambda = s.gates, one.alpha = {(s.t - 1) / s.t}, one.state = transpose(s.S).data;
  for (double &x : one.v) x /= s.t;
  return transpose(Dense(s.S.columns, s.S.rows, run("gated_linear", one).state));
}
/// S - dL/dS of L = -<S phi, v>/t + 1/2 ||diag(sqrt(weights)) S||^2.
Dense descended(const Step &s, const Vector &weights) {
  return gradient_step(
      s.S, [&](const Dense &S) { return -inner(times(S, s.phi), s.v) / s.t + 0.5 * weighted_square(S, weights); });
}
/// The factors by which the step from S to `next` multiplies the rows of S: (next - write) / S.
Vector row_factors(const Step &s, const Dense &next) {
  Vector factors;
  for (int i = 0; i < s.S.rows; ++i) {
    int j = 0; // the row's largest element, by which it is safe to divide
    for (int c = 1; c < s.S.columns; ++c)
      if (std::fabs(s.S(i, c)) > std::fabs(s.S(i, j))) j = c;
    factors.push_back((next(i, j) - s.v[i] * s.phi[j] / s.t) / s.S(i, j));
  }
  return factors;
}

Claim gated_softmax_row() {
  ClaimBuilder c("table2-gated-softmax", "000 Table 2, last row; Eq 81; footnote: t sufficiently large");
  c.says("For large $t$ gated softmax attention, $A = (t-1)/t diag(lambda_t)$, $B = I$, $C = v_t phi(k_t)^T / t$ with "
         "every element of $lambda_t$ in (0,1), is one gradient step on $-1/t <S phi(k_t), v_t> + 1/(2t) "
         "||diag(sqrt(1-lambda_t)) S||_F^2$.");
  c.is_refuted(
      asserted("Table 2, last row, with Eq 81: the objective of gated softmax attention.",
               "$t$ is sufficiently large; every element of $lambda_t$ in (0, 1)",
               "Eq 81 repeats it; §2.2 says only that the gate was found to help.",
               "The row is derived as the others are, by Eq 64, and the asterisk says that it is approximate. We "
               "carried the factor $1/t$ of the ungated row over; the regulariser should be $1/2 |diag(sqrt(1 - "
               "(t-1)/t lambda)) S|^2$. That a gate adds a decay, which is all the text uses, stays true."));
  c.exactly("The printed objective generates $A = I - diag(1-lambda)/t$. The diagonal of this $A$ exceeds that of "
            "$(t-1)/t diag(lambda)$ by $(1-lambda) - (1-2 lambda)/t$, which grows to $1 - lambda$ with $t$. By Eq 64 "
            "the layer's own objective is $-1/t <S phi, v> + 1/2 ||diag(sqrt(1 - (t-1)/t lambda)) S||_F^2$: for large "
            "$t$ the regulariser has no factor $1/t$.");
  c.because("Every other row of Table 2 is exact, and this one is exact at $lambda = 1$. For $lambda < 1$ the text "
            "gives the regulariser the factor $1/t$ of the normaliser. But the decay does not shrink with $t$, so the "
            "error grows with $t$.");
  c.runs({"gated_linear"});
  c.takes({real_param("t", 1e4, 2, 1e9, "step"), real_param("lambda", 0.9, 0.01, 0.99, "gate")});
  c.at({{{"lambda", 0.2}},
        {{"lambda", 0.5}},
        {},
        {{"t", 1e6}, {"lambda", 0.2}},
        {{"t", 1e6}, {"lambda", 0.5}},
        {{"t", 1e6}}});
  return measure(c, [](Points &points, Seed seed, double t, double gate) {
    const Vector gates{gate, gate / 2}; // gates of the two rows of S
    const Step s = random_step(gates, t, seed);
    const auto each_gate = [&](const auto &law) {
      Vector values;
      for (double lambda : gates) values.push_back(law(lambda));
      return values;
    };
    const Vector as_printed = each_gate([&](double lambda) { return (1 - lambda) / t; }),
                 own = each_gate([&](double lambda) { return 1 - (t - 1) / t * lambda; }),
                 at_infinity = each_gate([](double lambda) { return 1 - lambda; });
    const double S = frobenius_norm(s.S) + 1,
                 size = 16.0 * s.S.data.size() * (S * S + S * std::sqrt(inner(s.phi, s.phi) * inner(s.v, s.v)));
    const Dense next = layer_step(s), printed = descended(s, as_printed), limit = descended(s, at_infinity);
    // For each row of S: its factor in `other`'s step minus its factor in the layer's step.
    const auto beyond = [&](const Dense &other) { return minus(row_factors(s, other), row_factors(s, next)); };
    points.rounding(size).statement("$S_t$ against $S - dL/dS$ of the printed objective", next.data, printed.data);
    points
        .obligation("factor of $S$ in the objective's step minus factor in the layer's, against $(1-lambda) - (1-2 "
                    "lambda)/t$, for gates $lambda$ and $lambda/2$",
                    beyond(printed), each_gate([&](double lambda) { return (1 - lambda) - (1 - 2 * lambda) / t; }))
        .but_not("$(1-lambda)/t$, which vanishes", as_printed)
        .but_not("$1 - lambda$, the limit, already at this t", at_infinity);
    points
        .obligation("$S_t$ against the step on the layer's own objective, with the weights $1 - (t-1)/t lambda$",
                    next.data, descended(s, own).data)
        .but_not("the objective with the weights $1 - lambda$", limit.data);
    points.obligation("objective with the weights $1 - lambda$: factor of $S$ in the objective's step minus factor in "
                      "the layer's, against $lambda / t$",
                      beyond(limit), each_gate([&](double lambda) { return lambda / t; }));
  });
}

/// Weights in the last of t reads: of the newest write, of the write before it, and of all older writes together. The
/// scores are equal, so the weights depend on the gates only.
Vector last_weights(double lambda, int t) {
  Sequence s = of_shape({1, 1, t, 1, 3});
  s.k.assign(t, 1), s.q.assign(t, 0), s.alpha.assign(t, lambda), s.v.assign(3 * size_t(t), 0);
  for (int i = 0; i < t; ++i) s.v[3 * i + (i == t - 1 ? 0 : i == t - 2 ? 1 : 2)] = 1;
  const Vector o = run("gated_softmax", s, {}, "fast", 64).o;
  return Vector(o.end() - 3, o.end());
}

Claim gated_normaliser() {
  ClaimBuilder c("gated-softmax-normaliser",
                 "000 Table 2, last row, as the model of [21]; §2.1.2 Gating; footnote: t sufficiently large");
  c.says("Stricter reading: the row is the gated softmax attention of [21], whose normaliser is gated as well. For "
         "large $t$ its decay is $(t-1)/t lambda$, and the weight of a write is $1/t$.");
  c.is_refuted(stricter("Table 2, last row, with a reference to [21]; §2.1.2: FoX 'incorporates gating into Softmax "
                        "attention, adopting a formulation essentially identical'.",
                        "$t$ is sufficiently large",
                        "The text does not print the layer of [21]; it inserts $diag(lambda)$ into $A_t$."));
  c.exactly("With $Z_t = lambda Z_{t-1} + kappa_t$ the decay is $lambda Z_{t-1}/Z_t$. It tends to $lambda$, as the "
            "decay in the table's row does. The weight of a write is $kappa_t/Z_t$, which tends to $1 - lambda$ at "
            "equal scores. So the update does not vanish.");
  c.because("If the normaliser forgets as the memory does, every write keeps a fixed share.");
  c.runs({"gated_softmax"});
  c.takes({integer_param("t", 1000, 3, 4000, "step"), real_param("lambda", 0.9, 0.01, 0.99, "gate of every step")});
  c.at({{}, {{"t", 4}, {"lambda", 0.7}}});
  return measure(c, [](Points &points, int t, double lambda) {
    double Z = 0, before = 0; // Z_t = lambda Z_{t-1} + 1
    for (int i = 0; i < t; ++i) before = Z, Z = lambda * Z + 1;
    const Vector now = last_weights(lambda, t), past = last_weights(lambda, t - 1), ungated = last_weights(1, t);
    points.rounding(32.0 * t); // logits of size up to t log lambda, and sums of t terms
    points.statement("weight of the newest write against $1/t$", now[0], 1.0 / t); // as printed
    points.obligation("weight of the newest write against $1/Z_t$", now[0], 1 / Z)
        .but_not("$lambda$ in place of $1/Z_t$", lambda);
    points.wrong_system("softmax attention without gates", ungated[0], 1 / Z);
    const double kept = now[1] / past[0]; // the factor by which the last step multiplies the weight of the write before
    points
        .obligation(
            "factor by which the last step multiplies the weight of the write before it, against $lambda Z_{t-1}/Z_t$",
            kept, lambda * before / Z)
        .but_not("$(t-1)/t lambda$, the $A_t$ of the row", (t - 1.0) / t * lambda);
    points.obligation("weight of all writes but the last two, against $1 - (1 + lambda)/Z_t$", now[2],
                      lambda * lambda * (Z - 1 - lambda) / (lambda * lambda) / Z);
  });
}
} // namespace

std::vector<Claim> table_2_gated_softmax() { return {gated_softmax_row(), gated_normaliser()}; }
} // namespace recollect::theory
