// SPDX-License-Identifier: Apache-2.0
// 004 Eq 8 and the text's conclusions: how each u_t depletes A_t, and whether a small A_t k_t suppresses the update of
// S.
#include "theory/support/claims.hpp"
#include "theory/variational/vla_steps.hpp"

namespace recollect::theory {
namespace {

constexpr double paper_lambda0 = 0.1;

// ---- A_t ---------------------------------------------------------------------------------------------------------------

std::vector<Point> depletion(const Protocol &p) {
  std::vector<Point> points;
  const int steps = 30;
  const auto place = [](int d, double lambda0, double s) {
    return labels({{"d", num(d)}, {"lambda0", num(lambda0)}, {"s", num(s)}});
  };
  for (const Params &at : points_of(p, {place(32, paper_lambda0, 1), place(32, paper_lambda0, 1 / std::sqrt(32.0))})) {
    const int d = at.integer("d");
    const double lambda0 = at.real("lambda0"), s = at.real("s"), first_drop = s * s / (lambda0 * (lambda0 + s * s)),
                 units = step_units(steps, d, lambda0, s * s) / lambda0, rounding = units * epsilon_of(Real::f64);
    const Vector penalties = scaled(s, random_units(steps, d, Stream(p.seed, "depletion/penalties")));
    Vla layer(d, 1, lambda0);
    layer.follow_chain = false;
    Dense M = lambda0 * Dense::identity(d);
    Vector drops, along_z, along_u; // A_{t-1} - A_t of every step, by the layer and by two laws
    double largest = 0, first = 0;
    for (int t = 0; t < steps; ++t) {
      const Dense before = layer.A;
      const Vector u = row(penalties, t, d), z = times(inverse(M), u);
      layer.update_inverse(u);
      M = M + outer(u, u);
      const Dense drop = before - layer.A;
      const double size = inner(z, z) / (1 + inner(u, z));
      append_row(drops, drop.data);
      append_row(along_z, (1 / (1 + inner(u, z)) * outer(z, z)).data);
      append_row(along_u, (size / (s * s) * outer(u, u)).data);
      largest = std::max(largest, trace(drop));
      if (t == 0) first = trace(drop);
    }
    // Without the 1 in delta = 1 + u.z the first drop is |z|^2 / u.z = 1 / lambda0.
    const Vector z = scaled(1 / lambda0, row(penalties, 0, d));
    const double undamped = trace(1 / inner(row(penalties, 0, d), z) * outer(z, z));
    // Directions orthogonal to every u.
    const Vector kept = row(penalties, 0, d);
    Vector confined = penalties;
    for (int t = 1; t < steps; ++t) {
      const Vector u = row(penalties, t, d), apart = combine(1, u, -inner(u, kept) / (s * s), kept);
      std::copy(apart.begin(), apart.end(), &confined[size_t(t) * d]);
    }
    Vla elsewhere(d, 1, lambda0);
    elsewhere.follow_chain = false;
    elsewhere.update_inverse(Vector(confined.begin() + d, confined.end()));
    append(points,
           {as_obligation(exact_point(drops, along_z, units), at, "drop z z^T / delta, z = A u"),
            rival_law(exact_point(drops, along_u, units), at, "along u instead of z"),
            as_obligation(exact_point(first, first_drop, units * d), at, "first drop s^2 / (lambda0 (lambda0 + s^2))"),
            rival_law(exact_point(first, 1 / lambda0, units * d), at, "1 / lambda0"),
            as_obligation(at_most_point(largest, first_drop, rounding * d), at, "no drop exceeds the first"),
            rival_system(at_most_point(undamped, first_drop, rounding * d), at, "delta = u.z"),
            as_obligation(exact_point(times(elsewhere.A, kept), scaled(1 / lambda0, kept), units), at,
                          "an untouched direction keeps 1 / lambda0"),
            rival_system(exact_point(times(layer.A, kept), scaled(1 / lambda0, kept), units), at, "a touched one")});
  }
  return points;
}

Claim eq8_depletion() {
  return explained(
      at_parameters(
          running(ledger_row("vla-eq8-depletion", "004 §3.2, Eq 8",
                             "Because $u_t$ is normalised, each rank-1 update depletes $A_t$ in exactly one direction "
                             "by a bounded amount; subspaces that no $u$ touches keep their full magnitude.",
                             "$A_{t-1} - A_t = z z^T / delta_t$ with $z = A_{t-1} u_t$: rank 1, trace at most "
                             "$|A_{t-1}| (delta - 1) / delta < 1 / lambda0$, the first $s^2 / (lambda0 (lambda0 + "
                             "s^2))$ for $|u| = s$. The direction is $z$, not $u$. Needs the refresh off.",
                             depletion),
                  {"vla"}),
          {integer_param("d", 32, 3, 64, "head width"),
           real_param("lambda0", paper_lambda0, 1e-3, 10, "penalty at the start"),
           real_param("s", 1, 0.05, 3, "length of u")}),
      "Even a direction that $u$ itself never had is depleted, if $A$ has turned it into $z$.");
}

// ---- S_t ---------------------------------------------------------------------------------------------------------------

std::vector<Point> suppression(const Protocol &p) {
  std::vector<Point> points;
  for (const Params &at : points_of(p, {labels({{"d", num(8)}, {"dv", num(3)}, {"repeats", num(50)}})})) {
    const int d = at.integer("d"), dv = at.integer("dv"), steps = at.integer("repeats");
    const Vector k = random_unit(d, Stream(p.seed, "suppression/key"), 0),
                 u = random_unit(d, Stream(p.seed, "suppression/penalty"), 0),
                 values = Stream(p.seed, "suppression/values").normals(size_t(steps) * dv);
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
    append(points, {as_statement(exact_point(moved, suppressed, units), at, "|update| = |e| lambda0 |A_t k|"),
                    as_obligation(exact_point(moved, errors, units), at, "|update| = |e|"),
                    rival_system(exact_point(raw_moved, errors, units), at, "a not normalised"),
                    as_obligation(exact_point(raw_moved, raw_suppressed, units), at,
                                  "a not normalised: lambda0 |update| = |e| lambda0 |A_t k|"),
                    rival_law(exact_point(raw_moved, errors, units), at, "a not normalised: as for a of length 1"),
                    as_obligation(exact_point(scaled_up.S.data, algebra.S.data, units * steps), at, "A times 1000"),
                    rival_system(exact_point(raw.S.data, algebra.S.data, units * steps), at, "a not normalised")});
  }
  return points;
}

Claim suppression_by_a() {
  return explained(
      at_parameters(
          running(
              refuted_row(
                  "vla-suppression-by-a",
                  asserted(
                      "§7.1: 'if $k_t$ lies in the span of previously seen keys, $A_t k_t$ is small and the $S$ update "
                      "is suppressed; if it introduces a new direction, the update proceeds at full magnitude'.",
                      "$u_s = k_s$", "§7.4 repeats that update magnitudes diminish.",
                      "The suppression acts through $e_t$: a key that is stored already has a small residual, so "
                      "that its write is small. And the direction of $A_t k_t$ does avoid what was written before. "
                      "The length of $A_t k_t$ is divided out in VLAv3; the sentence describes VLAv2."),
                  "004 §3.2, §4.4, §7.1, §7.4, Algorithm 1",
                  "Where $k_t$ lies in directions seen before, $A_t k_t$ is small and the update of $S$ is "
                  "suppressed; a new direction is written at full magnitude.",
                  "$a_t = A_t k_t / |A_t k_t|$, so that $|e_t a_t^T|_F = |e_t|$ whatever $|A_t k_t|$ is: "
                  "only the direction of $A_t k_t$ matters, and $A -> c$ A changes nothing.",
                  suppression),
              {"vla", "vla_unnormalized"}),
          {integer_param("d", 8, 2, 64, "head width"), integer_param("dv", 3, 1, 32, "value width"),
           integer_param("repeats", 50, 2, 500, "of one key, with new values")}),
      "It describes the un-normalised form, and contradicts the normalisation that Proposition 2 asks for.");
}

} // namespace

std::vector<Claim> eq_8_depletion() { return {eq8_depletion(), suppression_by_a()}; }

} // namespace recollect::theory
