// SPDX-License-Identifier: Apache-2.0
// 004 Eq 5-6: which least-squares problem the recursion with gain A_t k_t solves.
#include "harness/core/error.hpp"
#include "theory/variational/associations.hpp"

namespace recollect::theory {
namespace {

const std::vector<ParamSpec> setting{integer_param("n", 6, 2, 256, "pairs"), integer_param("d", 8, 2, 64, "width"),
                                     real_param("lambda0", 0.1, 1e-4, 10, "penalty at the start")};
constexpr int dv = 3;

Dense ridge_solution(const Pairs &x, double ridge) { return minimiser(x, ridge * Dense::identity(x.K.columns)); }

// ---- The recursion is recursive least squares ----------------------------------------------------------------------------

/// The recursion with its inverse one step late: the gain A_{t-1} k_t.
Dense lagging(const Pairs &x) {
  Dense U(x.n(), x.K.columns);
  std::copy(x.K.data.begin(), x.K.data.end() - x.K.columns, U.data.begin() + x.K.columns);
  return U;
}
/// Eq 6 with its gain divided by delta a second time.
Dense overdivided(const Pairs &x, double lambda0) {
  Dense M = lambda0 * Dense::identity(x.K.columns), S(x.V.columns, x.K.columns);
  for (int t = 0; t < x.n(); ++t) {
    const Vector k = x.k(t);
    const double delta = 1 + inner(k, times(inverse(M), k));
    M = M + outer(k, k);
    S = S + outer(combine(1, x.v(t), -1, times(S, k)), scaled(1 / delta, times(inverse(M), k)));
  }
  return S;
}

std::vector<Point> recursion_is_ridge(const Protocol &p) {
  const Params at = point_of(p, setting);
  const double lambda0 = at.real("lambda0");
  const Pairs all = unit_pairs(at.integer("n"), at.integer("d"), dv, p.seed, "eq 6");
  std::vector<Point> points;
  for (int n : {1, all.n() / 2, all.n(), 3 * all.n()}) {
    const Pairs x = n > all.n() ? unit_pairs(n, all.K.columns, dv, p.seed, "eq 6, longer") : all.first(n);
    const double units = pair_units(x, lambda0);
    const std::string after = ", " + std::to_string(n) + " pairs";
    const Vector ridge = ridge_solution(x, lambda0).data;
    points.push_back(as_statement(exact_point(least_squares_state(x, lambda0).data, ridge, units), at,
                                  "recursive least squares" + after));
    points.push_back(as_statement(exact_point(written(x, x.K, lambda0, "vla_unnormalized").S.data, ridge, units), at,
                                  "Eq 6 with u = k" + after));
    points.push_back(
        rival_law(exact_point(least_squares_state(x, lambda0).data, ridge_solution(x, 2 * lambda0).data, units), at,
                  "penalty 2 lambda0" + after));
    if (n == 1) continue;
    points.push_back(rival_system(exact_point(written(x, lagging(x), lambda0, "vla_unnormalized").S.data, ridge, units),
                                  at, "gain A_{t-1} k" + after));
    points.push_back(
        rival_system(exact_point(overdivided(x, lambda0).data, ridge, units), at, "gain A_t k / delta" + after));
  }
  return points;
}

Claim rls_eq6_post_update() {
  return at_parameters(
      running(
          ledger_row("rls-eq6-post-update", "004 Eq 6",
                     "The recursion $S_t = S_{t-1} + (v_t - S_{t-1} k_t)(A_t k_t)^T$ with $A_t$ by Sherman-Morrison is "
                     "recursive least squares.",
                     "With $u = k$ it is the ridge solution with the constant penalty $lambda0$, after every pair.",
                     recursion_is_ridge),
          {"rls", "vla_unnormalized"}),
      setting);
}

// ---- But not of Eq 5 -----------------------------------------------------------------------------------------------------

std::vector<Point> recursion_against_eq5(const Protocol &p) {
  const Params at = point_of(p, setting);
  const double lambda0 = at.real("lambda0");
  const int n = at.integer("n"), d = at.integer("d");
  const Pairs x = unit_pairs(n, d, dv, p.seed, "eq 5");
  const Dense U = unit_pairs(n, d, dv, p.seed, "eq 5, other directions").K, M = penalty(x.K, lambda0);
  const Vla aligned = written(x, x.K, lambda0, "vla_unnormalized"), apart = written(x, U, lambda0, "vla_unnormalized");
  const double units = pair_units(x, lambda0);
  const Vector ridge = ridge_solution(x, lambda0).data, A = inverse(M).data;
  return {as_statement(exact_point(aligned.S.data, minimiser(x, M).data, units), at,
                       "u = k: the minimiser with penalty M_t"),
          as_statement(exact_point(apart.S.data, minimiser(x, penalty(U, lambda0)).data, units), at,
                       "other u: the minimiser with penalty M_t"),
          as_obligation(exact_point(aligned.S.data, ridge, units), at, "u = k: the minimiser with penalty lambda0 I"),
          rival_system(exact_point(apart.S.data, ridge, units), at, "other u: the minimiser with penalty lambda0 I"),
          rival_law(exact_point(aligned.S.data, ridge_solution(x, 2 * lambda0).data, units), at, "penalty 2 lambda0 I"),
          as_obligation(exact_point(aligned.A.data, A, units / lambda0), at, "u = k: A_t = (lambda0 I + K K^T)^{-1}"),
          rival_law(exact_point(aligned.A.data, inverse(M + transpose(x.K) * x.K).data, units / lambda0), at,
                    "the inverse of Eq 5's Hessian, K K^T + M_t")};
}

Claim rls_eq6_solves_eq5() {
  return at_parameters(
      running(
          explained(refuted_row(
                        "rls-eq6-solves-eq5",
                        asserted("§2.4: 'The optimal update uses the Sherman-Morrison formula to maintain the "
                                 "inverse covariance $A_t = M_t^{-1}$ exactly' (Eq 5, 6).",
                                 "none", "§3 instantiates it.",
                                 "Eq 6 is textbook recursive least squares and is right; $M_t$ in Eq 5 is meant as "
                                 "the regulariser whose inverse the recursion carries. With a constant $lambda0$ $I$ "
                                 "in the trace term the two agree."),
                        "004 Eq 5-6",
                        "The recursion of Eq 6 maintains the minimiser of Eq 5, $sum |v_s - S k_s|^2 + "
                        "tr(S M_t S^T)$, with $A_t = M_t^{-1}$ exactly.",
                        "With $u = k$ it minimises the ridge loss with the constant penalty $lambda0$. Eq 5's Hessian "
                        "is $K K^T + M_t$, whose inverse is not $A_t$; with other $u$ the recursion minimises "
                        "neither.",
                        recursion_against_eq5),
                    "Eq 6 is textbook recursive least squares. Eq 5 writes its growing inverse covariance into the "
                    "penalty as well, which counts the keys twice; read $M_t$ as the Gram matrix plus $lambda0 I$."),
          {"vla_unnormalized"}),
      setting);
}

} // namespace

std::vector<Claim> eq_6_recursion() { return {rls_eq6_post_update(), rls_eq6_solves_eq5()}; }

} // namespace recollect::theory
