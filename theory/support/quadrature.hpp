// SPDX-License-Identifier: Apache-2.0
// Expectations without sampling: Gauss rules, and the limit of a sequence.
//
// Golub and Welsch 1969: the nodes are the eigenvalues of the Jacobi matrix of the orthonormal polynomials p_0 ...
// p_{n-1} of the distribution, and the weights are 1 / sum_k p_k(node)^2. A rule of n nodes is exact for polynomials of
// degree < 2 n.
#pragma once
#include "harness/numerics/linalg.hpp"
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace recollect::theory {

/// E f(X) ~ sum_i weights[i] f(nodes[i]).
struct Quadrature {
  std::vector<double> nodes, weights;
  double mean(const std::function<double(double)> &f) const {
    double sum = 0;
    for (size_t i = 0; i < nodes.size(); ++i) sum += weights[i] * f(nodes[i]);
    return sum;
  }
};

/// From x p_k = side(k+1) p_{k+1} + centre(k) p_k + side(k) p_{k-1}.
inline Quadrature gauss_rule(int n, const std::function<double(int)> &centre, const std::function<double(int)> &side) {
  Dense jacobi(n, n);
  for (int k = 0; k < n; ++k) {
    jacobi(k, k) = centre(k);
    if (k > 0) jacobi(k, k - 1) = jacobi(k - 1, k) = side(k);
  }
  Quadrature rule{symmetric_eigenvalues(jacobi), {}};
  for (double x : rule.nodes) {
    double before = 0, now = 1, squares = 1;
    for (int k = 0; k + 1 < n; ++k) {
      const double next = ((x - centre(k)) * now - (k ? side(k) : 0) * before) / side(k + 1);
      before = now, now = next, squares += next * next;
    }
    rule.weights.push_back(1 / squares);
  }
  return rule;
}

/// X ~ N(0,1): Gauss-Hermite in the probabilists' scaling. n is even, so that no node lies at 0.
inline Quadrature normal_quadrature(int n) {
  return gauss_rule(
      n, [](int) { return 0.0; }, [](int k) { return std::sqrt(double(k)); });
}

/// X ~ Gamma(shape, 1): generalised Gauss-Laguerre. chi^2 with d degrees of freedom is 2 X at shape d / 2.
inline Quadrature gamma_quadrature(int n, double shape) {
  return gauss_rule(
      n, [=](int k) { return 2 * k + shape; }, [=](int k) { return std::sqrt(k * (k + shape - 1)); });
}

/// A number and a bound on its error.
struct Integral {
  double value, error;
};

/// Integral of f over [a, b] by the double exponential rule (Takahasi and Mori 1974): f may be singular, though
/// integrable, at the ends. The error is the last halving's change.
inline Integral integrate(const std::function<double(double)> &f, double a, double b) {
  const auto sum = [&](double h) {
    double total = 0;
    for (int i = -int(3.6 / h); i * h <= 3.6; ++i) { // the weights beyond are below 1e-22
      const double t = i * h, u = M_PI / 2 * std::sinh(t);
      const double from_end =
          (b - a) / (1 + std::exp(2 * std::fabs(u))); // distance to the nearer end, without cancellation
      const double x = u < 0 ? a + from_end : b - from_end,
                   weight = (b - a) / 2 * M_PI / 2 * std::cosh(t) / std::pow(std::cosh(u), 2);
      if (x > a && x < b) total += weight * f(x);
    }
    return total * h;
  };
  const double coarse = sum(1.0 / 16), fine = sum(1.0 / 32);
  return {fine, std::fabs(fine - coarse)};
}

struct Limit {
  double value;
  double
      error; // the larger of the last two changes as a coarser point comes in: an estimate from the convergence itself
  double amplification; // largest factor by which errors of the y_i enter
};

/// The value at h = 0 of the polynomial through (h_i, y_i), by Neville's scheme (Richardson extrapolation to all
/// orders), for a y that is smooth in h. h descends.
inline Limit limit_at_zero(const std::vector<double> &h, const std::vector<double> &y) {
  const size_t n = h.size();
  std::vector<double> p = y;
  Limit limit{p.back(), 0, 0};
  double last_change = 0;
  for (size_t order = 1; order < n; ++order) {
    for (size_t i = n - 1; i >= order; --i) p[i] += (p[i] - p[i - 1]) * h[i] / (h[i - order] - h[i]);
    const double change = std::fabs(p.back() - limit.value);
    limit.error = std::max(change, last_change);
    limit.value = p.back(), last_change = change;
  }
  for (size_t i = 0; i < n; ++i) { // Lagrange's weights at 0
    double weight = 1;
    for (size_t j = 0; j < n; ++j)
      if (j != i) weight *= h[j] / (h[j] - h[i]);
    limit.amplification += std::fabs(weight);
  }
  return limit;
}

} // namespace recollect::theory
