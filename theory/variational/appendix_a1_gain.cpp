// SPDX-License-Identifier: Apache-2.0
// 004 Appendix A.1, Table 5: the gain before and after the update of A_t, and how the choice affects VLA.
#include "theory/variational/associations.hpp"

namespace recollect::theory {
namespace {

const std::vector<ParamSpec> setting{integer_param("n", 6, 2, 128, "pairs"), integer_param("d", 8, 2, 64, "width"),
                                     real_param("lambda0", 0.1, 1e-4, 10, "penalty at the start")};

// ---- Classical recursive least squares -----------------------------------------------------------------------------------

std::vector<Point> classical_gain(const Protocol &p) {
  const Params at = point_of(p, setting);
  const int n = at.integer("n"), d = at.integer("d");
  const double lambda0 = at.real("lambda0");
  const Pairs x = unit_pairs(n, d, 1, p.seed, "classical gain"), earlier = x.first(n - 1);
  const Vector k = x.k(n - 1), before = times(inverse(penalty(earlier.K, lambda0)), k),
               after = times(inverse(penalty(x.K, lambda0)), k);
  // The layer's own gain: the change of its state by the last pair, divided by the residual.
  const Dense old = least_squares_state(earlier, lambda0);
  const double residual = x.v(n - 1)[0] - times(old, k)[0], delta = 1 + inner(k, before),
               units = pair_units(x, lambda0) / lambda0 / std::fabs(residual);
  const Vector gain = scaled(1 / residual, (least_squares_state(x, lambda0) - old).data);
  const auto rival = [&](double factor, const Vector &direction, const char *name) {
    return rival_law(exact_point(gain, scaled(factor, direction), units), at, name);
  };
  return {as_statement(exact_point(gain, scaled(1 / delta, before), units), at, "A_{t-1} k / (1 + k^T A_{t-1} k)"),
          as_obligation(exact_point(gain, after, units), at, "which is A_t k"),
          rival_system(exact_point(written(x, x.K, lambda0).a, after, units), at, "VLA's gain, of length 1"),
          rival(1, before, "A_{t-1} k"),
          rival(1 / delta, after, "A_t k / delta"),
          rival(1 / (delta - 1), before, "A_{t-1} k / (k^T A_{t-1} k)")};
}

Claim rls_pre_update_gain() {
  return at_parameters(
      running(explained(
                  ledger_row("rls-pre-update-gain", "004 Appendix A.1",
                             "Classical recursive least squares computes its gain from $A_{t-1}$.",
                             "$A_{t-1} k / (1 + k^T A_{t-1} k)$, which is the same vector as $A_t k$.", classical_gain),
                  "Textbook-true. The text does not claim the gain without its denominator, which overshoots $delta$ "
                  "times; since the two forms agree, Table 5's 'post-update $A_t$' is no departure."),
              {"rls", "vla"}),
      setting);
}

// ---- VLA -----------------------------------------------------------------------------------------------------------------

std::vector<Point> write_directions(const Protocol &p) {
  const Params at = point_of(p, setting);
  const int n = at.integer("n"), d = at.integer("d");
  const double lambda0 = at.real("lambda0");
  const Pairs x = unit_pairs(n, d, 1, p.seed, "write directions");
  const Dense other = unit_pairs(n, d, 1, p.seed, "write directions, penalties").K;
  const double units = step_units(n, d, lambda0);
  const Vector k = x.k(n - 1);
  // The layer's last write direction; A_{t-1} k, A_{t-1} u and delta from the penalties in dense algebra.
  const auto last = [&](const Dense &U, const auto &direction) {
    const Vector u = row(U.data, n - 1, d);
    const Dense A = inverse(penalty(Dense(n - 1, d, {U.data.begin(), U.data.end() - d}), lambda0));
    const Vector before = times(A, k), z = times(A, u);
    return exact_point(written(x, U, lambda0).a, unit(direction(before, z, inner(u, before), 1 + inner(u, z))), units);
  };
  const auto old = [](const Vector &before, const Vector &, double, double) { return before; };
  const auto corrected = [](const Vector &before, const Vector &z, double overlap, double delta) {
    return combine(1, before, -overlap / delta, z);
  };
  const auto undivided = [](const Vector &before, const Vector &z, double overlap, double) {
    return combine(1, before, -overlap, z);
  };
  Dense aligned = 0.7 * x.K; // parallel to k, of any length
  const Dense A = inverse(penalty(Dense(n - 1, d, {aligned.data.begin(), aligned.data.end() - d}), lambda0));
  const double turn = norm(combine(1, written(x, aligned, lambda0).a, -1, unit(times(A, k))));
  return {as_statement(at_least_point(turn, 1e-6, 0), at, "u parallel to k: A_t k and A_{t-1} k differ in direction"),
          as_obligation(last(aligned, old), at, "u parallel to k: the direction of A_{t-1} k"),
          rival_system(last(other, old), at, "other u: the direction of A_{t-1} k"),
          as_obligation(last(other, corrected), at, "other u: A_{t-1} k - z (u.A_{t-1} k) / delta"),
          rival_law(last(other, undivided), at, "delta left out")};
}

Claim vla_post_vs_pre_direction() {
  return at_parameters(
      running(
          explained(
              refuted_row(
                  "vla-post-vs-pre-direction",
                  asserted(
                      "Appendix A.1, 'Why post-update $A_t$': 'When $u_t$ is aligned with $k_t$, the post-update $A_t$ "
                      "already "
                      "accounts for the new direction's contribution, preventing double-counting.'",
                      "$u_t$ along $k_t$", "Table 5 repeats 'uses post-update $A_t$'.",
                      "The choice is made for every $u_t$; for a learned $u_t$ that is not along the key the two "
                      "directions differ, as the general formula shows. The aligned case was meant as an illustration, "
                      "and there the difference is in the length that the normalisation then removes."),
                  "004 Appendix A.1, Table 5",
                  "Where $u_t$ is aligned with $k_t$, computing the write direction from the post-update $A_t$ "
                  "rather than $A_{t-1}$ prevents a double counting of the new direction.",
                  "After normalisation $A_t k$ and $A_{t-1} k$ are the same direction when $u$ is parallel to $k$, "
                  "so the choice changes nothing there. In general $A_t k = A_{t-1} k - "
                  "z$ ($u.A_{t-1} k$) / $delta$, $z = A_{t-1} u$.",
                  write_directions),
              "The choice does matter for penalty directions that are not along the key, which is the case that "
              "the text does not name."),
          {"vla"}),
      setting);
}

} // namespace

std::vector<Claim> appendix_a1_gain() { return {rls_pre_update_gain(), vla_post_vs_pre_direction()}; }

} // namespace recollect::theory
