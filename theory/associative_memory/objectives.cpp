// SPDX-License-Identifier: Apache-2.0
// Which recurrences S_t = A S B + C have an objective (000 Eq 36, 59-64, 69), and which of those objectives are bounded
// below. Gradients are central differences, exact for these quadratics whatever the step: only rounding is left.
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "theory/support/claims.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

constexpr int rows = 4, columns = 3;

Dense gaussian(int m, int n, std::uint64_t seed, int stream) {
  return Dense(m, n, Stream(seed, 171 + stream).normals(size_t(m) * n));
}
Dense symmetric(const Dense &m) { return 0.5 * (m + transpose(m)); }
double inner(const Dense &a, const Dense &b) { return trace(transpose(a) * b); }

/// Eq 36.
double objective(const Dense &S, const Dense &A, const Dense &B, const Dense &C) {
  return 0.5 * inner(S, S) - 0.5 * inner(S, A * S * B) - inner(C, S);
}

Dense gradient(const std::function<double(const Dense &)> &f, const Dense &S) {
  Dense g(S.rows, S.columns);
  for (size_t e = 0; e < S.data.size(); ++e) {
    Dense up = S, down = S;
    up.data[e] += 1, down.data[e] -= 1;
    g.data[e] = (f(up) - f(down)) / 2;
  }
  return g;
}

/// Rounding units of one objective: rows * columns products of terms up to |A| |S|^2 |B|, on both sides of a
/// difference.
double units(const Dense &S, const Dense &A, const Dense &B, const Dense &C) {
  const double s = frobenius_norm(S) + 1;
  return 8.0 * S.data.size() * (s * s * (1 + frobenius_norm(A) * frobenius_norm(B)) + s * frobenius_norm(C));
}

struct Recurrence {
  Dense A, B, C, S;
};
Recurrence draw(bool symmetric_matrices, std::uint64_t seed) {
  const Dense A = gaussian(rows, rows, seed, 0), B = gaussian(columns, columns, seed, 1);
  return {symmetric_matrices ? symmetric(A) : A, symmetric_matrices ? symmetric(B) : B,
          gaussian(rows, columns, seed, 2), gaussian(rows, columns, seed, 3)};
}

Point difference(const Dense &a, const Dense &b, double conditioning, const std::string &tier,
                 const std::string &quantity) {
  return at(exact_point(max_difference(a.data, b.data), 0, conditioning, 1e-3), tier,
            labels({{"quantity", txt(quantity)}}));
}

Dense generated(const Recurrence &r, double sign = 1) {
  return r.S - gradient([&](const Dense &S) { return objective(S, r.A, r.B, sign * r.C); }, r.S);
}
Dense stepped(const Recurrence &r) { return r.A * r.S * r.B + r.C; }

std::vector<Point> general(const Protocol &protocol, double sign) {
  std::vector<Point> points;
  for (std::uint64_t draw_of : {0, 1, 2}) {
    const Recurrence r = draw(true, protocol.seed + 1000 * draw_of);
    points.push_back(difference(generated(r, sign), stepped(r), units(r.S, r.A, r.B, r.C), "exact",
                                "(S - dL/dS) - (A S B + C), symmetric A, B"));
  }
  return points;
}

/// For any A, B the gradient of Eq 36 is S - (A S B + A^T S B^T)/2 - C: the antisymmetric part has no potential.
std::vector<Point> symmetric_is_sufficient(const Protocol &protocol) {
  const Recurrence r = draw(false, protocol.seed);
  const double conditioning = units(r.S, r.A, r.B, r.C);
  const Dense descended = generated(r),
              expected = 0.5 * (r.A * r.S * r.B + transpose(r.A) * r.S * transpose(r.B)) + r.C;
  // A field with a potential has a symmetric Jacobian: <X, A Y B> - <A X B, Y>.
  const Dense X = gaussian(rows, columns, protocol.seed, 4), Y = gaussian(rows, columns, protocol.seed, 5);
  const double curl = std::fabs(inner(X, r.A * Y * r.B) - inner(r.A * X * r.B, Y));
  return {difference(descended, expected, conditioning, "exact", "(S - dL/dS) - ((A S B + A^T S B^T)/2 + C), any A, B"),
          at(bounded_point(max_difference(descended.data, stepped(r).data), Point::at_least, 1e-6, 0, 1e-3), "boundary",
             labels({{"quantity", txt("(S - dL/dS) - (A S B + C), any A, B")}})),
          at(bounded_point(curl, Point::at_least, 1e-6, 0, 1e-3), "boundary",
             labels({{"quantity", txt("|<X, A Y B> - <A X B, Y>|, any A, B")}}))};
}

