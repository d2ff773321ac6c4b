// SPDX-License-Identifier: Apache-2.0
#include "harness/call/differences.hpp"
#include "harness/call/quotients.hpp"
#include "harness/core/in_pieces.hpp"
#include "harness/numerics/random.hpp"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace recollect {
namespace {

using Numbers = std::vector<double>;

/// The sum of term(i) over i < n. Each block is summed by one thread, so that the sum does not depend on the number of
/// threads.
template <class Term> double sum_over(size_t n, const Term &term) {
  constexpr size_t block = 1 << 14;
  Numbers sums((n + block - 1) / block, 0.0);
  in_pieces(
      sums.size(),
      [&](size_t i, size_t end) {
        for (; i < end; ++i)
          for (size_t j = i * block; j < std::min(n, (i + 1) * block); ++j) sums[i] += term(j);
      },
      block * cost_of_copies);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

/// The sum of term(x) over all elements of o and of the state. For each element, x[n] is its value in outputs[n] times
/// its weight.
template <class Term>
double weighed_sum(const std::vector<Output> &outputs, const OutputWeights &weights, const Term &term) {
  const auto over = [&](Numbers Output::*numbers, const Numbers &factors) {
    return sum_over(factors.size(), [&](size_t i) {
      double x[4] = {};
      for (size_t n = 0; n < outputs.size(); ++n) x[n] = (outputs[n].*numbers)[i] * factors[i];
      return term(x);
    });
  };
  return over(&Output::o, weights.o) + over(&Output::state, weights.state);
}

/// The derivative with respect to one tensor along one direction, from differences at step sizes h and 2 h.
struct Along {
  Slope slope;
  bool smooth; // whether no kink (max, ReLU, |x|) lies within 2 h; across a kink, differences are not derivatives
};

/// Compares the claimed gradient of `tensor` with differences along `direction`. `moved` is a copy of s; this function
/// overwrites its `tensor`, so that a long sequence need not be copied for each call.
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
  Slope slope{std::string("d") + name_of(tensor),
              sum_over(claimed.size(), [&](size_t i) { return claimed[i] * direction[i]; }), 0, 0, 0};
  slope.size = sum_over(claimed.size(), [&](size_t i) { return std::fabs(claimed[i] * direction[i]); });
  std::vector<Output> outputs{at(h), at(-h)};
  const auto sum = [&](const auto &term) { return weighed_sum(outputs, weights, term); };
  // Each term is a difference. The difference of two sums would have the rounding error of the largest term of the
  // sums.
  slope.measured = sum([&](const double *x) { return (x[0] - x[1]) / (2 * h); });
  slope.rounding = sum([&](const double *x) { return epsilon_of(Real::f64) / (2 * h) * std::fabs(x[0]); });
  if (slope.right())
    return {slope, true}; // second-order differences suffice; two more passes of the definition would take time
  outputs.push_back(at(2 * h)), outputs.push_back(at(-2 * h));
  const auto near = [](const double *x) { return x[0] - x[1]; };
  const auto far = [](const double *x) { return x[2] - x[3]; };
  slope.measured = sum([&](const double *x) { return (8 * near(x) - far(x)) / (12 * h); });
  slope.rounding = sum([&](const double *x) { return 18 / (12 * h) * epsilon_of(Real::f64) / 2 * std::fabs(x[0]); });
  // How much the differences at h and at 2 h disagree.
  const double apart = sum([&](const double *x) { return std::fabs(2 * near(x) - far(x)) / (4 * h); }),
               all = sum([&](const double *x) { return std::fabs(near(x)) / (2 * h); });
  return {slope, apart <= Slope::at * all + slope.rounding};
}

/// A random direction whose entries are proportional to the tensor's numbers.
Numbers direction_of(Tensor tensor, const Sequence &s, std::uint64_t seed) {
  Numbers direction = Stream(seed, std::string("differences/") + name_of(tensor)).normals(s[tensor].size());
  in_pieces(
      direction.size(),
      [&](size_t i, size_t end) {
        for (; i < end; ++i) { // a number that is 0 does not move: layers may have kinks at 0 (|k|, ReLU, beta >= 0)
          const double x = s[tensor][i];
          direction[i] *= facts_of(tensor).decay ? x * (1 - x) : std::fabs(x); // decays stay within [0,1]
        }
      },
      cost_of_copies);
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
    if (!one.smooth) // a smaller step avoids the kink, but has a larger rounding error
      one = along(variant, s, moved, params, weights, tensor, claimed, direction, 6e-8);
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
