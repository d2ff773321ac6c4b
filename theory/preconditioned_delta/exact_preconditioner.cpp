// SPDX-License-Identifier: Apache-2.0
// 2604.21100: with the inverse of the keys' Gram matrix as preconditioner, linear attention and the delta rule are both
// recursive least squares. With the inverse of the Gram matrix's diagonal, the two layers differ from each other and
// from least squares.
#include "theory/support/measure.hpp"
#include "theory/support/one_head.hpp"

namespace recollect::theory {
namespace {
/// One head, and P_t = (ridge I + sum_{i<=t} k_i k_i^T)^{-1} or the inverse of that matrix's diagonal.
struct Preconditioned {
  Sequence s;
  double ridge;
  bool diagonal = false;

  std::vector<Dense> matrices() const { // P_0 ... P_T
    const int d = s.shape.Dk;
    Dense gram = ridge * Dense::identity(d);
    std::vector<Dense> all{inverse(gram)};
    for (int t = 0; t < s.shape.T; ++t) {
      const Dense k = column(s.k, t, d);
      gram = gram + k * transpose(k);
      all.push_back(inverse(diagonal ? theory::diagonal(diagonal_of(gram)) : gram));
    }
    return all;
  }
  /// Row t is P_{t-delay} x_t, where x_t is row t of `rows`.
  Vector turned(const Vector &rows, int delay) const {
    const std::vector<Dense> P = matrices();
    Vector out;
    for (int t = 0; t < s.shape.T; ++t) append_column(out, P[t + 1 - delay] * column(rows, t, s.shape.Dk));
    return out;
  }
  /// Linear attention, read at P_t q_t, from `state`.
  Vector linear(int delay = 0, const Vector &state = {}) const {
    Sequence x = s;
    x.q = turned(s.q, delay), x.state = state;
    return run("linear", x).o;
  }
  /// The delta rule: the error is read at k_t and written at P_t k_t.
  Vector delta(int delay = 0, const Vector &state = {}) const {
    Sequence x = s;
    x.k = turned(s.k, delay), x.w = s.k, x.state = state;
    x.beta.assign(s.beta.size(), 1), x.alpha.assign(s.alpha.size(), 1);
    return run("comba", x).o;
  }
};

Claim preconditioned_delta_is_least_squares() {
  ClaimBuilder c("preconditioned-delta-is-least-squares", "2604.21100 abstract, Theorem 3.1 (secondary source)");
  c.says("Let the preconditioner be exact, $P_t = (lambda I + sum_{i<=t} k_i k_i^T)^{-1}$. Then linear attention, read "
         "at $P_t q_t$, and the delta rule, written at $P_t k_t$, coincide: both are recursive least squares.");
  c.exactly(
      "Starting from $S_0 = 0$, the layers coincide at every step. The write key $P_t k_t$ is $P_{t-1} k_t / (1 + "
      "k_t^T P_{t-1} k_t)$. If the delta rule starts from $S_0$, linear attention must start from $lambda S_0$. With a "
      "diagonal preconditioner neither equality holds, unless the Gram matrix $sum k_i k_i^T$ is diagonal.");
  c.because(
      "The delta rule, multiplied by $P_t^{-1}$ from the right, is $S_t P_t^{-1} = S_{t-1} P_{t-1}^{-1} + v_t k_t^T$, "
      "which is linear attention. The abstract and public notes of the theorem were read, not the paper.");
  c.runs({"linear", "comba", "rls"});
  c.takes(one_head_params({1, 1, 14, 5, 3}), {real_param("ridge", 0.5, 0.01, 10, "lambda")});
  c.at({{}, {{"T", 4}, {"ridge", 0.1}}});
  return measure(c, [](Points &points, Seed seed, const Shape &shape, double ridge) {
    const Preconditioned exact{random_sequence(shape, seed), ridge};
    const int T = shape.T, d = shape.Dk;
    const Vector squares = run("rls", exact.s, {{"ridge", number(ridge)}}).o, delta = exact.delta();
    // The condition number of ridge I plus the Gram matrix of T unit keys is at most 1 + T / ridge. The rounding errors
    // of the inverse and products of a step are 16 d times that.
    points.rounding(16.0 * T * d * (1 + T / ridge));
    points.statement("linear attention at $P_t q_t$ is the delta rule at $P_t k_t$", exact.linear(), delta);
    points.statement("the delta rule at $P_t k_t$ is least squares", delta, squares)
        .but_not("written at $P_{t-1} k_t$, not divided by $1 + k_t^T P_{t-1} k_t$", exact.delta(1));
    points.statement("linear attention at $P_t q_t$ is least squares", exact.linear(), squares)
        .but_not("read at $P_{t-1} q_t$", exact.linear(1));

    const std::vector<Dense> P = exact.matrices();
    const Dense k = column(exact.s.k, T - 1, d), before = P[T - 1] * k;
    points
        .obligation("the write key is $P_{t-1} k_t / (1 + k_t^T P_{t-1} k_t)$", P[T] * k,
                    (1 / (1 + inner(k.data, before.data))) * before)
        .but_not("$P_{t-1} k_t$, not divided", before);
    const Vector S0 = Stream(seed, "preconditioned/state").normals(size_t(shape.Dv) * d);
    points
        .obligation("the delta rule from $S_0$ is linear attention from $lambda S_0$",
                    exact.linear(0, (ridge * Dense(shape.Dv, d, S0)).data), exact.delta(0, S0))
        .but_not("linear attention from $S_0$ itself", exact.linear(0, S0));

    Preconditioned diagonal = exact;
    diagonal.diagonal = true;
    points.wrong_system("diagonal preconditioner: linear attention is the delta rule", diagonal.linear(),
                        diagonal.delta());
    points.wrong_system("diagonal preconditioner: the delta rule is least squares", diagonal.delta(), squares);
    points.wrong_system("no preconditioner: linear attention is least squares", run("linear", exact.s).o, squares);
    for (int t = 0; t < T; ++t)
      for (int j = 0; j < d; ++j) diagonal.s.k[t * d + j] = j == t % d;
    points.obligation("diagonal preconditioner, keys along the axes: linear attention is the delta rule",
                      diagonal.linear(), diagonal.delta());
  });
}
} // namespace

std::vector<Claim> exact_preconditioner() { return {preconditioned_delta_is_least_squares()}; }
} // namespace recollect::theory
