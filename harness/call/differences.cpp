// SPDX-License-Identifier: Apache-2.0
#include "harness/call/differences.hpp"
#include "harness/call/quotients.hpp"
#include "harness/core/in_pieces.hpp"
#include "harness/numerics/random.hpp"
#include <numeric>

namespace recollect {
namespace {

using Numbers = std::vector<double>;

double inner(const Numbers &a, const Numbers &b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

/// Calls told(x) for every output number, with its values in all `outputs` times its weight: first o, then the state.
template <class Told>
void each_weighed(const std::vector<Output> &outputs, const OutputWeights &weights, const Told &told) {
  std::vector<double> x(outputs.size());
  const auto over = [&](std::vector<double> Output::*numbers, const std::vector<double> &factors) {
    for (size_t i = 0; i < factors.size(); ++i) {
      for (size_t n = 0; n < x.size(); ++n) x[n] = (outputs[n].*numbers)[i] * factors[i];
      told(x);
    }
  };
  over(&Output::o, weights.o), over(&Output::state, weights.state);
}

/// The derivative along one direction of one tensor, estimated from differences at step sizes h and 2 h.
struct Along {
  Slope slope;
  bool smooth; // no kink (max, ReLU, |x|) lies within 2 h of any number; at a kink, differences are not derivatives
};

/// `moved` is a copy of s whose `tensor` this function overwrites, so that a long sequence is copied only once.
Along along(const Variant &variant, const Sequence &s, Sequence &moved, const Params &params,
            const OutputWeights &weights, Tensor tensor, const Numbers &claimed, const Numbers &direction, double h) {
  const auto at = [&](double step) {
    const Numbers &from = s[tensor];
    Numbers &to = moved[tensor];
    in_pieces(
        direction.size(),
        [&](size_t i, size_t end) {
          for (; i < end; ++i) to[i] = from[i] + step * direction[i];
        },
        cost_of_copies);
    return forward(variant, moved, {"recurrent", Real::f64, 1, params});
  };
  Slope slope{std::string("d") + name_of(tensor), inner(claimed, direction), 0, 0, 0};
  for (size_t i = 0; i < claimed.size(); ++i) slope.size += std::fabs(claimed[i] * direction[i]);
  std::vector<Output> outputs{at(h), at(-h)};
  // Differences are taken before the sum, because the difference of two sums has the rounding error of their largest
  // term.
  each_weighed(outputs, weights, [&](const Numbers &x) {
    slope.measured += (x[0] - x[1]) / (2 * h);
    slope.rounding += epsilon_of(Real::f64) / (2 * h) * std::fabs(x[0]);
  });
  if (slope.right())
    return {slope, true}; // central differences of second order suffice; further passes of a definition take long
  slope.measured = slope.rounding = 0;
  outputs.push_back(at(2 * h)), outputs.push_back(at(-2 * h));
  double apart = 0, all = 0; // disagreement of the differences at h and at 2 h
  each_weighed(outputs, weights, [&](const Numbers &x) {
    const double near = x[0] - x[1], far = x[2] - x[3];
    slope.measured += (8 * near - far) / (12 * h);
    slope.rounding += 18 / (12 * h) * epsilon_of(Real::f64) / 2 * std::fabs(x[0]);
    apart += std::fabs(2 * near - far) / (4 * h), all += std::fabs(near) / (2 * h);
  });
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
  Sequence moved = s;
  for (Tensor tensor : all_tensors) {
    const Numbers &claimed = candidate[tensor];
    if (claimed.empty()) continue;
    const Numbers direction = direction_of(tensor, s, seed);
    Along one = along(variant, s, moved, params, weights, tensor, claimed, direction, 2e-6);
    if (!one.smooth)
      one = along(variant, s, moved, params, weights, tensor, claimed, direction, 6e-8); // larger rounding error
    moved[tensor] = s[tensor];
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
