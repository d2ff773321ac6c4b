// SPDX-License-Identifier: Apache-2.0
// 000 Eq 35-36, Appendix B.1 (Eq 59-64) and Eq 69: which recurrences S_t = A S_{t-1} B + C are one gradient step, and on
// which objective. S is [dv,d], A [dv,dv], B [d,d].
#include "theory/associative_memory/objectives/quadratic.hpp"
#include "theory/support/layer_points.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

const std::vector<ParamSpec> sizes = {integer_param("dv", 4, 2, 64, "rows of S"),
                                      integer_param("d", 8, 2, 64, "columns of S")};
std::vector<Params> places(const Protocol &protocol) {
  return points_of(protocol, {labels({{"dv", num(4)}, {"d", num(8)}}), labels({{"dv", num(3)}, {"d", num(2)}})});
}

struct Recurrence {
  Dense A, B, C, S;
  Dense stepped() const { return A * S * B + C; }
};
Recurrence random_recurrence(const Params &at, std::uint64_t seed) {
  const int dv = at.integer("dv"), d = at.integer("d");
  return {normal_matrix(dv, dv, seed, "eq 36/A"), normal_matrix(d, d, seed, "eq 36/B"),
          normal_matrix(dv, d, seed, "eq 36/C"), normal_matrix(dv, d, seed, "eq 36/S")};
}
/// M + sign M^T: its symmetric (+1) or antisymmetric (-1) part, doubled.
Dense part(const Dense &M, double sign) { return M + sign * transpose(M); }
Recurrence with_parts(const Recurrence &r, double sign_of_A, double sign_of_B) {
  return {part(r.A, sign_of_A), part(r.B, sign_of_B), r.C, r.S};
}

double product(const Dense &a, const Dense &b) { return inner(a.data, b.data); }

/// S - dL/dS of L = 1/2 tr(S^T S) - half tr(S^T A S B) - sign tr(C^T S); Eq 36 has half = 1/2, sign = 1.
Dense descended(const Recurrence &r, double half = 0.5, double sign = 1) {
  return r.S - gradient(
                   [&](const Dense &S) {
                     return 0.5 * product(S, S) - half * product(S, r.A * S * r.B) - sign * product(r.C, S);
                   },
                   r.S);
}

/// Rounding units of that difference: S.size() products of terms up to (|S|+1)^2 |A||B|, on both of its sides.
double units(const Recurrence &r) {
  const double s = frobenius_norm(r.S) + 1;
  return 8.0 * r.S.data.size() * (s * s * (1 + frobenius_norm(r.A) * frobenius_norm(r.B)) + s * frobenius_norm(r.C));
}

// ---- Eq 36 ---------------------------------------------------------------------------------------------------------------

Claim eq36_general() {
  const auto measure = [](const Protocol &protocol) {
    std::vector<Point> points;
    for (const Params &at : places(protocol)) {
      const Recurrence r = with_parts(random_recurrence(at, protocol.seed), 1, 1);
      const std::vector<double> expected = r.stepped().data;
      const auto point = [&](double half, double sign) {
        return exact_point(descended(r, half, sign).data, expected, units(r));
      };
      append(points, {as_statement(point(0.5, 1), at, "S - dL/dS against A S B + C, symmetric A and B"),
                      rival_system(point(1, 1), at, "no 1/2 on the second term"),
                      rival_system(point(0.5, -1), at, "sign of C flipped")});
    }
    return points;
  };
  return at_parameters(
      explained(
          ledger_row("eq36-general", "000 Eq 36, 59-64",
                     "For symmetric $A_t$ and $B_t$ the recurrence $S_t = A_t S_{t-1} B_t + C_t$ is one gradient step "
                     "of unit size on $1/2 tr(S^T S) - 1/2 tr(S^T A_t S B_t) - tr(C_t^T S)$.",
                     "Identity.", measure),
          "The gradient of the second term is $(A S B + A^T S B^T)/2$, which is $A S B$ where both are symmetric."),
      sizes);
}

// ---- Symmetry: sufficient ------------------------------------------------------------------------------------------------

