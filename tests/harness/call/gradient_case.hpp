// SPDX-License-Identifier: Apache-2.0
// A layer with tensors that are all differentiated.
#pragma once
#include "harness/call/gradient.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"

namespace recollect {

/// Skips suites that need gradient() if kernels do not run on the CPU.
inline boost::test_tools::assertion_result tape_runs(boost::unit_test::test_unit_id) { return takes_gradients(); }

struct GradientCase {
  const Variant &variant;
  Params params = variant_params(variant);
  Sequence s;
  OutputWeights weights;
  Output run(const Sequence &at) const { return forward(variant, at, {"recurrent", Real::f64, 1, params}); }
};

/// Has every input that the layer takes, an initial state, and weights of the final state.
inline GradientCase case_of(const Variant &variant, const Shape &shape, std::uint64_t seed) {
  GradientCase c{variant, variant_params(variant), random_sequence(shape, seed), {}};
  for (const char *name : {"beta", "alpha", "lambda", "w"}) {
    const auto called = [&](const Input &input) { return input.name == name; };
    if (std::none_of(variant.inputs.begin(), variant.inputs.end(), called)) c.s.input(name).clear();
  }
  const Output out = c.run(c.s);
  c.weights.o = Stream(seed, "gradient/o").normals(out.o.size());
  c.weights.state = Stream(seed, "gradient/state").normals(out.state.size());
  // A state that earlier keys may have left. Its largest elements differ, since a tie would be a kink.
  Sequence before = random_sequence(shape, seed + 100);
  for (Tensor tensor : all_tensors)
    if (c.s[tensor].empty()) before[tensor].clear();
  c.s.state = c.run(before).state;
  return c;
}

} // namespace recollect
