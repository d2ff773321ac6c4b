// SPDX-License-Identifier: Apache-2.0
// 004 Proposition 2 and its proof in Appendix A.2: one step's Jacobian I - a k^T, whose norm is claimed to be 1.
#include "harness/core/error.hpp"
#include "theory/support/claims.hpp"
#include "theory/variational/unit_jacobian.hpp"

namespace recollect::theory {
namespace {

const ParamSpec width = integer_param("d", 5, 2, 256, "head width"),
                cosine = real_param("c", 0.3, -1, 1, "a . k of the unit write direction and key");

Params place(int d, double c) { return labels({{"d", num(d)}, {"c", num(c)}}); }

// ---- The statement -----------------------------------------------------------------------------------------------------

std::vector<Point> norms(const Protocol &p) {
  std::vector<Point> points;
  for (const Params &at : points_of(p, {place(2, 0), place(2, -1), place(5, -0.5), place(5, 0.3), place(32, 0.9)})) {
    const int d = at.integer("d");
    const double c = at.real("c"), largest = largest_stretch(c), units = jacobian_units(d);
    if (c > 1 - 1e-6) usage_error("at c = 1, and there alone, the norm of the Jacobian is 1");
    const UnitPair x = unit_pair(d, c, Stream(p.seed, "proposition 2/pairs"), points.size());
    const Vector measured = singular_values(vla_jacobian_of(x.a, x.k));
    Vector law(d, 1.0);
    law.front() = largest, law.back() = (1 - c) / largest;
    const Point norm = exact_point(measured.front(), largest, units);
    append(points, {as_statement(exact_point(measured.front(), 1, units), at, "norm 1"),
                    as_obligation(exact_point(measured, law, units), at, "all singular values"),
                    as_obligation(exact_point(measured.back(), law.back(), units), at, "the smallest"),
                    as_obligation(norm, at, "the largest")});
    if (c > 1e-6 - 1) { // at c = -1 both laws are right
      points.push_back(rival_law(norm, "|J k| = sqrt(2 - 2c)", std::sqrt(2 - 2 * c)));
      points.push_back(rival_law(norm, "the triangle's bound 2", 2));
    }
    const Dense longer = vla_jacobian_of(scaled(1.1, x.a), x.k, "vla_unnormalized");
    points.push_back(rival_system(exact_point(spectral_norm(longer), largest, units), at, "a of length 1.1"));
  }
  if (p.point) return points;
  const double projector = spectral_norm(vla_jacobian_of({0.6, 0.8, 0}, {0.6, 0.8, 0})),
               alone = spectral_norm(vla_jacobian_of({1}, {1})); // in one dimension J is the number 1 - c
  append(points, {as_obligation(exact_point(projector, 1, jacobian_units(3)), place(3, 1), "an orthogonal projector"),
                  rival_system(exact_point(alone, 1, jacobian_units(1)), place(1, 1), "one dimension")});
  return points;
}

Claim unit_jacobian() {
  return explained(
      at_parameters(
          running(
              refuted_row(
                  "vla-prop2-unit-jacobian",
                  asserted(
                      "Proposition 2: '$|J_t|_2 = 1$ for all $k_t$, $a_t$', with footnote 1 and Appendix A.2.",
                      "unit vectors",
                      "Corollaries 1 and 2 rest on it. A.2 itself notes that at $x = k$ the square can reach 4.",
                      "What normalisation gives is a bound of 2 at every step that does not depend on $d_h$ or "
                      "$lambda0$, and of the golden ratio with a positive definite $A_t$; without it the norm grows as "
                      "$d_h/lambda0$. Norm exactly 1 holds at $a_t = k_t$. The proposition should state the bound."),
                  "004 Proposition 2, Eq 14, 23, footnote 1",
                  "For a unit write direction $a$ and a unit key $k$ the Jacobian $I - a k^T$ of the state's "
                  "recurrence has spectral norm exactly 1, whatever $a$ and $k$.",
                  "$(1 + sqrt(5 - 4c)) / 2$ with $c = a.k$; the smallest singular value is $1 - c$ over it, the "
                  "others are 1. Norm 1 at $c = 1$ only. Smallest counter-example: $d = 2$, $k = e1$, $a = e2$, "
                  "the golden ratio.",
                  norms),
              {"vla", "vla_unnormalized"}),
          {width, cosine}),
      "An oblique projection expands; only the orthogonal one, $a = k$, has norm 1. The proof takes the maximum over "
      "the "
      "complement of $k$, where $J$ is the identity. What normalising does give is the bound 2, and the golden ratio "
      "as "
      "long "
      "as $a.k >= 0$, which a positive definite $A_t$ ensures.");
}

// ---- Steps of the proof ------------------------------------------------------------------------------------------------

std::vector<Point> squared_image(const Protocol &p) {
  // x = e1; k and a with the first components that the paper calls a = k.x and b = a.x.
  std::vector<Point> points;
  const auto components = [](double a, double b) { return labels({{"a", num(a)}, {"b", num(b)}}); };
  for (const Params &at : points_of(p, {components(0, 1), components(0.6, 0.5), components(-0.3, 0.8)})) {
    const double a = at.real("a"), b = at.real("b"), first = std::pow(1 - a * b, 2), second = a * a * (1 - b * b),
                 last = b * b * (1 - a * a), units = 4 * jacobian_units(3); // |J x|^2 <= 4
    if (last < 1e-6) usage_error("the term in question vanishes at b = 0 and at |a| = 1");
    const Vector x{1, 0, 0}, alpha{b, 0, std::sqrt(1 - b * b)}, k{a, std::sqrt(1 - a * a), 0},
        image = times(vla_jacobian_of(alpha, k), x);
    const Point corrected = exact_point(inner(image, image), first + second, units);
    append(points, {as_statement(exact_point(inner(image, image), first + second - last, units), at, "as printed"),
                    as_obligation(corrected, at, "without the last term"),
                    rival_law(corrected, "sign of the last term", first + second + last)});
    if (second > 1e-6) points.push_back(rival_law(corrected, "sign of the second term", first - second));
    points.push_back(as_obligation(exact_point(image, combine(1, x, -a, alpha), units), at, "J x = x - a alpha"));
  }
  return points;
}

Claim eq22() {
  return explained(
      at_parameters(
          running(refuted_row(
                      "vla-eq22-identity",
                      asserted("Appendix A.2, Eq 22.", "$a = k.x$, $b = alpha.x$",
                               "'We bound from above by considering two extremes': they do not use the last term.",
                               "The last term is a slip; the two extremes are computed from $1 - 2ab + a^2$ directly."),
                      "004 Appendix A.2, Eq 22",
                      "For unit $x$ with $a = k.x$ and $b = alpha.x$, $|J x|^2 = 1 - 2ab + a^2$ = (1-ab)^2 + "
                      "$a^2(1-b^2) - b^2(1-a^2)$.",
                      "The last term does not belong: $1 - 2ab + a^2$ = (1-ab)^2 + $a^2(1-b^2)$. At $a = 0$, "
                      "$b = 1$ the printed right side is 0, the left 1.",
                      squared_image),
                  {"vla"}),
          {real_param("a", 0.6, -1, 1, "k . x"), real_param("b", 0.5, -1, 1, "alpha . x")}),
      "A slip of algebra inside the proof. The two extremes that follow do not use it.");
}

std::vector<Point> image_of_the_key(const Protocol &p) {
  std::vector<Point> points;
  for (const Params &at : points_of(p, {place(2, 0), place(6, 0.5), place(6, -0.5)})) {
    const double c = at.real("c"), units = 4 * jacobian_units(at.integer("d"));
    if (std::fabs(c) > 1 - 1e-6) usage_error("at c = 1 and c = -1 the two forms agree");
    const UnitPair x = unit_pair(at.integer("d"), c, Stream(p.seed, "proposition 2/key"), points.size());
    const Dense J = vla_jacobian_of(x.a, x.k);
    const auto square_of = [&](const Vector &v) { return inner(times(J, v), times(J, v)); };
    const Point corrected = exact_point(square_of(x.k), 2 - 2 * c, units);
    append(points, {as_statement(exact_point(square_of(x.k), (1 - c) * (1 - c), units), at, "(1 - c)^2"),
                    as_obligation(corrected, at, "2 - 2c"), rival_law(corrected, "(1 - c)^2", (1 - c) * (1 - c)),
                    rival_system(exact_point(square_of(x.a), 2 - 2 * c, units), at, "x = a")});
  }
  return points;
}

Claim proof_at_k() {
  return explained(
      at_parameters(
          running(refuted_row(
                      "vla-prop2-proof-x-eq-k",
                      asserted("Appendix A.2, first extreme: at $x = k$, $|J k|^2 = 1 - 2b + 1 = (1 - b)^2 <= 4$.",
                               "unit vectors; $a = 1$", "The bound 4 that the text draws from it is right.",
                               "$2 - 2b$ and $(1 - b)^2$ agree at the ends $b = -1$ and $b = 1$, and the bound of 4 "
                               "that we use holds for both."),
                      "004 Appendix A.2, first extreme",
                      "At $x = k$, where $k.x = 1$, $|J k|^2 = 2 - 2b = (1 - b)^2$ with $b = a.k$.",
                      "$|J k|^2 = |k - a|^2 = 2 - 2c$, which is $(1 - c)^2$ at $c = 1$ and $c = -1$ only. $(1 - "
                      "c)^2$ is $|J a|^2$.",
                      image_of_the_key),
                  {"vla"}),
          {width, cosine}),
      "The vector that $J$ scales by $1 - c$ is $a$, not $k$ (vla_prop2_eigenvalues).");
}

std::vector<Point> eigenvectors(const Protocol &p) {
  std::vector<Point> points;
  for (const Params &at : points_of(p, {place(2, 0), place(5, 0.4), place(5, -0.7)})) {
    const int d = at.integer("d");
    const double c = at.real("c"), units = jacobian_units(d);
    if (std::fabs(c) > 1 - 1e-6) usage_error("a and k span one direction at |c| = 1");
    const UnitPair x = unit_pair(d, c, Stream(p.seed, "proposition 2/eigenvectors"), points.size());
    const Dense J = vla_jacobian_of(x.a, x.k);
    const Vector image = times(J, x.k), apart = unit_pair(d, 0, Stream(p.seed, "proposition 2/complement"), 0).a,
                 in_complement = combine(1, apart, -inner(apart, x.k), x.k);
    const Point multiplicity = exact_point(trace(J), d - c, units * d),
                eigenvector = exact_point(times(J, x.a), scaled(1 - c, x.a), units);
    append(points,
           {as_statement(exact_point(image, scaled(1 - c, x.k), units), at, "J k = (1 - c) k"),
            as_obligation(exact_point(image, combine(1, x.k, -1, x.a), units), at, "J k = k - a"),
            as_obligation(exact_point(times(J, in_complement), in_complement, units), at, "1 on the complement of k"),
            as_obligation(multiplicity, at, "1 comes d - 1 times: trace"),
            rival_law(multiplicity, "1 comes d times", d + 1 - c), as_obligation(eigenvector, at, "J a = (1 - c) a"),
            rival_system(exact_point(times(transpose(J), x.a), scaled(1 - c, x.a), units), at, "J transposed")});
    if (std::fabs(c) > 1e-6)
      points.push_back(rival_law(exact_point(times(J, x.a), scaled(1 + c, x.a), units), at, "1 + c for 1 - c"));
  }
  return points;
}

Claim eigenvalues() {
  return explained(
      at_parameters(
          running(refuted_row("vla-prop2-eigenvalues",
                              asserted("Proposition 2, proof: the eigenvalues are 1 'for the complement of k' and $1 - "
                                       "k.a$ 'for the direction k'.",
                                       "unit vectors", "The proof goes on with the modulus of $1 - k.a$.",
                                       "The eigenvalues are as stated, and only they are used; the eigenvector of the "
                                       "last is $a$, not $k$."),
                              "004 Proposition 2, proof",
                              "$J$ has the eigenvalue 1 with multiplicity $d - 1$, on the complement of $k$, and $1 - "
                              "k.a$ in the direction $k$.",
                              "The eigenvalues are right; the eigenvector of $1 - c$ is $a$, while $J k = k - a$.",
                              eigenvectors),
                  {"vla"}),
          {width, cosine}),
      "$J$ is not symmetric, so that its eigenvalues, though right, do not bound its norm.");
}

std::vector<Point> particular_angles(const Protocol &p) {
  std::vector<Point> points;
  for (const Params &at : points_of(p, {labels({{"d", num(2)}}), labels({{"d", num(7)}})})) {
    const int d = at.integer("d");
    const double units = jacobian_units(d);
    const auto norm_at = [&](double c) {
      const UnitPair x = unit_pair(d, c, Stream(p.seed, "proposition 2/angles"), points.size());
      return spectral_norm(vla_jacobian_of(x.a, x.k));
    };
    const double same = norm_at(1), right_angle = norm_at(0);
    const Point between = exact_point(norm_at(0.5), (1 + std::sqrt(3.0)) / 2, units);
    append(points,
           {as_statement(exact_point(same, 2, units), at, "u = v: 2"),
            as_statement(exact_point(right_angle, 1, units), at, "u orthogonal to v: 1"),
            as_obligation(exact_point(same, 1, units), at, "u = v: 1"),
            as_obligation(exact_point(right_angle, golden_ratio, units), at, "u orthogonal to v: golden ratio"),
            as_obligation(exact_point(norm_at(-1), 2, units), at, "u = -v: 2"), as_obligation(between, at, "u.v = 1/2"),
            rival_law(between, "1 + |u.v|", 1.5), rival_law(between, "1", 1)});
  }
  return points;
}

Claim special_cases() {
  return explained(
      at_parameters(
          running(
              refuted_row(
                  "vla-appa2-special-cases",
                  asserted(
                      "Appendix A.2: 'The exact value is 1 + |u.v| when $u = v$, but for $u$ orthogonal to $v$ it "
                      "equals 1.'",
                      "unit vectors", "'Choosing $x$ orthogonal to $k$ achieves 1', from which Eq 23 follows.",
                      "The two cases are exchanged in sign: 1 + |$u.v$| = 2 is reached at $u = -v$. Weyl's bound of 2, "
                      "which precedes it, is right and is the safe statement."),
                  "004 Appendix A.2",
                  "For unit $u$ and $v$, $sigma_max(I - u v^T)$ is 1 + |u.v| for $u = v$ and 1 for $u$ "
                  "orthogonal to $v$.",
                  "The other way round: $u = v$ gives an orthogonal projector of norm 1, orthogonal "
                  "vectors give the golden ratio, $u = -v$ gives 2.",
                  particular_angles),
              {"vla"}),
          {width}),
      "Weyl's bound of 2, quoted just before, is right; it is reached at $u = -v$.");
}

// ---- The Jacobian itself -----------------------------------------------------------------------------------------------

std::vector<Point> response(const Protocol &p) {
  std::vector<Point> points;
  const int before = 6; // steps
  const double lambda0 = 0.1;
  const auto widths = [](int d, int dv) { return labels({{"d", num(d)}, {"dv", num(dv)}}); };
  for (const Params &at : points_of(p, {widths(5, 5), widths(5, 3)})) {
    const int d = at.integer("d"), dv = at.integer("dv");
    const Vector K = random_units(before + 1, d, Stream(p.seed, "jacobian form/keys")),
                 U = random_units(before + 1, d, Stream(p.seed, "jacobian form/penalties")),
                 v = Stream(p.seed, "jacobian form/value").normals(dv), k = row(K, before, d), u = row(U, before, d);
    Vla layer(d, dv, lambda0);
    VlaAlgebra algebra(d, dv, lambda0);
    for (int t = 0; t < before; ++t)
      layer.step(row(K, t, d), row(U, t, d), v), algebra.step(row(K, t, d), row(U, t, d), v);
    algebra.step(k, u, v);
    Vla moved = layer;
    const Dense start = layer.S, change(dv, d, Stream(p.seed, "jacobian form/change").normals(size_t(dv) * d)),
                erase = Dense::identity(d) - outer(k, algebra.a), turned = transpose(erase);
    moved.S = start + change;
    layer.step(k, u, v), moved.step(k, u, v);
    const Vector measured = (moved.S - layer.S).data;
    const double units = step_units(before + 1, d, lambda0) * (max_abs(measured) + max_abs(layer.S.data));
    append(points, {as_obligation(exact_point(measured, (change * erase).data, units), at, "rows of S: I - k a^T"),
                    rival_law(exact_point(measured, (change * turned).data, units), at, "I - a k^T from the right"),
                    as_obligation(exact_point(layer.S.data, (start * erase + outer(v, algebra.a)).data, units), at,
                                  "S (I - k a^T) + v a^T"),
                    rival_law(exact_point(layer.S.data, (start * turned + outer(v, algebra.a)).data, units), at,
                              "S (I - a k^T) + v a^T")});
    if (d == dv)
      points.push_back(rival_law(exact_point(measured, (turned * change).data, units), at, "left factor of S"));
  }
  return points;
}

Claim jacobian_form() {
  return at_parameters(
      running(ledger_row("vla-jacobian-form", "004 Eq 14",
                         "The Jacobian of $S_t$ with respect to $S_{t-1}$ is $I - a k^T$.",
                         "As the operator on each row of $S$, a left factor of $S^T$: $S_t = S_{t-1} (I - k "
                         "a^T) + v a^T$. As a left factor of $S$ it does not fit where dv and dk differ.",
                         response),
              {"vla"}),
      {width, integer_param("dv", 3, 1, 256, "value width")});
}

} // namespace

std::vector<Claim> proposition_2() {
  return {unit_jacobian(), eq22(), proof_at_k(), eigenvalues(), special_cases(), jacobian_form()};
}

} // namespace recollect::theory
