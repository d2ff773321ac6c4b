// SPDX-License-Identifier: Apache-2.0
// 004 Proposition 2 and its proof in Appendix A.2: one step's Jacobian I - a k^T, whose norm is claimed to be 1.
#include "theory/variational/unit_jacobian.hpp"

namespace recollect::theory {
namespace {
const ParamSpec width = integer_param("d", 5, 2, 256, "head width"),
                cosine = real_param("c", 0.3, -1, 1, "a . k of the unit write direction and key");

Params place(int d, double c) { return labels({{"d", num(d)}, {"c", num(c)}}); }

Claim unit_jacobian() {
  ClaimBuilder c("vla-prop2-unit-jacobian", "004 Proposition 2, Eq 14, 23, footnote 1");
  c.says("For a unit write direction $a$ and a unit key $k$ the Jacobian $I - a k^T$ of the state's recurrence has "
         "spectral norm exactly 1, whatever $a$ and $k$.");
  c.exactly("The norm is $(1 + sqrt(5 - 4c)) / 2$ with $c = a.k$. The smallest singular value is $1 - c$ divided by "
            "the norm; all singular values but the largest and the smallest are 1. The norm is 1 at $c = 1$ only. In "
            "the smallest counter-example, $d = 2$, $k = e1$, $a = e2$, the norm is the golden ratio.");
  c.because(
      "An oblique projection has a norm above 1; only the orthogonal projection, $a = k$, has norm 1. The proof looks "
      "for the maximum only on the complement of $k$, where $J$ is the identity. Normalising $a$ and $k$ does bound "
      "the norm by 2. If $A_t$ is positive definite, then $a.k > 0$, and the bound is the golden ratio.");
  c.is_refuted(
      asserted("Proposition 2: '$|J_t|_2 = 1$ for all $k_t$, $a_t$', with footnote 1 and Appendix A.2.", "unit vectors",
               "Corollaries 1 and 2 rest on it. A.2 itself notes that at $x = k$ the square can reach 4.",
               "Normalisation gives a bound on the norm at every step that does not depend on $d_h$ or $lambda0$: 2, "
               "or the golden ratio with a positive definite $A_t$. Without normalisation the norm grows as "
               "$d_h/lambda0$. The norm is exactly 1 at $a_t = k_t$. The proposition should state the bound."));
  c.runs({"vla", "vla_unnormalized"}), c.takes({width, cosine});
  c.at({{{"d", 2}, {"c", 0}}, {{"d", 2}, {"c", -1}}, {{"c", -0.5}}, {}, {{"d", 32}, {"c", 0.9}}});
  c.also([](Points &points, const Protocol &) {
    const double projector = spectral_norm(vla_jacobian_of({0.6, 0.8, 0}, {0.6, 0.8, 0})),
                 alone = spectral_norm(vla_jacobian_of({1}, {1})); // in one dimension J is the number 1 - c
    points.at(place(3, 1))
        .rounding(jacobian_units(3))
        .obligation("$a = k$, an orthogonal projection: norm 1", projector, 1);
    points.at(place(1, 1)).rounding(jacobian_units(1)).wrong_system("one dimension, $a = k$: norm 1", alone, 1);
  });
  return measure(c, [](Points &points, Seed seed, int d, double c) {
    const double largest = largest_stretch(c), units = jacobian_units(d);
    if (c > 1 - 1e-6) usage_error("take c below 1: only at c = 1 is the norm of the Jacobian 1");
    const UnitPair x = unit_pair(d, c, Stream(seed, "proposition 2/pairs"), points.all().size());
    const Vector measured = singular_values(vla_jacobian_of(x.a, x.k));
    Vector law(d, 1.0);
    law.front() = largest, law.back() = (1 - c) / largest;
    points.rounding(units).statement("norm of J: 1", measured.front(), 1);
    points.obligation("all singular values of J", measured, law);
    points.obligation("the smallest singular value of J", measured.back(), law.back());
    auto norm = points.obligation("the largest singular value of J", measured.front(), largest);
    if (c > 1e-6 - 1) // at c = -1 both laws give the same value
      norm.but_not("$|J k| = sqrt(2 - 2c)$", std::sqrt(2 - 2 * c))
          .but_not("2, the bound by the triangle inequality", 2);
    const Dense longer = vla_jacobian_of(scaled(1.1, x.a), x.k, "vla_unnormalized");
    points.wrong_system("a of length 1.1: the largest singular value", spectral_norm(longer), largest);
  });
}

Claim eq22() {
  ClaimBuilder c("vla-eq22-identity", "004 Appendix A.2, Eq 22");
  c.says("Let $k$ be the key and $alpha$ the write direction. For unit $x$ with $a = k.x$ and $b = alpha.x$, $|J x|^2 "
         "= 1 - 2ab + a^2 = (1-ab)^2 + a^2(1-b^2) - b^2(1-a^2)$.");
  c.exactly("The last term is wrong: $1 - 2ab + a^2 = (1-ab)^2 + a^2(1-b^2)$. At $a = 0$, $b = 1$ the printed right "
            "side is 0 and the left side 1.");
  c.because("This is an algebraic error inside the proof. The proof then bounds two extreme cases, which do not use "
            "the last term.");
  c.is_refuted(asserted("Appendix A.2, Eq 22.", "$a = k.x$, $b = alpha.x$",
                        "'We bound from above by considering two extremes': they do not use the last term.",
                        "The last term is a slip; the two extremes are computed from $1 - 2ab + a^2$ directly."));
  c.runs({"vla"}), c.takes({real_param("a", 0.6, -1, 1, "$k . x$"), real_param("b", 0.5, -1, 1, "$alpha . x$")});
  c.at({{{"a", 0}, {"b", 1}}, {}, {{"a", -0.3}, {"b", 0.8}}});
  return measure(c, [](Points &points, double a, double b) {
    // With x = e1, the paper's a = k.x is the first component of k, and the paper's b = alpha.x is the first component
    // of alpha.
    const double first = std::pow(1 - a * b, 2), second = a * a * (1 - b * b), last = b * b * (1 - a * a),
                 units = 4 * jacobian_units(3); // |J x|^2 <= 4
    if (last < 1e-6) usage_error("the last term of Eq 22 vanishes at b = 0 and at |a| = 1");
    const Vector x{1, 0, 0}, alpha{b, 0, std::sqrt(1 - b * b)}, k{a, std::sqrt(1 - a * a), 0},
        image = times(vla_jacobian_of(alpha, k), x);
    points.rounding(units).statement("$|J x|^2$: Eq 22 as printed", inner(image, image), first + second - last);
    auto corrected = points.obligation("$|J x|^2$: Eq 22 without the last term", inner(image, image), first + second)
                         .but_not("Eq 22 with the last term added, not subtracted", first + second + last);
    if (second > 1e-6) corrected.but_not("Eq 22 with the second term subtracted, not added", first - second);
    points.obligation("image of x: $J x = x - (k.x) alpha$", image, combine(1, x, -a, alpha));
  });
}

Claim proof_at_k() {
  ClaimBuilder c("vla-prop2-proof-x-eq-k", "004 Appendix A.2, first extreme");
  c.says("Let $a$ be the write direction and $b = a.k$. At $x = k$, where $k.x = 1$, $|J k|^2 = 2 - 2b = (1 - b)^2$.");
  c.exactly("With $c = a.k$, $|J k|^2 = |k - a|^2 = 2 - 2c$. This equals $(1 - c)^2$ only at $c = 1$ and $c = -1$; in "
            "general $(1 - c)^2$ is $|J a|^2$.");
  c.because("$J$ multiplies $a$, not $k$, by $1 - a.k$ (vla_prop2_eigenvalues).");
  c.is_refuted(asserted("Appendix A.2, first extreme: at $x = k$, $|J k|^2 = 1 - 2b + 1 = (1 - b)^2 <= 4$.",
                        "unit vectors; $a = 1$", "The bound of 4, which the proof derives from it, is right.",
                        "$2 - 2b$ and $(1 - b)^2$ agree at the ends $b = -1$ and $b = 1$, and the bound of 4 that we "
                        "use holds for both."));
  c.runs({"vla"}), c.takes({width, cosine});
  c.at({{{"d", 2}, {"c", 0}}, {{"d", 6}, {"c", 0.5}}, {{"d", 6}, {"c", -0.5}}});
  return measure(c, [](Points &points, Seed seed, int d, double c) {
    const double units = 4 * jacobian_units(d);
    if (std::fabs(c) > 1 - 1e-6) usage_error("at c = 1 and c = -1 the two forms agree");
    const UnitPair x = unit_pair(d, c, Stream(seed, "proposition 2/key"), points.all().size());
    const Dense J = vla_jacobian_of(x.a, x.k);
    const auto square_of = [&](const Vector &v) { return inner(times(J, v), times(J, v)); };
    points.rounding(units).statement("$|J k|^2 = (1 - c)^2$", square_of(x.k), (1 - c) * (1 - c));
    points.obligation("$|J k|^2 = 2 - 2c$", square_of(x.k), 2 - 2 * c)
        .but_not("$|J k|^2 = (1 - c)^2$", (1 - c) * (1 - c));
    points.wrong_system("$|J a|^2 = 2 - 2c$", square_of(x.a), 2 - 2 * c);
  });
}

Claim eigenvalues() {
  ClaimBuilder c("vla-prop2-eigenvalues", "004 Proposition 2, proof");
  c.says("The Jacobian $J = I - a k^T$ has the eigenvalue 1 with multiplicity $d - 1$, on the complement of $k$, and "
         "the eigenvalue $1 - k.a$ in the direction $k$.");
  c.exactly("The eigenvalues are right. The eigenvector of the eigenvalue $1 - k.a$ is $a$, not $k$: $J k = k - a$.");
  c.because("$J$ is not symmetric, so its eigenvalues, although right, do not bound its norm.");
  c.is_refuted(asserted(
      "Proposition 2, proof: the eigenvalues are 1 'for the complement of k' and $1 - k.a$ 'for the direction k'.",
      "unit vectors", "The proof continues with the modulus of $1 - k.a$.",
      "The eigenvalues are as stated, and only they are used; the eigenvector of $1 - k.a$ is $a$, not $k$."));
  c.runs({"vla"}), c.takes({width, cosine}), c.at({{{"d", 2}, {"c", 0}}, {{"c", 0.4}}, {{"c", -0.7}}});
  return measure(c, [](Points &points, Seed seed, int d, double c) {
    const double units = jacobian_units(d);
    if (std::fabs(c) > 1 - 1e-6) usage_error("take |c| below 1: at |c| = 1 a and k span one direction");
    const UnitPair x = unit_pair(d, c, Stream(seed, "proposition 2/eigenvectors"), points.all().size());
    const Dense J = vla_jacobian_of(x.a, x.k);
    const Vector image = times(J, x.k), apart = unit_pair(d, 0, Stream(seed, "proposition 2/complement"), 0).a,
                 in_complement = combine(1, apart, -inner(apart, x.k), x.k);
    points.rounding(units).statement("eigenvector k: $J k = (1 - c) k$ with $c = a.k$", image, scaled(1 - c, x.k));
    points.obligation("image of k: $J k = k - a$", image, combine(1, x.k, -1, x.a));
    points.obligation("$J x = x$ for x in the complement of k", times(J, in_complement), in_complement);
    points.rounding(units * d);
    points.obligation("trace of J: the eigenvalue 1 has multiplicity $d - 1$", trace(J), d - c)
        .but_not("the eigenvalue 1 has multiplicity d", d + 1 - c);
    points.rounding(units);
    auto eigenvector =
        points.obligation("eigenvector a: $J a = (1 - c) a$ with $c = a.k$", times(J, x.a), scaled(1 - c, x.a));
    points.wrong_system("$J^T a = (1 - c) a$", times(transpose(J), x.a), scaled(1 - c, x.a));
    if (std::fabs(c) > 1e-6) eigenvector.but_not("$1 + c$ for $1 - c$", scaled(1 + c, x.a));
  });
}

Claim special_cases() {
  ClaimBuilder c("vla-appa2-special-cases", "004 Appendix A.2");
  c.says("For unit $u$ and $v$, $sigma_max(I - u v^T)$ is $1 + |u.v|$ for $u = v$ and 1 for $u$ orthogonal to $v$.");
  c.exactly("Both cases are wrong: $u = v$ gives an orthogonal projection of norm 1, orthogonal vectors give the "
            "golden ratio, and $u = -v$ gives 2.");
  c.because("Weyl's bound of 2, which the paper quotes just before, is right; $u = -v$ reaches it.");
  c.is_refuted(
      asserted("Appendix A.2: 'The exact value is 1 + |u.v| when $u = v$, but for $u$ orthogonal to $v$ it equals 1.'",
               "unit vectors", "'Choosing $x$ orthogonal to $k$ achieves 1', from which Eq 23 follows.",
               "The sign of one vector is exchanged: $1 + |u.v| = 2$ is reached at $u = -v$. Weyl's bound of 2, which "
               "precedes the sentence, is right and is the safe statement."));
  c.runs({"vla"}), c.takes({width}), c.at({{{"d", 2}}, {{"d", 7}}});
  return measure(c, [](Points &points, Seed seed, int d) {
    const size_t draw = points.all().size();
    const auto norm_at = [&](double c) {
      const UnitPair x = unit_pair(d, c, Stream(seed, "proposition 2/angles"), draw);
      return spectral_norm(vla_jacobian_of(x.a, x.k));
    };
    const double same = norm_at(1), right_angle = norm_at(0);
    points.rounding(jacobian_units(d)).statement("$sigma_max$ at $u = v$: 2", same, 2);
    points.statement("$sigma_max$ at u orthogonal to v: 1", right_angle, 1);
    points.obligation("$sigma_max$ at $u = v$: 1", same, 1);
    points.obligation("$sigma_max$ at u orthogonal to v: golden ratio", right_angle, golden_ratio);
    points.obligation("$sigma_max$ at $u = -v$: 2", norm_at(-1), 2);
    points.obligation("$sigma_max$ at $u.v = 1/2$: $(1 + sqrt 3) / 2$", norm_at(0.5), (1 + std::sqrt(3.0)) / 2)
        .but_not("$sigma_max = 1 + |u.v|$", 1.5)
        .but_not("$sigma_max = 1$", 1);
  });
}

Claim jacobian_form() {
  ClaimBuilder c("vla-jacobian-form", "004 Eq 14");
  c.says("The Jacobian of $S_t$ with respect to $S_{t-1}$ is $I - a k^T$.");
  c.exactly("The Jacobian $I - a k^T$ acts on each row of $S$: $S_t = S_{t-1} (I - k a^T) + v a^T$. So it is a left "
            "factor of $S^T$. As a left factor of $S$ its shape does not fit if value and key width differ.");
  c.runs({"vla"}), c.takes({width, integer_param("dv", 3, 1, 256, "value width")}), c.at({{{"dv", 5}}, {}});
  return measure(c, [](Points &points, Seed seed, int d, int dv) {
    const int before = 6; // number of steps before the step whose Jacobian is measured
    const double lambda0 = 0.1;
    const Vector K = random_units(before + 1, d, Stream(seed, "jacobian form/keys")),
                 U = random_units(before + 1, d, Stream(seed, "jacobian form/penalties")),
                 v = Stream(seed, "jacobian form/value").normals(dv), k = row(K, before, d), u = row(U, before, d);
    Vla layer(d, dv, lambda0);
    VlaAlgebra algebra(d, dv, lambda0);
    for (int t = 0; t < before; ++t)
      layer.step(row(K, t, d), row(U, t, d), v), algebra.step(row(K, t, d), row(U, t, d), v);
    algebra.step(k, u, v);
    Vla moved = layer;
    const Dense start = layer.S, change(dv, d, Stream(seed, "jacobian form/change").normals(size_t(dv) * d)),
                erase = Dense::identity(d) - outer(k, algebra.a), turned = transpose(erase);
    moved.S = start + change;
    layer.step(k, u, v), moved.step(k, u, v);
    const Vector measured = (moved.S - layer.S).data;
    points.rounding(step_units(before + 1, d, lambda0) * (max_abs(measured) + max_abs(layer.S.data)));
    auto rows =
        points
            .obligation("a change of $S_{t-1}$ changes $S_t$ by it times $I - k a^T$", measured, (change * erase).data)
            .but_not("$I - a k^T$ from the right", (change * turned).data);
    points.obligation("$S_t = S_{t-1} (I - k a^T) + v a^T$", layer.S, start * erase + outer(v, algebra.a))
        .but_not("$S_t = S_{t-1} (I - a k^T) + v a^T$", start * turned + outer(v, algebra.a));
    if (d == dv) rows.but_not("$I - a k^T$ as a left factor of S", (turned * change).data);
  });
}
} // namespace

std::vector<Claim> proposition_2() {
  return {unit_jacobian(), eq22(), proof_at_k(), eigenvalues(), special_cases(), jacobian_form()};
}
} // namespace recollect::theory
