// SPDX-License-Identifier: Apache-2.0
#include "harness/pipeline/differences.hpp"
#include "harness/numerics/random.hpp"
#include <numeric>

namespace recollect {
namespace {

using Numbers = std::vector<double>;

double inner(const Numbers &a, const Numbers &b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

/// What is differentiated, with `numbers`, which are some of the sequence's, moved by `step` times the direction.
class Objective {
public:
  Objective(const Variant &variant, const Params &params, const OutputWeights &weights, Sequence &s, Numbers &numbers,
            const Numbers &direction)
      : variant_(variant), params_(params), weights_(weights), s_(s), numbers_(numbers), direction_(direction),
        start_(numbers) {}
  double operator()(double step) {
    for (size_t i = 0; i < direction_.size(); ++i) numbers_[i] = start_[i] + step * direction_[i];
    const Output out = forward(variant_, s_, {"recurrent", Real::f64, 1, params_});
    numbers_ = start_;
    return inner(weights_.o, out.o) + (weights_.state.empty() ? 0 : inner(weights_.state, out.state));
  }

private:
  const Variant &variant_;
  const Params &params_;
  const OutputWeights &weights_;
  Sequence &s_;
  Numbers &numbers_;
  const Numbers &direction_;
  const Numbers start_;
};

} // namespace

std::vector<Slope> slopes(const Variant &variant, const Sequence &s, const Params &params, const OutputWeights &weights,
                          const Sequence &candidate, std::uint64_t seed) {
  Sequence whole = s;
  std::vector<Slope> all;
  const auto add = [&](const std::string &name, Numbers &numbers, const Numbers &gradient, bool decay) {
    if (gradient.empty()) return;
    Numbers direction = Stream(seed, "differences/" + name).normals(gradient.size());
    if (decay) // stays within [0,1]
      for (size_t i = 0; i < direction.size(); ++i) direction[i] *= numbers[i] * (1 - numbers[i]);
    Slope slope{"d" + name, inner(gradient, direction), 0, 0};
    for (size_t i = 0; i < gradient.size(); ++i) slope.size += std::fabs(gradient[i] * direction[i]);
    // Small, because a kink (max, ReLU, |x|) within 2 h of any number spoils the difference; rounding is eps / h = 1e-10
    // of the outputs.
    const double h = 2e-6;
    Objective f(variant, params, weights, whole, numbers, direction);
    slope.measured = (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
    all.push_back(slope);
  };
  for (Tensor tensor : all_tensors) add(name_of(tensor), whole[tensor], candidate[tensor], facts_of(tensor).decay);
  return all;
}

} // namespace recollect
