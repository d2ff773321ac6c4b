// SPDX-License-Identifier: Apache-2.0
// 000 Eq 35-36, Appendix B.1 (Eq 59-64) and Eq 69: for which A, B and C the recurrence S_t = A S_{t-1} B + C is one
// gradient step, and on which objective. S and C are [dv,d], A is [dv,dv] and B [d,d].
#include "theory/associative_memory/objectives/quadratic.hpp"

namespace recollect::theory {
namespace {
const std::vector<ParamSpec> sizes{integer_param("dv", 4, 2, 64, "rows of S"),
                                   integer_param("d", 8, 2, 64, "columns of S")};
const std::vector<Changes> suite{{}, {{"dv", 3}, {"d", 2}}};

struct Recurrence {
  Dense A, B, C, S;
  Dense stepped() const { return A * S * B + C; }
};
Recurrence random_recurrence(int dv, int d, Seed seed) {
  return {normal_matrix(dv, dv, seed, "eq 36/A"), normal_matrix(d, d, seed, "eq 36/B"),
          normal_matrix(dv, d, seed, "eq 36/C"), normal_matrix(dv, d, seed, "eq 36/S")};
}
/// M + sign M^T: twice the symmetric (sign = 1) or antisymmetric (sign = -1) part of M.
Dense part(const Dense &M, double sign) { return M + sign * transpose(M); }
Recurrence with_parts(const Recurrence &r, double A, double B) { return {part(r.A, A), part(r.B, B), r.C, r.S}; }
double product(const Dense &a, const Dense &b) { return inner(a.data, b.data); }

/// S - dL/dS of L = 1/2 tr(S^T S) - half tr(S^T A S B) - sign tr(C^T S); Eq 36 has half = 1/2, sign = 1.
Dense descended(const Recurrence &r, double half = 0.5, double sign = 1) {
  return gradient_step(r.S, [&](const Dense &S) {
    return 0.5 * product(S, S) - half * product(S, r.A * S * r.B) - sign * product(r.C, S);
  });
}

/// Bound on the rounding errors of `descended` and of A S B + C, in units of eps. Both are sums of S.size() products of
/// terms up to (|S|+1)^2 |A||B|.
double units(const Recurrence &r) {
  const double s = frobenius_norm(r.S) + 1;
  return 8.0 * r.S.data.size() * (s * s * (1 + frobenius_norm(r.A) * frobenius_norm(r.B)) + s * frobenius_norm(r.C));
}

Claim eq36_general() {
  ClaimBuilder c("eq36-general", "000 Eq 36, 59-64");
  c.says("For symmetric $A_t$ and $B_t$ the recurrence $S_t = A_t S_{t-1} B_t + C_t$ is one gradient step of unit size "
         "on $1/2 tr(S^T S) - 1/2 tr(S^T A_t S B_t) - tr(C_t^T S)$.");
  c.exactly("An identity.");
  c.because("The gradient of the second term is $(A S B + A^T S B^T)/2$, which equals $A S B$ if both matrices are "
            "symmetric.");
  c.takes(sizes), c.at(suite);
  return measure(c, [](Points &points, Seed seed, int dv, int d) {
    const Recurrence r = with_parts(random_recurrence(dv, d, seed), 1, 1);
    const Dense expected = r.stepped();
    points.rounding(units(r)).statement("$S - dL/dS$ against $A S B + C$, symmetric A and B", descended(r), expected);
    points.wrong_system("the objective without the $1/2$ of its second term", descended(r, 1, 1), expected);
    points.wrong_system("the objective with the sign of C flipped", descended(r, 0.5, -1), expected);
  });
}

/// The work of the field F(S) = S - A S B - C along the closed path 0, X, X+Y, Y, 0. It is 0 if F is a gradient. The
/// midpoint rule is exact because F is linear.
double circulation(const Recurrence &r, const Dense &X, const Dense &Y) {
  const Dense origin(X.rows, X.columns), corners[] = {origin, X, X + Y, Y, origin};
  double work = 0;
  for (int side = 0; side < 4; ++side) {
    const Dense middle = 0.5 * (corners[side] + corners[side + 1]);
    work += product(middle - r.A * middle * r.B - r.C, corners[side + 1] - corners[side]);
  }
  return work;
}

Claim symmetric_is_sufficient() {
  ClaimBuilder c("eq36-symmetric-sufficient", "000 §2.2 below Eq 36, Appendix B.1");
  c.says("If $A_t$ and $B_t$ are not symmetric there is in general no scalar potential whose gradient gives the "
         "recurrence.");
  c.exactly("Around the parallelogram spanned by $X$ and $Y$ the field $S - A S B - C$ does the work $<X, A Y B> - <Y, "
            "A X B>$. With matrices that are not symmetric Eq 36 generates $(A S B + A^T S B^T)/2 + C$.");
  c.because("A gradient does no work around a closed path. The linear part of the field is a gradient if and only if "
            "its Jacobian is symmetric.");
  c.takes(sizes), c.at(suite);
  return measure(c, [](Points &points, Seed seed, int dv, int d) {
    const Recurrence r = random_recurrence(dv, d, seed), symmetric = with_parts(r, 1, 1);
    const Dense X = normal_matrix(dv, d, seed, "eq 36/X"), Y = normal_matrix(dv, d, seed, "eq 36/Y");
    const double loop = product(X, r.A * Y * r.B) - product(Y, r.A * X * r.B), size = units(r) + units(symmetric);
    const Dense both = 0.5 * (r.A * r.S * r.B + transpose(r.A) * r.S * transpose(r.B)) + r.C;
    points.rounding(size)
        .statement("work of $S - A S B - C$ around a parallelogram, any A and B", circulation(r, X, Y), loop)
        .but_not("no work, as if there were a potential", 0);
    points.wrong_system("symmetric A and B", circulation(symmetric, X, Y), loop);
    points.obligation("$S - dL/dS$ of Eq 36 against $(A S B + A^T S B^T)/2 + C$", descended(r).data, both.data)
        .but_not("$A S B + C$, as for symmetric matrices", r.stepped().data);
  });
}

/// S -> A S B as a matrix on the entries of S, row by row.
Dense jacobian(const Dense &A, const Dense &B) {
  const int n = A.rows * B.columns;
  Dense J(n, n);
  for (int e = 0; e < n; ++e) {
    Dense unit(A.rows, B.columns);
    unit.data[e] = 1;
    const Dense image = A * unit * B;
    for (int i = 0; i < n; ++i) J(i, e) = image.data[i];
  }
  return J;
}

Claim symmetric_is_not_necessary() {
  ClaimBuilder c("eq63-symmetric-necessary", "000 Eq 63");
  c.says("The gradient field must be self-adjoint: $<X, A_t Y B_t> = <A_t X B_t, Y>$ for all $X$ and $Y$. This "
         "requires $A_t$ and $B_t$ to be symmetric.");
  c.is_refuted(asserted("B.1 after Eq 63: 'This condition requires $A_t$ and $B_t$ to be symmetric matrices.'",
                        "$<X, A Y B> = <A X B, Y>$ for arbitrary $X$, $Y$",
                        "The next sentence weakens it to 'if they are not symmetric, generally there does not exist a "
                        "scalar potential function', which does not withdraw 'requires'.",
                        "'Generally' in the next sentence is what we mean: for matrices in general position a "
                        "potential needs symmetry. Two antisymmetric matrices are an exception that none of our models "
                        "uses, and Eq 36 is derived for symmetric ones alone."));
  c.exactly("The condition is $A^T S B^T = A S B$ for every $S$. It holds if $A$ and $B$ are both symmetric or both "
            "antisymmetric (or if the map is zero), and in no other case. The smallest counter-example to the need for "
            "symmetry is $A = B = [[0,1],[-1,0]]$.");
  c.because(
      "Symmetric $A$ and $B$ are sufficient for a potential, and the rest of the paper uses only that. They are not "
      "necessary: two antisymmetric matrices have a potential as well, and Eq 36 generates their recurrence too.");
  c.takes(sizes), c.at(suite);
  c.first([](Points &points, const Protocol &protocol) {
    const Dense turn(2, 2, {0, 1, -1, 0}), map = jacobian(turn, turn);
    Recurrence r = random_recurrence(2, 2, protocol.seed);
    r.A = r.B = turn;
    points.at({{"dv", 2}, {"d", 2}})
        .rounding(1)
        .statement("A against $A^T$, for $A = B = [[0,1],[-1,0]]$, with which $S -> A S B$ is self-adjoint", turn,
                   transpose(turn));
    points.obligation("the matrix of $S -> A S B$ against its transpose, $A = B = [[0,1],[-1,0]]$", map,
                      transpose(map));
    points.rounding(units(r)).obligation("$S - dL/dS$ of Eq 36 against $A S B + C$, $A = B = [[0,1],[-1,0]]$",
                                         descended(r), r.stepped());
  });
  return measure(c, [](Points &points, Seed seed, int dv, int d) {
    const Recurrence any = random_recurrence(dv, d, seed), both = with_parts(any, -1, -1),
                     mixed = with_parts(any, -1, 1);
    const Dense J = jacobian(both.A, both.B), transposed = transpose(J), wrong = jacobian(mixed.A, mixed.B),
                of_transposes = jacobian(transpose(mixed.A), transpose(mixed.B));
    points.rounding(units(both))
        .obligation("the matrix of $S -> A S B$ against its transpose, antisymmetric A and B", J, transposed)
        .but_not("the adjoint with the opposite sign", -1.0 * transposed);
    points.rounding(units(mixed)).wrong_system("antisymmetric A, symmetric B", wrong, transpose(wrong));
    points.obligation("the adjoint of $S -> A S B$ against $A^T S B^T$, antisymmetric A and symmetric B",
                      transpose(wrong), of_transposes);
    points.rounding(units(both))
        .obligation("$S - dL/dS$ of Eq 36 against $A S B + C$, antisymmetric A and B", descended(both), both.stepped());
  });
}

Claim misplaced_diagonal() {
  ClaimBuilder c("eq69-typo", "000 Eq 69, second line; Eq 81");
  c.says("The gate $diag(lambda)$ adds the term $1/2 diag(1-lambda) ||S||_F^2$ to the objective.");
  c.is_refuted(slip("Eq 69, second line, and Eq 81: $1/2 diag(1 - lambda) |S|_F^2$.", "none",
                    "The first line of Eq 69 and Table 2 have the diagonal inside the norm."));
  c.exactly("The printed form is a matrix times a number. The intended term is $1/2 ||diag(sqrt(1-lambda)) S||_F^2$, "
            "as in Table 2.");
  c.because("The second line of Eq 69 moves the diagonal matrix out of the norm. The first line, $1/2 tr(S^T S) - 1/2 "
            "tr(S^T diag(lambda) S)$, is right.");
  c.takes(sizes), c.at(suite);
  return measure(c, [](Points &points, Seed seed, int dv, int d) {
    const Dense S = normal_matrix(dv, d, seed, "eq 36/S");
    Vector weights = Stream(seed, "eq 69/lambda").uniforms(dv, 0.1, 0.9), rival_weights;
    Dense kept = S; // diag(lambda) S
    for (int i = 0; i < dv; ++i) {
      for (int j = 0; j < d; ++j) kept(i, j) *= weights[i];
      weights[i] = 1 - weights[i];
      rival_weights.push_back(weights[i] * weights[i]);
    }
    const Dense wrong_term = 0.5 * product(S, S) * Dense(dv, 1, weights); // as printed: a matrix
    const auto kept_by = [&](const Vector &w) {
      return gradient_step(S, [&](const Dense &X) { return 0.5 * weighted_square(X, w); }).data;
    };
    const double needed = 0.5 * product(S, S) - 0.5 * product(S, kept), size = 16 * dv * d * product(S, S);
    points.rounding(size).statement("entries of $diag(1-lambda) ||S||^2 / 2$ against the first line of Eq 69",
                                    wrong_term.data, Vector(dv, needed));
    points.obligation("$||diag(sqrt(1-lambda)) S||^2 / 2$ against the first line of Eq 69",
                      0.5 * weighted_square(S, weights), needed);
    points.obligation("S minus the gradient of $||diag(sqrt(1-lambda)) S||^2 / 2$ against $diag(lambda) S$",
                      kept_by(weights), kept.data);
    points.wrong_system("$diag(1-lambda)$ in place of $diag(sqrt(1-lambda))$", kept_by(rival_weights), kept.data);
  });
}
} // namespace

std::vector<Claim> eq_36_general_objective() {
  return {eq36_general(), symmetric_is_sufficient(), symmetric_is_not_necessary(), misplaced_diagonal()};
}
} // namespace recollect::theory
