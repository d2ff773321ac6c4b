// SPDX-License-Identifier: Apache-2.0
// 004 §7.1-7.2: A_t as a whitening of the keys, and how far it turns a write direction away from earlier keys.
#include "harness/core/error.hpp"
#include "theory/variational/associations.hpp"

namespace recollect::theory {
namespace {

// ---- After Eq 15: the index ----------------------------------------------------------------------------------------------

const std::vector<ParamSpec> setting{integer_param("t", 10, 3, 128, "keys so far"),
                                     integer_param("d", 8, 2, 64, "width"),
                                     real_param("lambda0", 0.1, 1e-4, 10, "penalty at the start")};

std::vector<Point> whitening_index(const Protocol &p) {
  const Params at = point_of(p, setting);
  const int t = at.integer("t"), d = at.integer("d");
  const double lambda0 = at.real("lambda0");
  const Pairs x = unit_pairs(t, d, 1, p.seed, "whitening index");
  const Vector A = written(x, x.K, lambda0).A.data;
  const auto law = [&](int keys, double ridge) {
    return exact_point(A, inverse(penalty(x.first(keys).K, ridge)).data, step_units(t, d, lambda0) / lambda0);
  };
  return {as_statement(law(t - 1, lambda0), at, "A_t from K_{t-1}"), as_obligation(law(t, lambda0), at, "A_t from K_t"),
          rival_law(law(t - 2, lambda0), at, "A_t from K_{t-2}"),
          rival_law(law(t, 2 * lambda0), at, "penalty 2 lambda0")};
}

Claim vla_7_1_whitening_index() {
  return at_parameters(
      running(
          explained(refuted_row(
                        "vla-7.1-whitening-index",
                        slip("§7.1 after Eq 15: $A_t ~ (K_{t-1} K_{t-1}^T + lambda0 I)^{-1}$.", "$u_s = k_s$",
                             "Eq 15 includes $u_t$."),
                        "004 §7.1, after Eq 15",
                        "With $u_s = k_s$, $A_t$ approximates the whitening $(K_{t-1} K_{t-1}^T + lambda0 I)^{-1}$.",
                        "With index $t$ it is exact: $A_t = (K_t K_t^T + lambda0 I)^{-1}$; as printed it is $A_{t-1}$.",
                        whitening_index),
                    "Eq 8 includes $u_t$ in $M_t$, so the index is off by one and the approximation an identity."),
          {"vla"}),
      setting);
}

// ---- Section 7.2: two keys -----------------------------------------------------------------------------------------------

const std::vector<ParamSpec> two_keys{real_param("rho", 0.6, 0.01, 0.99, "k_1 . k_2"),
                                      real_param("s", 1, 0.01, 10, "length of u_1, parallel to k_1"),
                                      real_param("lambda0", 0.1, 1e-6, 10, "penalty at the start")};

std::vector<Point> two_key_whitening(const Protocol &p) {
  std::vector<Point> points;
  std::vector<Params> own;
  for (double s : {1.0, 1 / std::sqrt(32.0)}) // Eq 8's length, and Algorithm 1's at d = 32
    for (double lambda0 : {0.1, 1e-2, 1e-4})
      own.push_back(labels({{"rho", num(0.6)}, {"s", num(s)}, {"lambda0", num(lambda0)}}));
  for (const Params &at : points_of(p, own)) {
    const double rho = at.real("rho"), s = at.real("s"), lambda0 = at.real("lambda0"), side = std::sqrt(1 - rho * rho);
    // The layer's write direction for k_2 = (rho, side) after u_1 = s e1, along k_2 - w k_1.
    Vla memory(2, 1, lambda0);
    memory.step({1, 0}, {s, 0}, {1});
    memory.step({rho, side}, {0, 0}, {1});
    const double w = rho - memory.a[0] / memory.a[1] * side, law = rho * s * s / (lambda0 + s * s),
                 units = 64 * (1 + s * s / lambda0);
    if (rho - law < 1e3 * units * epsilon_of(Real::f64))
      usage_error("vla_whitening_direction: lambda0 / s^2 is so small that rounding hides it; take a larger lambda0");
    const auto told_apart = [&](double coefficient, const char *name) { // a rival within rounding is left out
      if (std::fabs(coefficient - law) > 1e3 * units * epsilon_of(Real::f64))
        points.push_back(rival_law(exact_point(w, coefficient, units), at, name));
    };
    const double remaining = (rho - law) / std::hypot(rho - law, side);
    append(points, {as_statement(exact_point(w, rho, units), at, "A_1 k_2 is along k_2 - rho k_1"),
                    as_limit(exact_point(w, law, units), at, "along k_2 - rho s^2/(lambda0 + s^2) k_1"),
                    as_obligation(exact_point(memory.a[0], remaining, units), at, "cosine left with k_1"),
                    rival_law(exact_point(memory.a[0], -remaining, units), at, "the overlap turned")});
    told_apart(rho * s / (lambda0 + s), "s for s^2");
    told_apart(rho / (1 + 2 * lambda0 / (s * s)), "rho / (1 + 2 lambda0 / s^2)");
    told_apart(rho * (1 - lambda0 / (s * s)), "rho (1 - lambda0 / s^2)");
  }
  return points;
}

Claim vla_whitening_direction() {
  return at_parameters(
      running(
          explained(asymptotic(
                        ledger_row("vla-whitening-direction", "004 §7.2",
                                   "For two keys with $k_1.k_2 = rho$ the write direction $A_1 k_2$ is proportional to "
                                   "$k_2 - rho k_1$, the part of $k_2$ orthogonal to $k_1$, so that the association "
                                   "stored for $k_1$ is not diluted.",
                                   "The coefficient of $k_1$ is $rho s^2/(lambda0 + s^2)$ for $|u| = s$: orthogonal as "
                                   "$lambda0/s^2 -> 0$.",
                                   two_key_whitening)),
                    "At $lambda0 = .1$ a unit $u$ removes 91% of the overlap. At Algorithm 1's length $1/sqrt(32)$ it "
                    "removes "
                    "24%: most of the interference that the section explains away stays. Use unit penalty directions "
                    "and a small $lambda0$."),
          {"vla"}),
      two_keys);
}

// ---- Section 7.2: many keys ----------------------------------------------------------------------------------------------

const std::vector<ParamSpec> many_keys{integer_param("n", 5, 1, 32, "earlier keys, fewer than d"),
                                       integer_param("d", 8, 2, 64, "width"),
                                       real_param("lambda0", 1e-4, 1e-6, 1, "penalty at the start")};

std::vector<Point> projection(const Protocol &p) {
  const Params sizes = point_of(p, many_keys);
  const int n = sizes.integer("n"), d = sizes.integer("d");
  if (n >= d) usage_error("fewer than d earlier keys, which leave something orthogonal");
  const Pairs x = unit_pairs(n + 1, d, 1, p.seed, "projection"), earlier = x.first(n);
  const Vector k = x.k(n);
  const Dense gram = earlier.K * transpose(earlier.K);
  // k = p + K^T c, p orthogonal to the earlier keys: A k = p / lambda0 + K^T (G + lambda0 I)^{-1} c.
  const Vector c = times(inverse(gram), times(earlier.K, k)), inside = times(transpose(earlier.K), c),
               outside = combine(1, k, -1, inside);
  const double least = symmetric_eigenvalues(gram).front();
  std::vector<Point> points;
  const std::vector<double> own =
      p.point ? std::vector<double>{sizes.real("lambda0")} : std::vector<double>{0.1, 1e-2, 1e-4};
  for (double lambda0 : own) {
    Params at = sizes;
    at.set("lambda0", lambda0);
    Dense U = x.K; // no penalty of the new key: its direction under A_{t-1}
    std::fill(U.data.end() - d, U.data.end(), 0.0);
    const Vector a = written(x, U, lambda0).a;
    const auto along = [&](const Vector &more, double factor) { return unit(combine(1, outside, factor, more)); };
    const Vector law = times(transpose(earlier.K), times(inverse(gram + lambda0 * Dense::identity(n)), c)),
                 first_order = times(transpose(earlier.K), times(inverse(gram), c));
    const double units = step_units(n + 1, d, lambda0) / std::min(1.0, norm(outside)) / std::min(1.0, least);
    append(points,
           {as_statement(exact_point(a, unit(outside), units), at, "A k is along the part outside their span"),
            as_limit(exact_point(a, along(law, lambda0), units), at, "along P k + lambda0 K^T (G + lambda0)^{-1} c"),
            rival_law(exact_point(a, along(law, std::sqrt(lambda0)), units), at, "sqrt(lambda0)"),
            rival_law(exact_point(a, along(law, lambda0 * lambda0), units), at, "lambda0^2")});
    if (lambda0 < 1e-3) continue;
    points.push_back(rival_law(exact_point(a, along(first_order, lambda0), units), at, "first order in lambda0 alone"));
  }
  return points;
}

Claim vla_7_2_projection() {
  return at_parameters(
      running(
          explained(
              asymptotic(ledger_row("vla-7.2-projection", "004 §7.2",
                                    "The RLS update projects each new key onto the subspace not yet spanned by prior "
                                    "keys: $A_t k$ points along the part of $k$ outside their span.",
                                    "With $u = k$, up to a turn of order $lambda0$: A $k$ is along $P k + lambda0 K^T "
                                    "(K K^T + lambda0 I)^{-1} c$, where $k = P k + K^T c$.",
                                    projection)),
              "Right in the limit $lambda0 -> 0$, which the text does not take; at $lambda0 = .1$ the direction is off "
              "by .4."),
          {"vla"}),
      many_keys);
}

} // namespace

std::vector<Claim> section_7_whitening() {
  return {vla_7_1_whitening_index(), vla_whitening_direction(), vla_7_2_projection()};
}

} // namespace recollect::theory
