// SPDX-License-Identifier: Apache-2.0
// Kernels and feature maps (000 Eq 11-12, 14, footnote 5): the exp kernel's power series, the order at which a number
// format cuts it off, and which similarities are kernels at all. Features go through the program's linear memory: with
// one pair and value 1 its read is phi(q).phi(k).
#include "harness/core/registry.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "harness/pipeline/forward.hpp"
#include "theory/support/claims.hpp"
#include "theory/support/mercer.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::theory {
namespace {

using Vector = std::vector<double>;

double read_of_one(const std::string &variant, const Vector &q, const Vector &k) {
  Sequence s;
  s.shape = {1, 1, 1, int(k.size()), 1};
  s.q = q, s.k = k, s.v = {1};
  const Variant &found = find_variant(variant);
  return forward(found, s, {"recurrent", Real::f64, 1, variant_params(found, {{"scale", "1"}})}).o[0];
}
double truncated(const Vector &q, const Vector &k, int order) {
  return read_of_one("linear", mercer_features(q, order), mercer_features(k, order));
}

std::vector<Point> power_series(const Protocol &protocol) {
  std::vector<Point> points;
  const int d = 3;
  const double tau = 2;
  Vector q = Stream(protocol.seed, 211).normals(d), k = Stream(protocol.seed, 212).normals(d);
  for (double &x : q) x /= std::sqrt(tau);
  for (double &x : k) x /= std::sqrt(tau);
  const double x = inner(q, k), size = std::exp(std::sqrt(inner(q, q) * inner(k, k))); // of the sum of |terms|
  const double whole = read_of_one("exp_unnormalized", q, k);
  double series = 1, term = 1;
  for (int order = 0; order <= 8; ++order) {
    if (order > 0) term *= x / order, series += term;
    const int width = int(mercer_features(q, order).size());
    const double read = truncated(q, k, order), rounding = 4.0 * width * size;
    const auto labelled = [&](Point p, const std::string &quantity) {
      points.push_back(at(
          p, "exact", labels({{"d", num(d)}, {"order", num(order)}, {"tau", num(tau)}, {"quantity", txt(quantity)}})));
    };
    labelled(exact_point(read, series, rounding, 1e-3), "phi(q).phi(k) against sum_{m <= M} x^m / m!");
    labelled(exact_point(width, (std::pow(d, order + 1) - 1) / (d - 1), 8 * width, 1),
             "number of features against (d^(M+1) - 1) / (d - 1)");
    const double bound = std::pow(std::fabs(x), order + 1) * std::exp(std::fabs(x)) / std::tgamma(order + 2.0);
    labelled(bounded_point(std::fabs(whole - read), Point::at_most, bound, rounding * epsilon_of(Real::f64), 1e-3),
             "|exp(q.k / tau) - phi(q).phi(k)| against |x|^(M+1) e^|x| / (M+1)!");
  }
  return points;
}

struct Format {
  std::string name;
  int bits; // of the significand, the hidden one included
};

/// The smallest order whose relative remainder at x >= 0 is at most half a unit in the last place, 2^-(bits+1).
int order_needed(double x, const Format &format) {
  const double whole = read_of_one("exp_unnormalized", {x}, {1});
  int order = 0;
  while ((whole - truncated({x}, {1}, order)) / whole > std::ldexp(1.0, -format.bits - 1)) ++order;
  return order;
}

/// The same from P(Poisson(x) > M), which that relative remainder is.
int order_expected(double x, const Format &format) {
  double term = std::exp(-x), tail = 0, first = term; // summed from the small end, so that nothing cancels
  int order = 0;
  for (;; ++order) {
    tail = 0, term = first;
    for (int m = order + 1; m < order + 200; ++m) term *= x / m, tail += term;
    if (tail <= std::ldexp(1.0, -format.bits - 1)) return order;
    first *= x / (order + 1);
  }
}

std::vector<Point> truncation_order(const Protocol &) {
  const Format bf16{"bf16", 8}, fp16{"fp16", 11}, fp32{"fp32", 24};
  struct Case {
    Format format;
    double x;
  };
  std::vector<Point> points;
  const auto place = [](const Case &c) {
    return labels({{"format", txt(c.format.name)}, {"x", num(c.x)}, {"quantity", txt("order needed")}});
  };
  for (const Case &c :
       {Case{bf16, 0.5}, {fp32, 1}, {bf16, 8}, {fp32, 8}}) // x = 8: a key of width 64 that meets itself at tau = sqrt d
    points.push_back(
        at(exact_point(order_needed(c.x, c.format), 7.5, 0.5 / epsilon_of(Real::f64), 1), "paper", place(c)));
  for (const Case &c : {Case{bf16, 0.5},
                        {bf16, 1.7},
                        {bf16, 1.8},
                        {bf16, 2.25},
                        {bf16, 2.65},
                        {bf16, 2.75},
                        {bf16, 8},
                        {fp16, 1.5},
                        {fp16, 2.1},
                        {fp32, 1},
                        {fp32, 8}})
    points.push_back(
        at(exact_point(order_needed(c.x, c.format), order_expected(c.x, c.format), 0, 1), "corrected", place(c)));
  points.push_back(
      at(bounded_point(order_needed(1.7, bf16), Point::at_most, 6, 0, 1), "corrected", place({bf16, 1.7})));
  points.push_back(
      at(exact_point(order_needed(2.25, bf16), 7.5, 0.5 / epsilon_of(Real::f64), 2), "corrected", place({bf16, 2.25})));
  points.push_back(
      at(bounded_point(order_needed(2.75, bf16), Point::at_least, 9, 0, 1), "corrected", place({bf16, 2.75})));
  points.push_back(at(bounded_point(order_needed(8, fp32), Point::at_least, 21, 0, 1), "corrected", place({fp32, 8})));
  return points;
}

/// kappa(x_i, x_j) of every pair of rows, off the memory of this variant.
Dense gram(const std::string &variant, const Dense &rows, const Assignments &settings) {
  const int n = rows.rows;
  Dense matrix(n, n);
  const Variant &found = find_variant(variant);
  for (int i = 0; i < n; ++i) {
    Sequence s;
    s.shape = {1, 1, n, rows.columns, n};
    s.k = rows.data, s.v = Dense::identity(n).data;
    s.q.assign(s.k.size(), 0.0);
    std::copy_n(&rows.data[size_t(i) * rows.columns], rows.columns, s.q.end() - rows.columns);
    const Vector o = forward(found, s, {"recurrent", Real::f64, 1, variant_params(found, settings)}).o;
    std::copy(o.end() - n, o.end(), &matrix(i, 0));
  }
  return 0.5 * (matrix + transpose(matrix));
}

/// Unit vectors 45 degrees apart: only neighbours have a positive product.
std::vector<Point> positive_definiteness(const Protocol &protocol) {
  Dense fan(4, 2);
  for (int i = 0; i < 4; ++i) fan(i, 0) = std::cos(i * M_PI / 4), fan(i, 1) = std::sin(i * M_PI / 4);
  const auto place = [](const std::string &kernel, const std::string &points) {
    return labels({{"kernel", txt(kernel)},
                   {"points", txt(points)},
                   {"quantity", txt("smallest eigenvalue of the Gram matrix")}});
  };
  const double smallest = symmetric_eigenvalues(gram("relu_kernel", fan, {})).front();
  std::vector<Point> points{at(bounded_point(smallest, Point::at_least, 0, 1e-12, 0.01), "paper",
                               place("relu", "4 unit vectors, 45 degrees apart")),
                            at(exact_point(smallest, 1 - std::sqrt(2.0) * std::cos(M_PI / 5), 64, 1e-3), "corrected",
                               place("relu", "4 unit vectors, 45 degrees apart"))};
  const Dense random(8, 3, Stream(protocol.seed, 213).normals(24));
  for (const char *variant : {"exp_unnormalized", "solu"})
    for (const Dense &set : {fan, random}) {
      const Dense matrix = gram(variant, set, {{"scale", "1"}, {"tau", "2"}});
      const double rounding = 8.0 * set.rows * frobenius_norm(matrix) * epsilon_of(Real::f64);
      points.push_back(
          at(bounded_point(symmetric_eigenvalues(matrix).front(), Point::at_least, 0, rounding, 2 * rounding),
             "corrected", place(variant, set.rows == 4 ? "4 unit vectors, 45 degrees apart" : "8 Gaussian points")));
    }
  return points;
}

} // namespace

