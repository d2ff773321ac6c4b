// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/variational/vla_steps.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vla_chain)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) { check_claims({"vla_prop2_real_runs", "vla_cor1_*", "vla_table2_*"}); }

BOOST_AUTO_TEST_CASE(first_write_direction_is_the_key) {
  // A_0 = I / lambda0 and u = k: A_1 k = k / (lambda0 + 1), so a_1 = k and J_1 is a projector of norm 1.
  Vla memory(3, 1, 0.1);
  memory.step({0.6, 0.8, 0}, {0.6, 0.8, 0}, {1});
  check_close(memory.a, {0.6, 0.8, 0}, 1e-15);
  BOOST_TEST(std::fabs(spectral_norm(vla_jacobian_of(memory.a, {0.6, 0.8, 0})) - 1) < 1e-14);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
