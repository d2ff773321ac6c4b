// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/variational/recall.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_6_4_untrained_recall)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("vla_untrained_orthonormal", {{"n", "13"}});
  check_claim_at("vla_untrained_unit_keys", {{"n", "10"}});
  check_claim_at("vla_untrained_elu_keys", {{"n", "17"}});
}

BOOST_AUTO_TEST_CASE(two_memories_by_hand) {
  // Keys (1,0) and (3,4)/5, values e1 and e2. Linear attention reads (1, 3/5) and (3/5, 1); the delta rule's second error is
  // e2 - (3/5) e1, so that it reads (1 - 9/25, 3/5) and (0, 1); Eq 4 with gate 1/2 reads (1/2 - 9/25, 3/5) and (-3/10, 1).
  const Memories x{1, 2, 2, {1, 0, 0.6, 0.8}, {1, 0, 0, 1}};
  const Reader half{"", "scalar_gated_delta", Rule::delta, 0.5};
  check_close(algebra_reads(x, linear_reader, 1), {1, 0.6, 0.6, 1}, 1e-15);
  check_close(algebra_reads(x, delta_reader, 1), {0.64, 0.6, 0, 1}, 1e-15);
  check_close(algebra_reads(x, half, 1), {0.14, 0.6, -0.3, 1}, 1e-15);
  check_close(layer_reads(x, half, 1), {0.14, 0.6, -0.3, 1}, 1e-15);
  BOOST_TEST(accuracy({1, 0.6, 0.6, 1}, x) == 1);
  BOOST_TEST(accuracy({0.14, 0.6, -0.3, 1}, x) == 0.5);
  BOOST_TEST(accuracy({0.14, 0.6, -0.3, 1}, x, 1) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
