// SPDX-License-Identifier: Apache-2.0
// 004 Appendix A.1, Table 5: the gain computed from A_{t-1}, the gain computed from A_t, and how the memory depends on
// this choice.
#include "theory/variational/associations.hpp"

namespace recollect::theory {
namespace {
const std::vector<ParamSpec> setting{integer_param("n", 6, 2, 128, "pairs"), width_param(), penalty_param()};

Claim rls_pre_update_gain() {
  ClaimBuilder c("rls-pre-update-gain", "004 Appendix A.1");
  c.says("Classical recursive least squares computes its gain from $A_{t-1}$.");
  c.exactly("The gain is $A_{t-1} k / (1 + k^T A_{t-1} k)$, which is the same vector as $A_t k$.");
  c.because("The textbook algorithm computes the gain from $A_{t-1}$. Without the denominator $delta = 1 + k^T A_{t-1} "
            "k$ the gain would be too large by the factor $delta$; the paper does not claim this form. The gain "
            "computed from $A_{t-1}$ and the one computed from $A_t$ are the same vector. So the 'post-update $A_t$' "
            "of Table 5 is no departure from the textbook.");
  c.runs({"rls", "vla"}), c.takes(setting);
  return measure(c, [](Points &points, Seed seed, int n, int d, double lambda0) {
    const Pairs x = unit_pairs(n, d, 1, seed, "classical gain"), earlier = x.first(n - 1);
    const Vector k = x.k(n - 1), before = times(inverse(penalty(earlier.K, lambda0)), k),
                 after = times(inverse(penalty(x.K, lambda0)), k);
    // The layer's own gain: the change of its state by the last pair, divided by the residual.
    const Dense old = least_squares_state(earlier, lambda0);
    const double residual = x.v(n - 1)[0] - times(old, k)[0], delta = 1 + inner(k, before),
                 units = pair_units(x, lambda0) / lambda0 / std::fabs(residual);
    const Vector gain = scaled(1 / residual, (least_squares_state(x, lambda0) - old).data);
    points.rounding(units).statement("gain of RLS: $A_{t-1} k / (1 + k^T A_{t-1} k)$", gain, scaled(1 / delta, before));
    points.obligation("gain of RLS: $A_t k$", gain, after)
        .but_not("$A_{t-1} k$", scaled(1, before))
        .but_not("$A_t k / delta$", scaled(1 / delta, after))
        .but_not("$A_{t-1} k / (k^T A_{t-1} k)$", scaled(1 / (delta - 1), before));
    points.wrong_system("gain of VLA, of length 1", written(x, x.K, lambda0).a, after);
  });
}

Claim vla_post_vs_pre_direction() {
  ClaimBuilder c("vla-post-vs-pre-direction", "004 Appendix A.1, Table 5");
  c.says("If $u_t$ is aligned with $k_t$, computing the write direction from the post-update $A_t$ rather than "
         "$A_{t-1}$ prevents a double counting of the new direction.");
  c.exactly("If $u$ is parallel to $k$, then $A_t k$ and $A_{t-1} k$ have the same direction, so that after "
            "normalisation the choice changes nothing. For any $u$, $A_t k = A_{t-1} k - z (u.A_{t-1} k) / delta$ with "
            "$z = A_{t-1} u$ and $delta = 1 + u.z$.");
  c.because("The choice between $A_t$ and $A_{t-1}$ matters only if the penalty direction $u_t$ is not along the key. "
            "The paper does not mention this case.");
  c.is_refuted(
      asserted("Appendix A.1, 'Why post-update $A_t$': 'When $u_t$ is aligned with $k_t$, the post-update $A_t$ "
               "already accounts for the new direction's contribution, preventing double-counting.'",
               "$u_t$ along $k_t$", "Table 5 repeats 'uses post-update $A_t$'.",
               "The choice is made for every $u_t$; for a learned $u_t$ that is not along the key the two directions "
               "differ, as the general formula shows. The aligned case was meant as an illustration. In that case the "
               "two vectors differ only in length, which the normalisation then removes."));
  c.runs({"vla"}), c.takes(setting);
  return measure(c, [](Points &points, Seed seed, int n, int d, double lambda0) {
    const Pairs x = unit_pairs(n, d, 1, seed, "write directions");
    const Dense other = unit_pairs(n, d, 1, seed, "write directions, penalties").K;
    const double units = step_units(n, d, lambda0);
    const Vector k = x.k(n - 1);
    // Compares the layer's last write direction with A_{t-1} k - z (u.A_{t-1} k) / divisor(delta), computed in dense
    // algebra.
    const auto last = [&](const Dense &U, double (*divisor)(double delta)) {
      const Dense A = inverse(penalty(first_rows(U, n - 1), lambda0));
      const Vector u = row(U.data, n - 1, d), before = times(A, k), z = times(A, u);
      const Vector after = combine(1, before, -inner(u, before) / divisor(1 + inner(u, z)), z);
      return exact_point(written(x, U, lambda0).a, unit(after), units);
    };
    const auto old = [](double) { return HUGE_VAL; };
    const auto corrected = [](double delta) { return delta; };
    const auto undivided = [](double) { return 1.0; };
    const Dense aligned = 0.7 * x.K; // parallel to k, of any length
    const Dense A = inverse(penalty(first_rows(aligned, n - 1), lambda0));
    const double turn = norm(combine(1, written(x, aligned, lambda0).a, -1, unit(times(A, k))));
    points.statement("u parallel to k: $A_t k$ and $A_{t-1} k$ differ in direction", at_least_point(turn, 1e-6, 0));
    points.obligation("u parallel to k: VLA writes along $A_{t-1} k$", last(aligned, old));
    points.wrong_system("u not parallel to k: VLA writes along $A_{t-1} k$", last(other, old));
    points
        .obligation("u not parallel to k: VLA writes along $A_{t-1} k - z (u.A_{t-1} k) / delta$",
                    last(other, corrected))
        .but_not("along $A_{t-1} k - z (u.A_{t-1} k)$, without $delta$", last(other, undivided));
  });
}
} // namespace

std::vector<Claim> appendix_a1_gain() { return {rls_pre_update_gain(), vla_post_vs_pre_direction()}; }
} // namespace recollect::theory
