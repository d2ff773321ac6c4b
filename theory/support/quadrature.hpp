// SPDX-License-Identifier: Apache-2.0
// Expectations without sampling, by the rules of Boost.Math, and the limit of a sequence. Every number comes with an
// error bound.
#pragma once
#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/quadrature/tanh_sinh.hpp>
#include <cmath>
#include <functional>
#include <vector>

namespace recollect::theory {
/// A number and a bound on its error.
struct Integral {
  double value, error = 0;
};

/// Nodes with Kronrod's weights and, at every second node, the weights of the Gauss rule. An integrand is evaluated
/// once per node; the difference of the two sums bounds the error of the Kronrod sum.
struct Rule {
  std::vector<double> nodes, weights, coarse;
  Integral sum(const std::vector<Integral> &values) const {
    double fine = 0, gauss = 0, inherited = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      fine += weights[i] * values[i].value, gauss += coarse[i] * values[i].value;
      inherited += std::fabs(weights[i]) * values[i].error;
    }
    return {fine, std::fabs(fine - gauss) + inherited};
  }
  /// The integral of f; f(x) is a number or an Integral.
  template <class F> Integral integral(const F &f) const {
    std::vector<Integral> values;
    for (double x : nodes) values.push_back(Integral{f(x)});
    return sum(values);
  }
};

/// The integral over [a, b], with 31 nodes.
inline Rule panel(double a, double b) {
  using Fine = boost::math::quadrature::gauss_kronrod<double, 31>;
  using Coarse = boost::math::quadrature::gauss<double, 15>; // every second node, from the middle
  const double centre = (a + b) / 2, half = (b - a) / 2;
  Rule rule;
  for (size_t i = 0; i < Fine::abscissa().size(); ++i)
    for (double side : {-1, 1}) {
      if (i == 0 && side < 0) continue; // the middle node has no mirror image
      rule.nodes.push_back(centre + side * half * Fine::abscissa()[i]);
      rule.weights.push_back(half * Fine::weights()[i]);
      rule.coarse.push_back(i % 2 ? 0 : half * Coarse::weights()[i / 2]);
    }
  return rule;
}

/// The integral over [a, c] of an integrand times a density, in two panels that meet at b, where the product has its
/// peak or a kink.
inline Rule two_panels(double a, double b, double c, const std::function<double(double)> &density) {
  Rule rule = a < b ? panel(a, b) : Rule{};
  const Rule right = panel(b, c);
  const auto join = [](std::vector<double> &all, const std::vector<double> &more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  join(rule.nodes, right.nodes), join(rule.weights, right.weights), join(rule.coarse, right.coarse);
  for (size_t i = 0; i < rule.nodes.size(); ++i) {
    const double p = density(rule.nodes[i]);
    rule.weights[i] *= p, rule.coarse[i] *= p;
  }
  return rule;
}

inline double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); }

/// Expectation over X ~ N(0,1), for integrands whose product with the density has its mass within 8 of `centre`.
inline Rule normal_rule(double centre) { return two_panels(centre - 8, centre, centre + 8, normal_density); }

/// Expectation over |x|, x ~ N(0, I_d), for integrands that behave as |x|^(-2 power) exp(-rate |x|^2) with d > 2 power.
/// The panels meet at the peak of the integrand's product with the density; the width of this peak is at most 1 /
/// sqrt(1 + 2 rate).
inline Rule length_rule(int d, double power, double rate) {
  const double peak = std::sqrt(std::max(0.0, (d - 1 - 2 * power) / (1 + 2 * rate))),
               reach = 8 / std::sqrt(1 + 2 * rate);
  return two_panels(std::max(0.0, peak - reach), peak, peak + reach, [d](double x) {
    return std::exp((d - 1) * std::log(x) - x * x / 2 - (d / 2.0 - 1) * std::log(2) - std::lgamma(d / 2.0));
  });
}

/// The integral of f over [a, b] by the double exponential rule (Takahasi and Mori 1974). The integrand may have
/// integrable singularities at the ends. The error is the change by the last halving of the step.
inline Integral integrate(const std::function<double(double)> &f, double a, double b) {
  static thread_local boost::math::quadrature::tanh_sinh<double> rule;
  // The outermost nodes round to the ends, where the integrand may be singular.
  const double first = std::nextafter(a, b), last = std::nextafter(b, a);
  const auto inside = [&](double x, double) { return f(std::clamp(x, first, last)); };
  Integral result;
  result.value = rule.integrate(inside, a, b, boost::math::tools::root_epsilon<double>(), &result.error);
  return result;
}

struct Limit {
  double value;
  double error;         // error of the extrapolation: the larger change of the value by the last two points
  double amplification; // an error of at most e in every y_i changes the value by at most this times e
};

/// The value at h = 0 of the polynomial through (h_i, y_i), by Neville's scheme (Richardson extrapolation to all
/// orders), for a y that is smooth in h. The values of h descend.
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