/// A = B = [[0,1],[-1,0]]: antisymmetric, yet self-adjoint as S -> A S B, and Eq 36 generates it.
std::vector<Point> symmetric_is_not_necessary(const Protocol &protocol) {
  const Dense turn(2, 2, {0, 1, -1, 0});
  const Dense X = gaussian(2, 2, protocol.seed, 4), Y = gaussian(2, 2, protocol.seed, 5);
  const Recurrence r{turn, turn, gaussian(2, 2, protocol.seed, 2), X};
  const double asymmetry = std::fabs(inner(X, turn * Y * turn) - inner(turn * X * turn, Y)),
               rounding = 32 * frobenius_norm(X) * frobenius_norm(Y) * epsilon_of(Real::f64);
  const Dense A = gaussian(rows, rows, protocol.seed, 0), B = gaussian(columns, columns, protocol.seed, 1);
  const Dense both_A = A - transpose(A), both_B = B - transpose(B);
  const Recurrence random{both_A, both_B, gaussian(rows, columns, protocol.seed, 2),
                          gaussian(rows, columns, protocol.seed, 3)};
  return {at(bounded_point(asymmetry, Point::at_least, 0.01, rounding, 0.01), "paper",
             labels({{"quantity", txt("|<X, A Y B> - <A X B, Y>| for A = B = [[0,1],[-1,0]]")}})),
          at(exact_point(asymmetry, 0, rounding / epsilon_of(Real::f64), 1e-3), "corrected",
             labels({{"quantity", txt("|<X, A Y B> - <A X B, Y>| for A = B = [[0,1],[-1,0]]")}})),
          difference(generated(r), stepped(r), units(r.S, r.A, r.B, r.C), "corrected",
                     "(S - dL/dS) - (A S B + C) for A = B = [[0,1],[-1,0]]"),
          difference(generated(random), stepped(random), units(random.S, random.A, random.B, random.C), "corrected",
                     "(S - dL/dS) - (A S B + C), antisymmetric A, B")};
}

/// tr(S^T diag(1-lambda) S) / 2 against its two spellings.
std::vector<Point> misplaced_diagonal(const Protocol &protocol) {
  const Dense S = gaussian(rows, columns, protocol.seed, 3);
  const std::vector<double> lambda = Stream(protocol.seed, 178).uniforms(rows, 0.1, 0.9);
  Dense weight(rows, rows), root(rows, rows);
  double whole = 0;
  for (int i = 0; i < rows; ++i) weight(i, i) = 1 - lambda[i], root(i, i) = std::sqrt(1 - lambda[i]);
  const double term = 0.5 * trace(transpose(S) * weight * S), size = frobenius_norm(S);
  for (int i = 0; i < rows; ++i) whole = std::max(whole, std::fabs(0.5 * weight(i, i) * size * size - term));
  return {at(exact_point(whole, 0, 16 * size * size, 1e-3), "paper",
             labels({{"quantity", txt("largest entry of diag(1-lambda) ||S||^2 / 2 - tr(S^T diag(1-lambda) S) / 2")}})),
          at(exact_point(0.5 * std::pow(frobenius_norm(root * S), 2), term, 16 * rows * columns * size * size, 1e-3),
             "corrected",
             labels({{"quantity", txt("||diag(sqrt(1-lambda)) S||_F^2 / 2 against tr(S^T diag(1-lambda) S) / 2")}}))};
}

