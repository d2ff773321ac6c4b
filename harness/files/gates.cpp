// SPDX-License-Identifier: Apache-2.0
#include "harness/files/gates.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

constexpr double lower_bound = -5; // lowest log decay of kda-lb, as in fla
constexpr double largest_raw = 30; // largest |raw gate| that is generated; beyond it a sigmoid is 0 or 1 in float32

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

double bounded(double x) { return std::clamp(x, -largest_raw, largest_raw); }
double logit(double p) { return bounded(p <= 0 ? -largest_raw : p >= 1 ? largest_raw : std::log(p / (1 - p))); }

} // namespace

double strength_of(double x, Strength strength) {
  switch (strength) {
  case Strength::factor:
    return x;
  case Strength::sigmoid:
    return sigmoid(x);
  case Strength::doubled:
    return 2 * x;
  case Strength::sigmoid_double:
    return 2 * sigmoid(x);
  }
  return x;
}
double strength_slope(double x, Strength strength) {
  const double s = sigmoid(x);
  switch (strength) {
  case Strength::factor:
    return 1;
  case Strength::sigmoid:
    return s * (1 - s);
  case Strength::doubled:
    return 2;
  case Strength::sigmoid_double:
    return 2 * s * (1 - s);
  }
  return 1;
}

Rate rate_of(Gate gate, double x, double A, const double *bias) {
  const double biased = x + (bias ? *bias : 0);
  switch (gate) {
  case Gate::factor:
    return {std::log(x), 1 / x, 0};
  case Gate::log:
    return {x, 1, 0};
  case Gate::log2:
    return {x * std::log(2), std::log(2), 0};
  case Gate::rwkv:
    return {-std::exp(x), -std::exp(x), 0};
  case Gate::mamba: {
    const double step = bias ? softplus(biased) : x, slope = bias ? sigmoid(biased) : 1;
    return {A * step, A * slope, step, step, slope};
  }
  case Gate::gdn:
  case Gate::kda: {
    const double speed = std::exp(A), g = -speed * softplus(biased);
    return {g, -speed * sigmoid(biased), g};
  }
  case Gate::kda_lb: {
    const double speed = std::exp(A), u = speed * biased, s = sigmoid(u), slope = lower_bound * s * (1 - s);
    return {lower_bound * s, slope * speed, slope * u};
  }
  }
  return {x, 1, 0};
}

bool has_parameters(Gate gate) {
  return gate == Gate::gdn || gate == Gate::kda || gate == Gate::kda_lb || gate == Gate::mamba;
}
const char *parameter_of(Gate gate) { return gate == Gate::mamba ? "A" : "A_log"; }

double raw_strength(double beta, Strength strength) {
  switch (strength) {
  case Strength::factor:
    return beta;
  case Strength::sigmoid:
    return logit(beta);
  case Strength::doubled:
    return beta / 2;
  case Strength::sigmoid_double:
    return logit(beta / 2);
  }
  return beta;
}

double raw_gate(Gate gate, double decay, double A, double bias) {
  const double g = std::log(decay);
  switch (gate) {
  case Gate::factor:
    return decay;
  case Gate::log:
    return g;
  case Gate::log2:
    return g / std::log(2);
  case Gate::rwkv:
    return bounded(std::log(-g));
  case Gate::mamba:
    return std::min(g / A, largest_raw);
  case Gate::gdn:
  case Gate::kda: {
    const double y = -g / std::exp(A);
    return bounded(y > largest_raw ? y : y + std::log(-std::expm1(-y))) - bias;
  }
  case Gate::kda_lb:
    return logit(g / lower_bound) / std::exp(A) - bias;
  }
  return decay;
}

} // namespace recollect