/// The work of F(S) = S - A S B - C along the parallelogram 0, X, X+Y, Y, 0; the midpoint rule is exact for a linear F.
/// A field with a potential does none.
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
  const auto measure = [](const Protocol &protocol) {
    std::vector<Point> points;
    for (const Params &at : places(protocol)) {
      const Recurrence r = random_recurrence(at, protocol.seed), symmetric = with_parts(r, 1, 1);
      const Dense X = normal_matrix(r.S.rows, r.S.columns, protocol.seed, "eq 36/X"),
                  Y = normal_matrix(r.S.rows, r.S.columns, protocol.seed, "eq 36/Y");
      const double loop = product(X, r.A * Y * r.B) - product(Y, r.A * X * r.B), size = units(r) + units(symmetric);
      const Dense both = 0.5 * (r.A * r.S * r.B + transpose(r.A) * r.S * transpose(r.B)) + r.C;
      append(points, {as_statement(exact_point(circulation(r, X, Y), loop, size), at,
                                   "work of S - A S B - C around a parallelogram, any A and B"),
                      rival_law(circulation(r, X, Y), at, "there is a potential: no work", 0, size),
                      rival_system(exact_point(circulation(symmetric, X, Y), loop, size), at, "symmetric A and B"),
                      as_obligation(exact_point(descended(r).data, both.data, size), at,
                                    "S - dL/dS of Eq 36 against (A S B + A^T S B^T)/2 + C"),
                      rival_law(descended(r).data, at, "it is still A S B + C", r.stepped().data, size)});
    }
    return points;
  };
  return at_parameters(
      explained(
          ledger_row(
              "eq36-symmetric-sufficient", "000 §2.2 below Eq 36, Appendix B.1",
              "If $A_t$ and $B_t$ are not symmetric there is in general no scalar potential whose gradient "
              "gives the recurrence.",
              "Around the parallelogram of $X$ and $Y$ the field $S - A S B - C$ does the work $<X, A Y B> - <Y, A "
              "X B>$. Eq 36 then generates $(A S B + A^T S B^T)/2 + C$.",
              measure),
          "A gradient does no work around a closed path. The linear part of the field is a gradient exactly "
          "where its Jacobian is symmetric."),
      sizes);
}

// ---- Symmetry: not necessary ---------------------------------------------------------------------------------------------

/// S -> A S B as a matrix on the entries of S, row by row.
Dense jacobian(const Dense &A, const Dense &B) {
  const int rows = A.rows, columns = B.rows, n = rows * columns;
  Dense J(n, n);
  for (int e = 0; e < n; ++e) {
    Dense unit(rows, columns);
    unit.data[e] = 1;
    const Dense image = A * unit * B;
    for (int i = 0; i < n; ++i) J(i, e) = image.data[i];
  }
  return J;
}

Claim symmetric_is_not_necessary() {
  const auto measure = [](const Protocol &protocol) {
    std::vector<Point> points;
    const Params smallest = labels({{"dv", num(2)}, {"d", num(2)}});
    const Dense turn(2, 2, {0, 1, -1, 0}), map = jacobian(turn, turn);
    Recurrence r = random_recurrence(smallest, protocol.seed);
    r.A = r.B = turn;
    append(points, {as_statement(exact_point(turn.data, transpose(turn).data, 1), smallest,
                                 "A against A^T where A = B = [[0,1],[-1,0]]: S -> A S B is self-adjoint"),
                    as_obligation(exact_point(map.data, transpose(map).data, 1), smallest,
                                  "the matrix of S -> A S B against its transpose, A = B = [[0,1],[-1,0]]"),
                    as_obligation(exact_point(descended(r).data, r.stepped().data, units(r)), smallest,
                                  "S - dL/dS of Eq 36 against A S B + C, A = B = [[0,1],[-1,0]]")});
    for (const Params &at : places(protocol)) {
      const Recurrence any = random_recurrence(at, protocol.seed), both = with_parts(any, -1, -1),
                       mixed = with_parts(any, -1, 1);
      const Dense J = jacobian(both.A, both.B), transposed = transpose(J), wrong = jacobian(mixed.A, mixed.B),
                  of_transposes = jacobian(transpose(mixed.A), transpose(mixed.B));
      append(points, {as_obligation(exact_point(J.data, transposed.data, units(both)), at,
                                    "the matrix of S -> A S B against its transpose, antisymmetric A and B"),
                      rival_law(J.data, at, "its adjoint is -A S B", (-1.0 * transposed).data, units(both)),
                      rival_system(exact_point(wrong.data, transpose(wrong).data, units(mixed)), at,
                                   "antisymmetric A, symmetric B"),
                      as_obligation(exact_point(transpose(wrong).data, of_transposes.data, units(mixed)), at,
                                    "its adjoint against A^T S B^T, antisymmetric A and symmetric B"),
                      as_obligation(exact_point(descended(both).data, both.stepped().data, units(both)), at,
                                    "S - dL/dS of Eq 36 against A S B + C, antisymmetric A and B")});
    }
    return points;
  };
  return at_parameters(
      explained(
          refuted_row("eq63-symmetric-necessary",
                      asserted("B.1 after Eq 63: 'This condition requires $A_t$ and $B_t$ to be symmetric matrices.'",
                               "$<X, A Y B> = <A X B, Y>$ for arbitrary $X$, $Y$",
                               "The next sentence weakens it to 'if they are not symmetric, generally there does "
                               "not exist a scalar potential function', which leaves 'requires' standing.",
                               "'Generally' in the next sentence is what we mean: for matrices in general "
                               "position a potential needs symmetry. Two antisymmetric matrices are an exception "
                               "that none of our models uses, and Eq 36 is derived for symmetric ones alone."),
                      "000 Eq 63",
                      "For the gradient field to be self-adjoint, $<X, A_t Y B_t> = <A_t X B_t, Y>$ for all $X$ and "
                      "$Y$, $A_t$ and $B_t$ are required to be symmetric.",
                      "The condition is $A^T S B^T = A S B$ for every $S$: both symmetric, or both antisymmetric (or "
                      "the map is zero). Smallest counter-example: $A = B = [[0,1],[-1,0]]$.",
                      measure),
          "Symmetric $A$ and $B$ are sufficient for a potential, which is what the rest of the paper uses. They are "
          "not necessary, since two antisymmetric matrices serve as well, and Eq 36 generates their recurrence "
          "too."),
      sizes);
}

