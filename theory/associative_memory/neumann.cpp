// SPDX-License-Identifier: Apache-2.0
// (I + A)^{-1} of a strictly lower triangular A by repeated squaring (000 Eq 98-100): what it computes, how many
// squarings it needs, and how it rounds.
#include "harness/core/registry.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/random.hpp"
#include "harness/pipeline/conditioning.hpp"
#include "theory/support/claims.hpp"
#include "theory/support/delta_recursion.hpp"

namespace recollect::theory {
namespace {

struct Doubled {
  Dense X;
  int products = 0;
  double largest_power = 0; // largest entry of any power of A that was formed
  Dense error;              // entrywise bound on the rounding of X: every product errs by C eps |left| |right|
};

Dense magnitudes(Dense m) {
  for (double &x : m.data) x = std::fabs(x);
  return m;
}

/// X_0 = I - A, Y_0 = A^2; X_i = X_{i-1} + X_{i-1} Y_{i-1}, Y_i = Y_{i-1}^2. The last Y is not needed and not formed.
Doubled doubling(const Dense &A, int iterations) {
  const int C = A.rows;
  const double unit = C * epsilon_of(Real::f64);
  Doubled r{Dense::identity(C) - A, 0, 0, Dense(C, C)};
  Dense Y = A, error(C, C); // of Y
  for (int i = 0; i < iterations; ++i) {
    const Dense y = magnitudes(Y), x = magnitudes(r.X);
    error = y * error + error * y + unit * (y * y);
    Y = Y * Y;
    const Dense square = magnitudes(Y);
    r.error = r.error + r.error * square + x * error + unit * (x * square);
    r.X = r.X + r.X * Y;
    r.products += 2;
    r.largest_power = std::max(r.largest_power, max_abs(Y.data));
  }
  return r;
}

int ceil_log2(int n) {
  int bits = 0;
  while ((1 << bits) < n) ++bits;
  return bits;
}

/// Strictly lower [C,C]: 0.9 beside the diagonal, so that no power vanishes before A^C, and noise of size 1/C below.
Dense some_lower(int C, std::uint64_t seed) {
  Dense A(C, C);
  const Stream draw(seed, 51);
  for (int t = 0; t < C; ++t)
    for (int i = 0; i < t; ++i) A(t, i) = (2 * draw.uniform(size_t(t) * C + i) - 1) / (4 * C) + (i + 1 == t ? 0.9 : 0);
  return A;
}

double error_of(const Dense &X, const Dense &A) {
  return max_abs(((Dense::identity(A.rows) + A) * X - Dense::identity(A.rows)).data);
}

double units_of(const Dense &A) {
  const Dense I_plus_A = Dense::identity(A.rows) + A;
  return 8.0 * A.rows * frobenius_norm(inverse(I_plus_A)) * frobenius_norm(I_plus_A);
}

Params of_size(int C, const std::string &quantity) {
  Params p;
  return p.set("C", C).set("quantity", quantity);
}

/// `missing` iterations fewer than the right number.
std::vector<Point> identity_points(const Protocol &protocol, int missing) {
  std::vector<Point> points;
  for (int C : {4, 8, 16, 32, 64}) {
    const Dense A = some_lower(C, protocol.seed);
    const Doubled r = doubling(A, ceil_log2(C) - 1 - missing);
    points.push_back(at(exact_point(error_of(r.X, A), 0, units_of(A), 1e-8), "exact", of_size(C, "(I + A) X - I")));
    if (missing) continue;
    points.push_back(
        at(exact_point(r.products, 2 * ceil_log2(C) - 2, 0, 1), "exact", of_size(C, "products of C x C matrices")));
    Dense power = A;
    for (int i = 0; i < ceil_log2(C); ++i) power = power * power;
    points.push_back(at(exact_point(max_abs(power.data), 0, 0, 1e-6), "exact", of_size(C, "A^C")));
  }
  return points;
}

std::vector<Point> non_powers(const Protocol &protocol) {
  std::vector<Point> points;
  for (int C : {3, 5, 9, 12, 63}) {
    const Dense A = some_lower(C, protocol.seed);
    if (C == 3) { // floor(log2 3) - 1 = 0 iterations leave A^2, whose one entry is A_21 A_10
      points.push_back(at(exact_point(error_of(doubling(A, 0).X, A), 0, units_of(A), 1e-8), "paper",
                          of_size(C, "(I + A) X - I, floor(log2 C) - 1")));
      points.push_back(at(exact_point(error_of(doubling(A, 0).X, A), std::fabs(A(2, 1) * A(1, 0)), units_of(A), 1e-8),
                          "corrected", of_size(C, "what floor leaves: A^2")));
    }
    points.push_back(at(exact_point(error_of(doubling(A, ceil_log2(C) - 1).X, A), 0, units_of(A), 1e-8), "corrected",
                        of_size(C, "(I + A) X - I, ceil(log2 C) - 1")));
  }
  return points;
}

std::vector<Point> comment_iteration(const Protocol &protocol) {
  const int C = 8;
  const Dense A = some_lower(C, protocol.seed);
  Dense a = Dense::identity(C) - A, b = A * A;
  for (int i = 0; i < 2; ++i) { // a_{i+1}, b_{i+1} = a_i b_i + b_i b_i: one expression for two names, read as both
    const Dense next = a * b + b * b;
    a = next, b = next;
  }
  return {at(exact_point(error_of(a, A), 0, units_of(A), 1e-8), "paper", of_size(C, "(I + A) X - I by the comment")),
          at(exact_point(error_of(doubling(A, 2).X, A), 0, units_of(A), 1e-8), "corrected",
             of_size(C, "(I + A) X - I by Eq 100"))};
}

/// One unit key repeated and the linear kernel: A is all ones below the diagonal, A^m holds binomials C(i-j-1, m-1),
/// while (I + A)^{-1} is only I - shift.
std::vector<Point> rounding(const Protocol &protocol) {
  std::vector<Point> points;
  const int C = 64;
  Dense ones(C, C);
  for (int t = 0; t < C; ++t)
    for (int i = 0; i < t; ++i) ones(t, i) = 1;
  const Variant &v = find_variant("delta_former");
  Sequence repeated = random_sequence({1, 1, C, 4, 3}, protocol.seed);
  for (size_t i = 0; i < repeated.k.size(); ++i) repeated.k[i] = i % 4 == 0;
  repeated.q = repeated.w = repeated.k;
  repeated.alpha.clear(), repeated.beta.clear();
  const Output reference = forward(v, repeated);
  const Dense I_plus_A = Dense::identity(C) + ones;
  const double cond = spectral_norm(I_plus_A) * spectral_norm(inverse(I_plus_A)),
               terms = accumulated_terms(repeated.shape, C);
  for (Real real : {Real::f32, Real::f64})
    for (const char *form : {"doubling", "chunked"}) {
      const double error = deviation(forward(v, repeated, {form, real, C, variant_params(v)}), reference).outputs;
      const bool paper = std::string(form) == "doubling";
      Params p =
          of_size(C, "relative error of the reads").set("form", form).set("real", name_of(real)).set("cond", cond);
      points.push_back(at(bounded_point(error, Point::at_most, 0, terms * epsilon_of(real) * cond, 1e-2),
                          paper ? "paper" : "corrected", p));
    }
  double binomial = 1; // C(62, 31), the largest entry of A^32
  for (int i = 1; i <= 31; ++i) binomial = binomial * (31 + i) / i;
  const Doubled r = doubling(ones, 5);
  points.push_back(at(exact_point(r.largest_power / binomial, 1, 16.0 * C * C, 1e-3), "corrected",
                      of_size(C, "largest entry of a power of A over C(62, 31)")));
  // Its law: the powers, not the inverse, set the size of the error, and it comes out above the inverse itself.
  const double error = max_difference(r.X.data, inverse(I_plus_A).data);
  points.push_back(at(bounded_point(error, Point::at_most, max_abs(r.error.data), 0, 0.5), "corrected",
                      of_size(C, "error of X, at most what rounding |X| |Y| allows")));
  points.push_back(at(bounded_point(error, Point::at_least, 1, 0, 0.5), "corrected",
                      of_size(C, "error of X, at least the inverse's largest entry")));
  // Safe: softmax rows and near-orthogonal keys, whose powers shrink.
  Dense K(C, 16, Stream(protocol.seed, 52).normals(C * 16));
  const Dense soft = normalise_sums(causal_weights(
      K, K, [](double x) { return std::exp(x / 4); }, Triangle::strict));
  points.push_back(at(exact_point(error_of(doubling(soft, 5).X, soft), 0, units_of(soft), 1e-8), "corrected",
                      of_size(C, "softmax rows: (I + A) X - I")));
  return points;
}

} // namespace

std::vector<Claim> neumann() {
  Claim doubling =
      ledger_row("neumann-doubling", "000 Eq 98-100",
                 "(I + A)^{-1} = (I - A) prod_{i=1}^{log2 C - 1} (I + A^{2^i}), by log2 C - 1 iterations.",
                 "Identity for C a power of two, since A^C = 0 (Eq 99 prints the limit as log2 C^{-1}). It costs 2 "
                 "log2 C - 2 products of C^3.",
                 [](const Protocol &p) { return identity_points(p, 0); });
  doubling.control = [](const Protocol &p) { return identity_points(p, 1); };

  Claim powers =
      refuted_row("neumann-non-power2", Scope::paper, "000 Eq 99-100", "log2 C - 1 iterations invert I + A.",
                  "For C not a power of two it takes ceil(log2 C) - 1; with floor a power of A is left over. The paper "
                  "has C = 64 in mind.",
                  non_powers);

  Claim comment = refuted_row("listing1-comment-iteration", Scope::typo, "000 Listing 1, comment at the inverse",
                              "a_{i+1}, b_{i+1} = a_i b_i + b_i b_i.",
                              "a_{i+1} = a_i + a_i b_i and b_{i+1} = b_i b_i, as in Eq 100.", comment_iteration);

  Claim error = refuted_row(
      "neumann-fp-error", Scope::boundary, "000 D.3.1", "Doubling is an efficient substitute for forward substitution.",
      "Exact algebra, not backward stable: with one key repeated and the linear kernel the powers hold "
      "binomials up to C(62,31) = 4.65e17 and every digit is lost at C = 64, "
      "where substitution is exact. Safe for softmax rows and nearly orthogonal keys.",
      rounding);
  error.variants = {"delta_former"};
  return {doubling, powers, comment, error};
}

} // namespace recollect::theory
