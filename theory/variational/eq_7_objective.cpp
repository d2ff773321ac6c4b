// SPDX-License-Identifier: Apache-2.0
// 004 Eq 7, 16, 17: the penalised objective, what its minimiser recalls, and whether Eq 9-10 compute it.
#include "theory/variational/associations.hpp"

namespace recollect::theory {
namespace {
constexpr int dv = 3;

Claim batch_minimiser() {
  ClaimBuilder c("vla-eq17-batch-minimiser", "004 Eq 7, 16, 17");
  c.says("$S* = V K^T (K K^T + M_t)^{-1}$ minimises $sum |v_s - S k_s|^2 + tr(S M_t S^T)$.");
  c.exactly("This is an identity. It is compared with the least-squares solution for the pairs and, as further keys "
            "with the value 0, the rows of a square root of $M_t$.");
  c.takes({integer_param("n", 6, 1, 256, "pairs"), width_param(), penalty_param()});
  return measure(c, [](Points &points, Seed seed, int n, int d, double lambda0) {
    const Pairs x = unit_pairs(n, d, dv, seed, "eq 17");
    const Dense U = unit_pairs(n, d, dv, seed, "eq 17, penalties").K, M = penalty(U, lambda0),
                before = M - outer(row(U.data, n - 1, d), row(U.data, n - 1, d));
    const Vector printed = closed_form(x, M).data;
    points.rounding(pair_units(x, lambda0));
    points.statement("the minimiser of Eq 7 is $V K^T (K K^T + M_t)^{-1}$", printed, minimiser(x, M).data)
        .but_not("penalty $M_{t-1}$", minimiser(x, before).data)
        .but_not("penalty $M_t^{-1}$", minimiser(x, inverse(M)).data)
        .but_not("penalty 1e-6 $I$", minimiser(x, 1e-6 * Dense::identity(d)).data);
  });
}

Claim shrinkage() {
  ClaimBuilder c("vla-eq17-shrinkage", "004 §4.3");
  c.says("Under bounded inputs and exact arithmetic the minimiser of Eq 7 recovers stored associations exactly if the "
         "keys are linearly independent.");
  c.exactly("For orthonormal keys with $u = k$ the minimiser returns $v / (2 + lambda0)$ at each key. The penalty is "
            "$lambda0 I$ plus $K K^T$ of the keys themselves, so half of the value is lost even as $lambda0 -> 0$.");
  c.because("The reads have the directions of the values. Their lengths are right as well if the penalty is constant "
            "and tends to 0, as in classical least squares.");
  c.is_refuted(
      asserted("§4.3: 'Under bounded inputs and exact arithmetic, the RLS objective (7) recovers stored "
               "associations exactly when the keys are linearly independent'.",
               "bounded inputs; exact arithmetic; independent keys",
               "Proposition 3 follows and restates the sentence for the recursion.",
               "We think of a penalty that is small compared with the data, as in classical least squares, where "
               "recovery is then exact. With $M_t = lambda0 I + sum u u^T$ of unit $u$ the minimiser keeps the "
               "direction of every value and shrinks its length, which the normalised write does not."));
  c.takes({integer_param("n", 5, 1, 64, "orthonormal keys, at most d"), width_param(), penalty_param()});
  return measure(c, [](Points &points, Seed seed, int n, int d, double lambda0) {
    if (n > d) usage_error("at most d keys are orthonormal");
    const Pairs x = orthonormal_pairs(n, d, dv, seed, "shrinkage");
    const auto reads = [&](const Dense &M) { return (closed_form(x, M) * transpose(x.K)).data; };
    const auto values = [&](double factor) { return (factor * transpose(x.V)).data; };
    const Vector measured = reads(penalty(x.K, lambda0)), ridge = reads(lambda0 * Dense::identity(d));
    points.rounding(pair_units(x, lambda0)).statement("the minimiser of Eq 7 reads v", measured, values(1));
    points.obligation("the minimiser of Eq 7 reads $v / (2 + lambda0)$", measured, values(1 / (2 + lambda0)))
        .but_not("$v / (1 + lambda0)$", values(1 / (1 + lambda0)))
        .but_not("$v / (2 + 2 lambda0)$", values(1 / (2 + 2 * lambda0)));
    points.wrong_system("the minimiser with the constant penalty $lambda0 I$ reads $v / (2 + lambda0)$", ridge,
                        values(1 / (2 + lambda0)));
    points.obligation("the ridge solution reads $v / (1 + lambda0)$", ridge, values(1 / (1 + lambda0)));
  });
}

Claim recursion_solves() {
  ClaimBuilder c("vla-eq10-solves-eq7", "004 §3.3, Appendix A.1");
  c.says("Eq 9-10 maintain the minimiser of Eq 7 exactly.");
  c.exactly("For orthonormal keys the state of the recursion is $2 + lambda0$ times the minimiser if $u = k$, and $1 + "
            "lambda0$ times the minimiser if $u$ is orthogonal to every key. For random keys the state is not the "
            "minimiser.");
  c.because("The recursion departs from the minimiser in two ways. Its write direction has length 1, as the paper "
            "says. And it does not contain the penalty $M_t$ of Eq 7, which grows with the keys.");
  c.is_refuted(asserted(
      "§3.3: 'The solution to (7) can be maintained exactly in $O(d^2)$ per step' (Eq 9, 10).", "none",
      "§3.3 continues: 'the normalisation of both is essential'; A.1 calls the unit length 'the key departure from "
      "classical RLS'.",
      "A.1 says that the unit-length write departs from classical RLS, so that Eq 10 is a variant of the minimiser's "
      "recursion; what is maintained exactly is $A_t$. 'The solution' should read 'a normalised form of its update'."));
  c.runs({"vla", "rls"});
  c.takes({integer_param("n", 4, 1, 32, "orthonormal keys, at most $d / 2$"), width_param(), penalty_param()});
  return measure(c, [](Points &points, Seed seed, int n, int d, double lambda0) {
    if (2 * n > d) usage_error("n must be at most d / 2, so that n directions are orthogonal to every key");
    const Pairs both = orthonormal_pairs(2 * n, d, dv, seed, "eq 10"), x = both.first(n);
    const Dense apart(n, d, {both.K.data.begin() + size_t(n) * d, both.K.data.end()});
    const Pairs generic = unit_pairs(4 * n, d, dv, seed, "eq 10, generic");
    const double units = pair_units(x, lambda0);
    const auto best = [&](const Dense &U, double factor) { return (factor * minimiser(x, penalty(U, lambda0))).data; };
    const Vector aligned = written(x, x.K, lambda0).S.data, beside = written(x, apart, lambda0).S.data;
    points.rounding(units).statement("$u = k$: the state is the minimiser, $S_t = S*$", aligned, best(x.K, 1));
    points.statement("u orthogonal to every key: the state is the minimiser, $S_t = S*$", beside, best(apart, 1));
    points.rounding(pair_units(generic, lambda0));
    points.statement("random keys, $u = k$: the state is the minimiser, $S_t = S*$",
                     written(generic, generic.K, lambda0).S, minimiser(generic, penalty(generic.K, lambda0)));
    points.rounding(units);
    points.obligation("$u = k$: $S_t = (2 + lambda0) S*$", aligned, best(x.K, 2 + lambda0))
        .but_not("$u = k$: $S_t = 2 S*$", best(x.K, 2))
        .but_not("$u = k$: $S_t = (1 + lambda0) S*$", best(x.K, 1 + lambda0));
    points.wrong_system("$u = k$, gain not normalised: $S_t = (2 + lambda0) S*$", least_squares_state(x, lambda0).data,
                        best(x.K, 2 + lambda0));
    points.obligation("u orthogonal to every key: $S_t = (1 + lambda0) S*$", beside, best(apart, 1 + lambda0))
        .but_not("u orthogonal to every key: $S_t = (2 + lambda0) S*$", best(apart, 2 + lambda0));
    points.wrong_system("generic u: $S_t = (1 + lambda0) S*$", written(x, generic.first(n).K, lambda0).S.data,
                        best(apart, 1 + lambda0));
  });
}
} // namespace

std::vector<Claim> eq_7_objective() { return {batch_minimiser(), shrinkage(), recursion_solves()}; }
} // namespace recollect::theory
