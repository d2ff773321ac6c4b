// SPDX-License-Identifier: Apache-2.0
#include "harness/check/plant.hpp"
#include "tests/harness/call/gradient_case.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(plants, *boost::unit_test::precondition(tape_runs))

BOOST_AUTO_TEST_CASE(the_ground_is_exact_in_the_type_and_has_gates_of_nothing_and_all) {
  const CheckCase problem = planting_ground(find_variant("gated_delta_net"), Precision::bf16, false);
  for (Tensor tensor : all_tensors)
    for (double x : problem.given[tensor]) BOOST_TEST_REQUIRE(rounded(x, Precision::bf16) == x, name_of(tensor));
  const auto has = [&](double x) {
    return std::find(problem.given.alpha.begin(), problem.given.alpha.end(), x) != problem.given.alpha.end();
  };
  BOOST_TEST((has(0) && has(1) && !problem.given.state.empty() && problem.wants_gradient()));
}

BOOST_AUTO_TEST_CASE(what_shows_is_refused_and_named_and_what_is_right_is_not, *slow) {
  size_t shown = 0, refused = 0, named = 0, right = 0, accused = 0;
  plant(find_variant("linear"), Precision::bf16, 1, [&](const Planted &one) {
    if (one.mistake.empty()) {
      right += 1, accused += one.refused;
    } else if (one.effect >= 1.5) {
      shown += 1, refused += one.refused, named += one.named_right();
    }
  });
  BOOST_TEST((shown >= 40u && right >= 8u));
  BOOST_TEST(accused == 0u);
  BOOST_TEST(double(refused) >= 0.98 * double(shown));
  BOOST_TEST(double(named) >= 0.85 * double(shown));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
