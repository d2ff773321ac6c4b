// SPDX-License-Identifier: Apache-2.0
// 004 Eq 8 and the conclusions in the text: how much each u_t reduces A_t, and whether S is unchanged where A_t k_t is
// small.
#include "theory/variational/vla_steps.hpp"

namespace recollect::theory {
namespace {
constexpr double paper_lambda0 = 0.1;

Claim depletion() {
  ClaimBuilder c("vla-eq8-depletion", "004 §3.2, Eq 8");
  c.says("Because $u_t$ is normalised, each rank-1 update depletes $A_t$ in exactly one direction by a bounded amount; "
         "subspaces that no $u$ touches keep their full magnitude.");
  c.exactly("$A_{t-1} - A_t = z z^T / delta_t$ with $z = A_{t-1} u_t$. This drop has rank 1 and a trace of at most "
            "$|A_{t-1}| (delta - 1) / delta < 1 / lambda0$. At the first step, with $|u| = s$, its trace is $s^2 / "
            "(lambda0 (lambda0 + s^2))$. The depleted direction is $z$, not $u$. The refresh of $A$ is off.");
  c.because("In general $z = A u$ and $u$ have different directions. So a direction along which no $u$ lies is "
            "depleted as well if some $z$ lies along it.");
  c.runs({"vla"});
  c.takes(
      {integer_param("d", 32, 3, 64, "head width"), penalty_param(1e-3), real_param("s", 1, 0.05, 3, "length of u")});
  c.at({{}, {{"s", 1 / std::sqrt(32.0)}}});
  return measure(c, [](Points &points, Seed seed, int d, double lambda0, double s) {
    const int steps = 30;
    const double first_drop = s * s / (lambda0 * (lambda0 + s * s)),
                 units = step_units(steps, d, lambda0, s * s) / lambda0, rounding = units * epsilon_of(Real::f64);
    const Vector penalties = scaled(s, random_units(steps, d, Stream(seed, "depletion/penalties")));
    Vla layer(d, 1, lambda0);
    Dense M = lambda0 * Dense::identity(d);
    Vector drops, along_z, along_u, traces; // drops: A_{t-1} - A_t of every step; along_z, along_u: two laws for it
    for (int t = 0; t < steps; ++t) {
      const Dense before = layer.A;
      const Vector u = row(penalties, t, d), z = times(inverse(M), u);
      layer.update_inverse(u);
      M = M + outer(u, u);
      const Dense drop = before - layer.A;
      const double size = inner(z, z) / (1 + inner(u, z));
      append_row(drops, drop.data), traces.push_back(trace(drop));
      append_row(along_z, (1 / (1 + inner(u, z)) * outer(z, z)).data);
      append_row(along_u, (size / (s * s) * outer(u, u)).data);
    }
    // Without the 1 in delta = 1 + u.z the first drop is |z|^2 / u.z = 1 / lambda0.
    const Vector kept = row(penalties, 0, d), z = scaled(1 / lambda0, kept);
    const double undamped = trace(1 / inner(kept, z) * outer(z, z));
    // A run whose penalty directions are all orthogonal to `kept`.
    Vector confined;
    for (int t = 1; t < steps; ++t) {
      const Vector u = row(penalties, t, d);
      append_row(confined, combine(1, u, -inner(u, kept) / (s * s), kept));
    }
    Vla other(d, 1, lambda0);
    other.update_inverse(confined);
    points.rounding(units);
    points.obligation("$A_{t-1} - A_t = z z^T / delta$ with $z = A_{t-1} u$", drops, along_z)
        .but_not("$A_{t-1} - A_t$ along u instead of z", along_u);
    points.obligation("$A x = x / lambda0$ for x orthogonal to every u", times(other.A, kept),
                      scaled(1 / lambda0, kept));
    points.wrong_system("$A x = x / lambda0$ for x that is not orthogonal to some u", times(layer.A, kept),
                        scaled(1 / lambda0, kept));
    points.rounding(units * d);
    points.obligation("trace of the first drop $A_0 - A_1$: $s^2 / (lambda0 (lambda0 + s^2))$", traces[0], first_drop)
        .but_not("$1 / lambda0$", 1 / lambda0);
    points.obligation("trace of every drop $A_{t-1} - A_t$: at most that of the first",
                      at_most_point(max_abs(traces), first_drop, rounding * d));
    points.wrong_system("trace of every drop, with $delta = u.z$ for $1 + u.z$",
                        at_most_point(undamped, first_drop, rounding * d));
  });
}

Claim suppression() {
  ClaimBuilder c("vla-suppression-by-a", "004 §3.2, §4.4, §7.1, §7.4, Algorithm 1");
  c.says("If $k_t$ lies in the span of earlier keys, $A_t k_t$ is small and the update of $S$ is suppressed; a new "
         "direction is written at full magnitude.");
  c.exactly("$a_t = A_t k_t / |A_t k_t|$, so $|e_t a_t^T|_F = |e_t|$ whatever $|A_t k_t|$ is. Only the direction of "
            "$A_t k_t$ matters, and replacing $A$ by $c A$ changes nothing.");
  c.because(
      "The sentence describes the unnormalised form, and contradicts the normalisation that Proposition 2 requires.");
  c.is_refuted(
      asserted("§7.1: 'if $k_t$ lies in the span of previously seen keys, $A_t k_t$ is small and the $S$ update is "
               "suppressed; if it introduces a new direction, the update proceeds at full magnitude'.",
               "$u_s = k_s$", "§7.4 repeats that the updates become smaller.",
               "The suppression acts through $e_t$: a key that is stored already has a small residual, so that its "
               "write is small. And the direction of $A_t k_t$ does avoid what was written before. VLAv3 divides $A_t "
               "k_t$ by its length; the sentence describes VLAv2."));
  c.runs({"vla", "vla_unnormalized"});
  c.takes({integer_param("d", 8, 2, 64, "head width"), integer_param("dv", 3, 1, 32, "value width"),
           integer_param("repeats", 50, 2, 500, "writes at one key, each of a new value")});
  return measure(c, [](Points &points, Seed seed, int d, int dv, int steps) {
    const Vector k = random_unit(d, Stream(seed, "suppression/key"), 0),
                 u = random_unit(d, Stream(seed, "suppression/penalty"), 0),
                 values = Stream(seed, "suppression/values").normals(size_t(steps) * dv);
    Vla layer(d, dv, paper_lambda0), scaled_up(d, dv, paper_lambda0 / 1000, {{"refresh", "0"}}),
        raw(d, dv, paper_lambda0, {{"refresh", "0"}}, "vla_unnormalized");
    VlaAlgebra algebra(d, dv, paper_lambda0);
    Vector moved, errors, suppressed, raw_moved, raw_suppressed; // |S_t - S_{t-1}|_F, |e_t|, |e_t| lambda0 |A_t k|
    for (int t = 0; t < steps; ++t) {
      const Vector v = row(values, t, dv), penalty = t == 0 ? u : k;
      const Dense before = layer.S, raw_before = raw.S;
      const auto error = [&](const Dense &S) { return norm(combine(1, v, -1, times(S, k))); };
      errors.push_back(error(algebra.S));
      layer.step(k, penalty, v), raw.step(k, penalty, v), algebra.step(k, penalty, v);
      scaled_up.A = 1000 * layer.A;
      scaled_up.write(k, v);
      moved.push_back(frobenius_norm(layer.S - before));
      raw_moved.push_back(paper_lambda0 * frobenius_norm(raw.S - raw_before));
      const auto as_stated = [&](double e) { return e * paper_lambda0 * norm(times(inverse(algebra.M), k)); };
      suppressed.push_back(as_stated(errors.back())), raw_suppressed.push_back(as_stated(error(raw_before)));
    }
    const double units = step_units(steps, d, paper_lambda0) * (1 + max_abs(errors));
    points.rounding(units).statement("size of an update of S: $|e| lambda0 |A_t k|$", moved, suppressed);
    points.obligation("size of an update of S: $|e|$", moved, errors);
    points.wrong_system("$a_t$ not normalised", raw_moved, errors);
    points
        .obligation("$a_t$ not normalised: $lambda0$ times the size of an update, $|e| lambda0 |A_t k|$", raw_moved,
                    raw_suppressed)
        .but_not("$a_t$ not normalised: $|e|$, as in the normalised layer", errors);
    points.rounding(units * steps).obligation("the state with A times 1000 is the same state", scaled_up.S, algebra.S);
    points.wrong_system("$a_t$ not normalised", raw.S, algebra.S);
  });
}
} // namespace

std::vector<Claim> eq_8_depletion() { return {depletion(), suppression()}; }
} // namespace recollect::theory