/// Linear and un-normalised softmax: L(c v k^T) = -c |v|^2 |k|^2 falls for ever. DeltaNet: L >= 0. Normalised softmax
/// and gated linear attention: a minimum at the stationary S, and nothing below it.
std::vector<Point> boundedness(const Protocol &protocol, double sign) {
  std::vector<Point> points;
  const int t = 5;
  const Dense k = gaussian(columns, 1, protocol.seed, 0), v = gaussian(rows, 1, protocol.seed, 1),
              write = v * transpose(k);
  const double kk = inner(k, k), vv = inner(v, v);
  const std::vector<double> lambda = Stream(protocol.seed, 178).uniforms(rows, 0.1, 0.9);
  const auto recall = [&](const Dense &S) { return sign * inner(S * k, v); };
  const auto linear = [&](const Dense &S) { return -recall(S); };
  const auto delta = [&](const Dense &S) { return 0.5 * inner(S * k - v, S * k - v); };
  const auto softmax = [&](const Dense &S) { return (0.5 * inner(S, S) - recall(S)) / t; };
  const auto gated = [&](const Dense &S) {
    double square = 0;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) square += (1 - lambda[i]) * S(i, j) * S(i, j);
    return 0.5 * square - recall(S);
  };
  const auto labelled = [&](Point p, const std::string &quantity) {
    points.push_back(at(p, "exact", labels({{"quantity", txt(quantity)}})));
  };
  for (double c : {1.0, 1e3, 1e6})
    labelled(exact_point(linear(c * write) / c, -vv * kk, 32 * vv * kk, 1e-3 * vv * kk), "linear: L(c v k^T) / c");
  Dense bottom = write; // the gated minimiser, row by row v_i k^T / (1 - lambda_i)
  double gated_minimum = 0;
  for (int i = 0; i < rows; ++i) {
    gated_minimum -= 0.5 * v(i, 0) * v(i, 0) * kk / (1 - lambda[i]);
    for (int j = 0; j < columns; ++j) bottom(i, j) /= 1 - lambda[i];
  }
  labelled(exact_point(softmax(write), -vv * kk / (2 * t), 64 * vv * kk, 1e-3 * vv * kk),
           "normalised softmax: L at its minimum, against -|v|^2 |phi|^2 / (2t)");
  labelled(exact_point(gated(bottom), gated_minimum, 640 * vv * kk, 1e-3 * vv * kk), "gated linear: L at its minimum");
  double below = 0; // the deepest of many random states under each minimum
  for (std::uint64_t draw_of = 0; draw_of < 200; ++draw_of) {
    const Dense S = std::pow(10.0, int(draw_of % 7) - 3) * gaussian(rows, columns, protocol.seed + draw_of, 3);
    below = std::max({below, -delta(S), -vv * kk / (2 * t) - softmax(S), gated_minimum - gated(S)});
  }
  labelled(bounded_point(below, Point::at_most, 0, 1e5 * vv * kk * epsilon_of(Real::f64), 1e-3),
           "depth below the bounds of DeltaNet, softmax and gated linear over 200 states");
  return points;
}

} // namespace

std::vector<Claim> objectives() {
  Claim eq36 = ledger_row("eq36-general", "000 Eq 36, 64",
                          "For symmetric A, B the objective of Eq 36 generates S_t = A S B + C by one gradient step.",
                          "Identity.", [](const Protocol &p) { return general(p, +1); });
  eq36.control = [](const Protocol &p) { return general(p, -1); };
  Claim bounded = ledger_row("objective-boundedness", "000 §2.2",
                             "The objectives of linear and un-normalised softmax attention are unbounded below; "
                             "DeltaNet's and normalised softmax attention's are bounded.",
                             "L_linear(c v k^T) = -c |v|^2 |k|^2; DeltaNet >= 0; normalised softmax >= -|v|^2 |phi|^2 "
                             "/ (2t). Gated linear attention with lambda < 1 is bounded too.",
                             [](const Protocol &p) { return boundedness(p, +1); });
  bounded.control = [](const Protocol &p) {
    std::vector<Point> points = boundedness(p, -1);
    points.pop_back(); // the depth below the bounds does not know the sign
    return points;
  };
  return {
      eq36,
      ledger_row(
          "eq36-symmetric-sufficient", "000 §2.2, Appendix B.1",
          "If A and B are not symmetric, in general no potential generates the recurrence.",
          "The gradient of Eq 36 is then S - (A S B + A^T S B^T)/2 - C, and the field's Jacobian is not symmetric.",
          symmetric_is_sufficient),
      refuted_row("eq63-symmetric-necessary", Scope::paper, "000 Eq 63",
                  "Self-adjointness of S -> A S B requires A and B to be symmetric.",
                  "It holds if and only if A^T S B^T = A S B for all S: both symmetric or both antisymmetric (or the "
                  "map is zero). Symmetry is sufficient, not necessary.",
                  symmetric_is_not_necessary),
      refuted_row("eq69-typo", Scope::typo, "000 Eq 69, second line; Eq 81",
                  "The gate's regulariser is 1/2 diag(1-lambda) ||S||_F^2.",
                  "A matrix times a number: 1/2 ||diag(sqrt(1-lambda)) S||_F^2 is meant, as Table 2 has it.",
                  misplaced_diagonal),
      bounded,
  };
}

} // namespace recollect::theory
