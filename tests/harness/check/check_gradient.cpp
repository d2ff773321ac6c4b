// SPDX-License-Identifier: Apache-2.0
// tests/files/test_check.py holds kernels in NumPy to it; here the verdicts and the bound.
#include "harness/check/check_gradient.hpp"
#include "harness/numerics/random.hpp"
#include "harness/check/samples.hpp"
#include "tests/harness/pipeline/gradient_case.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(check_gradients, *boost::unit_test::precondition(tape_runs))

struct Given {
  const Variant &variant;
  Params params = variant_params(variant);
  Sequence s = sample(variant, {1, 2, 12, 4, 3}, "random", 1);
  OutputWeights weights{Stream(1, "check_gradient/o").normals(s.v.size()), {}};
  Sequence right() const { return gradient(variant, s, params, weights); }
  CheckedGradient check(const Sequence &candidate, Precision precision = Precision::f32) const {
    return check_gradient(variant, s, params, weights, candidate, precision, 4, false);
  }
};

const CheckedGradient::Part &part(const CheckedGradient &found, const std::string &name) {
  return *std::find_if(found.parts.begin(), found.parts.end(), [&](const auto &one) { return one.name == name; });
}

BOOST_AUTO_TEST_CASE(the_definitions_own_is_right) {
  const Given given{find_variant("gated_delta_net")};
  const CheckedGradient found = given.check(given.right());
  std::vector<std::string> names;
  for (const auto &one : found.parts) {
    names.push_back(one.name);
    BOOST_TEST((one.right() && one.errors.worst == 0 && one.condition >= 1));
    BOOST_TEST(one.bound == (2 * 12 + 4 + 3 + 4) * std::ldexp(1, -23) * one.condition);
  }
  BOOST_TEST((names == std::vector<std::string>{"dq", "dk", "dv", "dbeta", "dalpha", "dstate"}));
  BOOST_TEST(part(given.check(given.right(), Precision::bf16), "dk").bound > 0.25);
}

BOOST_AUTO_TEST_CASE(one_wrong_element_is_wrong_in_its_tensor_alone) {
  const Given given{find_variant("gated_delta_net")};
  Sequence candidate = given.right();
  candidate.alpha[12 + 5] += 1e-3 * max_abs(candidate.alpha); // head 1, step 5
  candidate.k[0] = std::nan("");
  const CheckedGradient found = given.check(candidate);
  BOOST_TEST(!found.right());
  BOOST_TEST((part(found, "dalpha").errors.first_bad == std::vector<long>{0, 1, 5, 0}));
  BOOST_TEST((part(found, "dk").errors.first_bad == std::vector<long>{0, 0, 0, 0}));
  for (const char *name : {"dq", "dv", "dbeta", "dstate"}) BOOST_TEST(part(found, name).right());
}

BOOST_AUTO_TEST_CASE(mistakes_are_named) {
  const Given given{find_variant("linear")};
  Sequence candidate = given.right();
  for (double &x : candidate.q) x = -x;
  for (double &x : candidate.k) x *= 2; // sqrt(Dk)
  std::fill(candidate.v.begin(), candidate.v.end(), 0.0);
  const CheckedGradient found = given.check(candidate);
  BOOST_TEST(part(found, "dq").diagnosis == "its sign is flipped");
  BOOST_TEST(part(found, "dk").diagnosis == "it is sqrt(Dk) too large");
  BOOST_TEST(part(found, "dv").diagnosis == "it is zero");
}

BOOST_AUTO_TEST_CASE(layers_that_solve_are_allowed_what_solving_loses) {
  const Given given{find_variant("mesa")};
  const double solved = given.variant.solved_condition(given.s, given.params);
  for (const auto &one : given.check(given.right()).parts) BOOST_TEST(one.condition >= 1 + 2 * solved);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