std::vector<Claim> kernels() {
  return {
      running(ledger_row("mercer-map", "000 Eq 11-12",
                         "phi(x) = [1, x, x(x)x/sqrt 2!, ...] satisfies phi(q).phi(k) = exp(q.k).",
                         "Truncated at order M it is sum_{m<=M} x^m/m!, off by at most |x|^(M+1) e^|x| / (M+1)!, with "
                         "(d^(M+1)-1)/(d-1) features; a temperature scales q and k by "
                         "tau^(-1/2). The q_j of Eq 12's second member should be q_t.",
                         power_series),
              {"linear", "exp_unnormalized"}),
      running(refuted_row("mercer-truncation-7-8", Scope::paper, "000 footnote 5",
                          "Limited precision truncates the expansion at about the 7th to 8th order.",
                          "The order depends on x and the format: the relative remainder at order M is P(Poisson(x) > "
                          "M). In bf16 orders 7 and 8 belong to x in [1.75, 2.70]; fp32 "
                          "needs 10 at x = 1 and over 20 at x = 8, where a key of width 64 meets itself.",
                          truncation_order),
              {"linear", "exp_unnormalized"}),
      running(refuted_row("relu-kernel-psd", Scope::paper, "000 §2.1.1 with Eq 14",
                          "ReLU(x.y) is a kernel phi(x)^T phi(y).",
                          "Four unit vectors 45 degrees apart have a Gram matrix with the eigenvalue 1 - sqrt 2 "
                          "cos(pi/5) = -0.144: ReLU(x.y) is a similarity with no feature map. "
                          "exp and SoLU are kernels. Eq 10 and 15 need no feature map and stand.",
                          positive_definiteness),
              {"relu_kernel", "exp_unnormalized", "solu"}),
  };
}

} // namespace recollect::theory
