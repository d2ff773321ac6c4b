// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/train/held_to_gradient.hpp"

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(adjoint_delta_former, *boost::unit_test::precondition(tape_runs))

const std::vector<Tensor> inputs{Tensor::beta, Tensor::alpha, Tensor::w};

BOOST_AUTO_TEST_CASE(similarities) {
  for (const char *kappa : {"linear", "softmax", "relu", "exp"})
    held_to_gradient("delta_former", {{"kappa1", kappa}, {"kappa2", kappa}, {"scale", "0.5"}, {"tau", "1.5"}}, inputs,
                     odd);
  held_to_gradient("delta_former", {{"kappa1", "softmax"}}, {}, odd); // w is the key, and counts there
  held_to_gradient("delta_former", {{"groups", "2"}}, inputs, {1, 1, 9, 5, 7});
}

BOOST_AUTO_TEST_CASE(roundings_are_passed_straight) {
  // Of whole numbers they change nothing, so that their gradient is the linear one.
  Sequence s = random_sequence({1, 2, 9, 3, 4}, 3);
  s.lambda.clear();
  for (Tensor tensor : {Tensor::q, Tensor::k, Tensor::w})
    for (double &x : s[tensor]) x = std::round(x);
  for (double &beta : s.beta) beta *= 0.1;
  const Variant &layer = find_variant("delta_former");
  const std::vector<double> weights = Stream(3, "adjoint/weights").normals(s.v.size());
  const auto found = [&](const std::string &kappa) {
    return delta_former_adjoint(s, variant_params(layer, {{"kappa1", kappa}, {"kappa2", kappa}}), weights);
  };
  const Sequence linear = found("linear"), round = found("round");
  for (Tensor tensor : all_tensors) BOOST_TEST((round[tensor] == linear[tensor]), name_of(tensor));
  BOOST_TEST(max_abs(round.w) > 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
