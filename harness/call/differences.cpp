// SPDX-License-Identifier: Apache-2.0
#include "harness/call/differences.hpp"
#include "harness/call/quotients.hpp"
#include "harness/numerics/random.hpp"
#include <numeric>

namespace recollect {
namespace {

using Numbers = std::vector<double>;

double inner(const Numbers &a, const Numbers &b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

/// Multiplies every output number by its weight.
Numbers weighed(const Output &out, const OutputWeights &weights) {
  Numbers all = out.o;
  all.insert(all.end(), out.state.begin(), out.state.begin() + std::ptrdiff_t(weights.state.size()));
  for (size_t i = 0; i < all.size(); ++i) all[i] *= i < out.o.size() ? weights.o[i] : weights.state[i - out.o.size()];
  return all;
}

/// The derivative along one direction of one tensor, estimated from differences at step sizes h and 2 h.
struct Along {
  Slope slope;
  bool smooth; // no kink (max, ReLU, |x|) lies within 2 h of any number; at a kink, differences are not derivatives
};

Along along(const Variant &variant, const Sequence &s, const Params &params, const OutputWeights &weights,
            Tensor tensor, const Numbers &claimed, const Numbers &direction, double h) {
  const auto at = [&](double step) {
    Sequence moved = s;
    for (size_t i = 0; i < direction.size(); ++i) moved[tensor][i] += step * direction[i];
    return weighed(forward(variant, moved, {"recurrent", Real::f64, 1, params}), weights);
  };
  Slope slope{std::string("d") + name_of(tensor), inner(claimed, direction), 0, 0, 0};
  for (size_t i = 0; i < claimed.size(); ++i) slope.size += std::fabs(claimed[i] * direction[i]);
  const Numbers up = at(h), down = at(-h);
  for (
      size_t i = 0; i < up.size();
      ++i) { // difference by difference: the difference of two sums would have the rounding error of their largest term
    slope.measured += (up[i] - down[i]) / (2 * h);
    slope.rounding += epsilon_of(Real::f64) / (2 * h) * std::fabs(up[i]);
  }
  if (slope.right())
    return {slope, true}; // central differences of second order suffice; further passes of a definition take long
  slope.measured = slope.rounding = 0;
  const Numbers far_up = at(2 * h), far_down = at(-2 * h);
  double apart = 0, all = 0; // disagreement of the differences at h and at 2 h
  for (size_t i = 0; i < up.size(); ++i) {
    const double near = up[i] - down[i], far = far_up[i] - far_down[i];
    slope.measured += (8 * near - far) / (12 * h);
    slope.rounding += 18 / (12 * h) * epsilon_of(Real::f64) / 2 * std::fabs(up[i]);
    apart += std::fabs(2 * near - far) / (4 * h), all += std::fabs(near) / (2 * h);
  }
  return {slope, apart <= Slope::at * all + slope.rounding};
}

/// A random direction whose entries are proportional to the tensor's numbers.
Numbers direction_of(Tensor tensor, const Sequence &s, std::uint64_t seed) {
  Numbers direction = Stream(seed, std::string("differences/") + name_of(tensor)).normals(s[tensor].size());
  for (size_t i = 0; i < direction.size(); ++i) { // zeros stay 0: layers may have kinks there (|k|, ReLU, beta >= 0)
    const double x = s[tensor][i];
    direction[i] *= facts_of(tensor).decay ? x * (1 - x) : std::fabs(x); // stays within [0,1]
  }
  return direction;
}

} // namespace

std::vector<Slope> slopes(const Variant &variant, const Sequence &s, const Params &params, const OutputWeights &weights,
                          const Sequence &candidate, std::uint64_t seed) {
  std::vector<Slope> found;
  for (Tensor tensor : all_tensors) {
    const Numbers &claimed = candidate[tensor];
    if (claimed.empty()) continue;
    const Numbers direction = direction_of(tensor, s, seed);
    Along one = along(variant, s, params, weights, tensor, claimed, direction, 2e-6);
    if (!one.smooth)
      one = along(variant, s, params, weights, tensor, claimed, direction, 6e-8); // larger rounding error
    found.push_back(one.slope);
  }
  return found;
}

bool right_in_113_bits(const Slope &slope, const Variant &variant, const Sequence &s, const Params &params,
                       const OutputWeights &weights, std::uint64_t seed) {
  const Tensor tensor = tensor_named(slope.name.substr(1));
  Sequence direction;
  direction[tensor] = direction_of(tensor, s, seed);
  const std::optional<double> measured = Quotients(variant, s, params, weights).along(direction).derivative(slope.size);
  return measured && std::fabs(slope.claimed - *measured) <= Slope::at * slope.size;
}

} // namespace recollect