// ---- Eq 69 ---------------------------------------------------------------------------------------------------------------

Claim misplaced_diagonal() {
  const auto measure = [](const Protocol &protocol) {
    std::vector<Point> points;
    for (const Params &at : places(protocol)) {
      const int dv = at.integer("dv"), d = at.integer("d");
      const Dense S = normal_matrix(dv, d, protocol.seed, "eq 36/S");
      std::vector<double> weights = Stream(protocol.seed, "eq 69/lambda").uniforms(dv, 0.1, 0.9), rival_weights;
      Dense kept = S; // diag(lambda) S
      for (int i = 0; i < dv; ++i) {
        for (int j = 0; j < d; ++j) kept(i, j) *= weights[i];
        weights[i] = 1 - weights[i];
        rival_weights.push_back(weights[i] * weights[i]);
      }
      const Dense wrong_term = 0.5 * product(S, S) * Dense(dv, 1, weights); // as printed: a matrix
      const auto kept_by = [&](const std::vector<double> &w) {
        return (S - gradient([&](const Dense &X) { return 0.5 * weighted_square(X, w); }, S)).data;
      };
      const double needed = 0.5 * product(S, S) - 0.5 * product(S, kept), size = 16 * dv * d * product(S, S);
      append(points, {as_statement(exact_point(wrong_term.data, std::vector<double>(dv, needed), size), at,
                                   "entries of diag(1-lambda) ||S||^2 / 2 against the first line of Eq 69"),
                      as_obligation(exact_point(0.5 * weighted_square(S, weights), needed, size), at,
                                    "||diag(sqrt(1-lambda)) S||^2 / 2 against the first line of Eq 69"),
                      as_obligation(exact_point(kept_by(weights), kept.data, size), at,
                                    "S less the gradient of ||diag(sqrt(1-lambda)) S||^2 / 2 against diag(lambda) S"),
                      rival_system(exact_point(kept_by(rival_weights), kept.data, size), at,
                                   "no square root: diag(1-lambda)")});
    }
    return points;
  };
  return at_parameters(
      explained(
          refuted_row("eq69-typo",
                      slip("Eq 69, second line, and Eq 81: $1/2 diag(1 - lambda) |S|_F^2$.", "none",
                           "The first line of Eq 69 and Table 2 have the diagonal inside the norm."),
                      "000 Eq 69, second line; Eq 81",
                      "The gate $diag(lambda)$ adds the term $1/2 diag(1-lambda) ||S||_F^2$ to the objective.",
                      "A matrix times a number: $1/2 ||diag(sqrt(1-lambda)) S||_F^2$ is meant, as Table 2 has it.",
                      measure),
          "The first line of Eq 69, $1/2 tr(S^T S) - 1/2 tr(S^T diag(lambda) S)$, and Table 2 are right; the "
          "second line takes the diagonal out of the norm."),
      sizes);
}

} // namespace

std::vector<Claim> eq_36_general_objective() {
  return {eq36_general(), symmetric_is_sufficient(), symmetric_is_not_necessary(), misplaced_diagonal()};
}

} // namespace recollect::theory
