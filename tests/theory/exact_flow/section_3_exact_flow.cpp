// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/exact_flow/flow.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_3_exact_flow)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("efla_closed_form", {{"beta", "1.1"}, {"norm", "2.2"}, {"T", "20"}}, 4);
  check_claim_at("efla_small_step", {{"norm", "0.6"}}, 4);
  check_claim_at("efla_non_expansive", {{"size", "4"}, {"norm", "2"}}, 4);
  refuse_point("efla_closed_form", {{"norm", "1"}});
}

BOOST_AUTO_TEST_CASE(a_flow_in_one_dimension_by_hand) {
  // k = 2, v = 3, beta = 1/4: S goes to v / k = 3/2 with the factor exp(-beta k^2) = 1/e.
  const double left = std::exp(-1.0);
  check_close(flow(Dense(1, 1, {5}), {2}, {3}, 0.25).data, {1.5 + left * 3.5}, 1e-14);
  check_close({exact_strength(0.25, 4)}, {(1 - left) / 4}, 1e-16);
}

BOOST_AUTO_TEST_CASE(the_exponential_of_a_rotation_by_hand) {
  check_close(exponential(Dense(2, 2, {0, -1.2, 1.2, 0})).data,
              {std::cos(1.2), -std::sin(1.2), std::sin(1.2), std::cos(1.2)}, 1e-14);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
