// SPDX-License-Identifier: Apache-2.0
#include "harness/pipeline/differences.hpp"
#include "harness/numerics/random.hpp"
#include <numeric>

namespace recollect {
namespace {

using Numbers = std::vector<double>;

double inner(const Numbers &a, const Numbers &b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

} // namespace

std::vector<Slope> slopes(const Variant &variant, const Sequence &s, const Params &params, const OutputWeights &weights,
                          const Sequence &candidate, std::uint64_t seed) {
  std::vector<Slope> all;
  for (Tensor tensor : all_tensors) {
    const Numbers &claimed = candidate[tensor];
    if (claimed.empty()) continue;
    Numbers direction = Stream(seed, std::string("differences/") + name_of(tensor)).normals(claimed.size());
    if (facts_of(tensor).decay) // stays within [0,1]
      for (size_t i = 0; i < direction.size(); ++i) direction[i] *= s[tensor][i] * (1 - s[tensor][i]);
    const auto at = [&](double step) {
      Sequence moved = s;
      for (size_t i = 0; i < direction.size(); ++i) moved[tensor][i] += step * direction[i];
      const Output out = forward(variant, moved, {"recurrent", Real::f64, 1, params});
      return inner(weights.o, out.o) + (weights.state.empty() ? 0 : inner(weights.state, out.state));
    };
    Slope slope{std::string("d") + name_of(tensor), inner(claimed, direction), 0, 0};
    for (size_t i = 0; i < claimed.size(); ++i) slope.size += std::fabs(claimed[i] * direction[i]);
    // Small, because a kink (max, ReLU, |x|) within 2 h of any number spoils the difference; rounding is eps / h = 1e-10
    // of the outputs.
    const double h = 2e-6;
    slope.measured = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
    all.push_back(slope);
  }
  return all;
}

} // namespace recollect
