// SPDX-License-Identifier: Apache-2.0
// An adjoint against gradient() of the layer's definition, which knows nothing of it.
#pragma once
#include "harness/numerics/random.hpp"
#include "harness/pipeline/gradient.hpp"
#include "harness/train/adjoint.hpp"
#include "tests/harness/pipeline/gradient_case.hpp"

namespace recollect::train {

/// The largest difference over the largest number of each tensor is within 10^4 roundings: sums of some hundred terms,
/// behind steps that are well conditioned on unit keys.
inline void held_to_gradient_at(Sequence s, const std::string &name, const Assignments &settings,
                                const std::vector<Tensor> &given) {
  const Variant &variant = find_variant(name);
  const Params params = variant_params(variant, settings);
  for (Tensor tensor : {Tensor::beta, Tensor::alpha, Tensor::lambda, Tensor::w})
    if (std::find(given.begin(), given.end(), tensor) == given.end()) s[tensor].clear();
  const std::vector<double> weights = Stream(3, "adjoint/weights").normals(s.v.size());
  const Adjoint own = find_adjoint(name);
  BOOST_TEST_REQUIRE(own, name);
  const Sequence found = own(s, params, weights), expected = gradient(variant, s, params, {weights, {}});
  for (Tensor tensor : all_tensors) {
    BOOST_TEST_INFO(name << " d" << name_of(tensor));
    BOOST_TEST_REQUIRE(found[tensor].size() == expected[tensor].size());
    check_close(found[tensor], expected[tensor], 1e4 * epsilon_of(Real::f64) * max_abs(expected[tensor]));
  }
}

inline void held_to_gradient(const std::string &name, const Assignments &settings, const std::vector<Tensor> &given,
                             const Shape &shape) {
  held_to_gradient_at(random_sequence(shape, 3), name, settings, given);
}

const Shape odd{2, 3, 23, 5, 7};

} // namespace recollect::train
