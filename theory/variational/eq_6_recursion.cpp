// SPDX-License-Identifier: Apache-2.0
// 004 Eq 5-6: which least-squares problem the recursion with the gain A_t k_t solves.
#include "theory/variational/associations.hpp"

namespace recollect::theory {
namespace {
const std::vector<ParamSpec> setting{integer_param("n", 6, 2, 256, "pairs"), width_param(), penalty_param()};
constexpr int dv = 3;

Dense ridge_solution(const Pairs &x, double ridge) { return minimiser(x, ridge * Dense::identity(x.K.columns)); }

/// The keys, one step late, as penalty directions. They give the recursion the gain A_{t-1} k_t.
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

Claim rls_eq6_post_update() {
  ClaimBuilder c("rls-eq6-post-update", "004 Eq 6");
  c.says("The recursion $S_t = S_{t-1} + (v_t - S_{t-1} k_t)(A_t k_t)^T$, with $A_t$ updated by Sherman-Morrison, is "
         "recursive least squares.");
  c.exactly("With $u = k$ the state after every pair is the ridge solution with the constant penalty $lambda0$.");
  c.runs({"rls", "vla_unnormalized"}), c.takes(setting);
  return c.measure([](Points &points, const Params &p, const Protocol &protocol) {
    const double lambda0 = p.real("lambda0");
    const Pairs all = unit_pairs(p.integer("n"), p.integer("d"), dv, protocol.seed, "eq 6");
    for (int n : {1, all.n() / 2, all.n(), 3 * all.n()}) {
      const Pairs x = n > all.n() ? unit_pairs(n, all.K.columns, dv, protocol.seed, "eq 6, longer") : all.first(n);
      const std::string after = ", " + std::to_string(n) + " pairs";
      const Vector ridge = ridge_solution(x, lambda0).data;
      const auto eq6 = [&](const Dense &U) { return written(x, U, lambda0, "vla_unnormalized").S.data; };
      points.rounding(pair_units(x, lambda0));
      points
          .statement("recursive least squares: the ridge solution" + after, least_squares_state(x, lambda0).data, ridge)
          .but_not("penalty $2 lambda0$" + after, ridge_solution(x, 2 * lambda0).data);
      points.statement("Eq 6 with $u = k$: the ridge solution" + after, eq6(x.K), ridge);
      if (n == 1) continue;
      points.wrong_system("Eq 6 with the gain $A_{t-1} k$" + after, eq6(lagging(x)), ridge);
      points.wrong_system("Eq 6 with the gain $A_t k / delta$" + after, overdivided(x, lambda0).data, ridge);
    }
  });
}

Claim rls_eq6_solves_eq5() {
  ClaimBuilder c("rls-eq6-solves-eq5", "004 Eq 5-6");
  c.says("The recursion of Eq 6 maintains the minimiser of Eq 5, $sum |v_s - S k_s|^2 + tr(S M_t S^T)$, with $A_t = "
         "M_t^{-1}$ exactly.");
  c.exactly("With $u = k$ the recursion minimises the ridge loss with the constant penalty $lambda0$, not Eq 5. The "
            "Hessian of Eq 5 is $K K^T + M_t$, whose inverse is not $A_t$. With other $u$ it minimises neither loss.");
  c.because("Eq 6 is textbook recursive least squares. Eq 5 also takes the growing $M_t = lambda0 I + sum k k^T$ as "
            "its penalty, so that it counts the keys twice. Its penalty should be $lambda0 I$.");
  c.is_refuted(
      asserted("§2.4: 'The optimal update uses the Sherman-Morrison formula to maintain the inverse covariance $A_t = "
               "M_t^{-1}$ exactly' (Eq 5, 6).",
               "none", "§3 applies the sentence to VLA.",
               "Eq 6 is textbook recursive least squares and is right; $M_t$ in Eq 5 is meant as the regulariser whose "
               "inverse the recursion carries. With the constant $lambda0 I$ in the trace term Eq 5 and Eq 6 agree."));
  c.runs({"vla_unnormalized"}), c.takes(setting);
  return measure(c, [](Points &points, Seed seed, int n, int d, double lambda0) {
    const Pairs x = unit_pairs(n, d, dv, seed, "eq 5");
    const Dense U = unit_pairs(n, d, dv, seed, "eq 5, other directions").K, M = penalty(x.K, lambda0);
    const Vla along = written(x, x.K, lambda0, "vla_unnormalized"), apart = written(x, U, lambda0, "vla_unnormalized");
    const double units = pair_units(x, lambda0);
    const Dense ridge = ridge_solution(x, lambda0);
    points.rounding(units);
    points.statement("$u = k$: the minimiser with penalty $M_t$", along.S, minimiser(x, M))
        .but_not("penalty $2 lambda0 I$", ridge_solution(x, 2 * lambda0));
    points.statement("other u: the minimiser with penalty $M_t$", apart.S, minimiser(x, penalty(U, lambda0)));
    points.obligation("$u = k$: the minimiser with penalty $lambda0 I$", along.S, ridge);
    points.wrong_system("other u: the minimiser with penalty $lambda0 I$", apart.S, ridge);
    points.rounding(units / lambda0);
    points.obligation("$u = k$: $A_t = (lambda0 I + K K^T)^{-1}$", along.A, inverse(M))
        .but_not("the inverse of Eq 5's Hessian, $K K^T + M_t$", inverse(M + transpose(x.K) * x.K));
  });
}
} // namespace

std::vector<Claim> eq_6_recursion() { return {rls_eq6_post_update(), rls_eq6_solves_eq5()}; }
} // namespace recollect::theory
