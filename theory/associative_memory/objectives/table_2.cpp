// SPDX-License-Identifier: Apache-2.0
// 000 Table 2 and Appendix B.2, the rows without features or momentum. One step of the layer from a random S is
// compared with the gradient step S - dL/dS on the printed objective L. The other rows are in table_2_momentum.cpp,
// table_2_softmax.cpp and table_2_gated_softmax.cpp.
#include "theory/associative_memory/objectives/quadratic.hpp"

namespace recollect::theory {
namespace {
const std::vector<ParamSpec> widths = {key_width_param(8, 2, 64), value_width_param(4, 2, 64)};
const std::vector<Changes> suite{{}, {{"d", 2}, {"dv", 3}}};

struct Step {
  Dense S;
  Vector k, v, lambda, key_lambda;
  double recall(const Dense &M) const { return inner(times(M, k), v); }
};
Step random_step(int d, int dv, Seed seed) {
  return {normal_matrix(dv, d, seed, "table 2/S"), Stream(seed, "table 2/key").normals(d),
          Stream(seed, "table 2/value").normals(dv), Stream(seed, "table 2/lambda").uniforms(dv, 0.1, 0.9),
          Stream(seed, "table 2/key lambda").uniforms(d, 0.1, 0.9)};
}

/// S after one step of a layer on (k, v). `lambda` gates the channels of the keys.
Vector layer_step(const std::string &variant, const Dense &S, const Vector &k, const Vector &v, const Vector &lambda) {
  Sequence s = stored({1, 1, 1, int(k.size()), int(v.size())}, k, v);
  s.lambda = lambda, s.state = S.data;
  return run(variant, s).state;
}
/// One step of gated_linear with gated rows. Table 2 gates the rows of S, and gated_linear gates the columns; therefore
/// keys and values are exchanged, and S is transposed.
Vector row_gated_step(const Step &s, const Vector &v) {
  return transpose(Dense(s.S.columns, s.S.rows, layer_step("gated_linear", transpose(s.S), v, s.k, s.lambda))).data;
}

/// Bound on the rounding error of an objective, in units of eps: S.size() products of size up to (|S||k| + |v|)^2 +
/// |S|^2. The gradient is computed from differences that change S by 1.
double units(const Step &s) {
  const double S = frobenius_norm(s.S) + 1, read = S * std::sqrt(inner(s.k, s.k)) + std::sqrt(inner(s.v, s.v));
  return 8.0 * s.S.data.size() * (read * read + S * S);
}

Claim linear_row() {
  ClaimBuilder c("table2-linear", "000 Table 2, Eq 33-34, 65-68");
  c.says("Linear attention, $A = B = I$ and $C = v_t k_t^T$, is one gradient step on $-<S k_t, v_t>$.");
  c.exactly("An identity.");
  c.runs({"linear", "delta_net"}), c.takes(widths), c.at(suite);
  return measure(c, [](Points &points, Seed seed, int d, int dv) {
    const Step s = random_step(d, dv, seed);
    const auto recalled = [&](double weight) {
      return gradient_step(s.S, [&](const Dense &S) { return weight * s.recall(S); }).data;
    };
    points.rounding(units(s));
    points
        .statement("$S_t$ of linear attention against $S - dL/dS$", layer_step("linear", s.S, s.k, s.v, {}),
                   recalled(-1))
        .but_not("$+<S k, v>$ in place of $-<S k, v>$", recalled(1))
        .but_not("$-1/2 <S k, v>$ in place of $-<S k, v>$", recalled(-0.5));
    points.wrong_system("DeltaNet, which also erases", layer_step("delta_net", s.S, s.k, s.v, {}), recalled(-1));
  });
}

Claim gated_linear_row() {
  ClaimBuilder c("table2-gla", "000 Table 2, Eq 69");
  c.says("Gated linear attention, $A = diag(lambda_t)$, $B = I$, $C = v_t k_t^T$ with every element of $lambda_t$ in "
         "(0,1), is one gradient step on $-<S k_t, v_t> + 1/2 ||diag(sqrt(1-lambda_t)) S||_F^2$.");
  c.exactly("An identity.");
  c.because("As printed, the gate acts on the value side (the rows of $S$). The layer of reference [47], which the row "
            "cites, gates the key side: $B = diag(lambda_t)$.");
  c.runs({"gated_linear"}), c.takes(widths), c.at(suite);
  return measure(c, [](Points &points, Seed seed, int d, int dv) {
    const Step s = random_step(d, dv, seed);
    const auto weighted = [&](double power) {
      Vector weights;
      for (double lambda : s.lambda) weights.push_back(std::pow(1 - lambda, power));
      return gradient_step(s.S, [&](const Dense &S) { return -s.recall(S) + 0.5 * weighted_square(S, weights); }).data;
    };
    Vector gated = s.v;
    for (size_t i = 0; i < gated.size(); ++i) gated[i] *= s.lambda[i];
    const Vector expected = weighted(1);
    points.rounding(units(s));
    points.statement("$S_t$ of gated linear attention against $S - dL/dS$", row_gated_step(s, s.v), expected)
        .but_not("$diag(1-lambda)$ in place of $diag(sqrt(1-lambda))$", weighted(2));
    points.wrong_system("gates on the key side", layer_step("gated_linear", s.S, s.k, s.v, s.key_lambda), expected);
    points.wrong_system("the write gated too", row_gated_step(s, gated), expected);
  });
}

Claim delta_row() {
  ClaimBuilder c("table2-deltanet", "000 Table 2, Eq 70-74");
  c.says("DeltaNet, $A = I$, $B = I - k_t k_t^T$, $C = v_t k_t^T$, is one gradient step on $1/2 ||S k_t - v_t||^2$.");
  c.exactly("An identity, for keys of any norm.");
  c.runs({"delta_net", "linear"}), c.takes(widths), c.at(suite);
  return measure(c, [](Points &points, Seed seed, int d, int dv) {
    const Step s = random_step(d, dv, seed);
    const auto half_square = [&](double erase, double weight) {
      const auto loss = [&](const Dense &S) {
        const Vector read = times(S, s.k);
        return weight * (erase * inner(read, read) / 2 - inner(read, s.v));
      };
      return gradient_step(s.S, loss).data;
    };
    const auto stated = [&](const Dense &S) {
      double loss = 0;
      const Vector read = times(S, s.k);
      for (size_t i = 0; i < read.size(); ++i) loss += (read[i] - s.v[i]) * (read[i] - s.v[i]) / 2;
      return loss;
    };
    const Vector expected = gradient_step(s.S, stated).data;
    points.rounding(units(s));
    points.statement("$S_t$ of DeltaNet against $S - dL/dS$", layer_step("delta_net", s.S, s.k, s.v, {}), expected)
        .but_not("$||S k - v||^2$ without $1/2$", half_square(1, 2))
        .but_not("the erased part added instead of subtracted", half_square(-1, 1));
    points.wrong_system("no erase: linear attention", layer_step("linear", s.S, s.k, s.v, {}), expected);
  });
}
} // namespace

std::vector<Claim> table_2() { return {linear_row(), gated_linear_row(), delta_row()}; }
} // namespace recollect::theory
