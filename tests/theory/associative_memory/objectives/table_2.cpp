// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(table_2)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated_at_other_widths) {
  for (const char *id : {"table2_linear", "table2_gla", "table2_deltanet"})
    check_claim_at(id, {{"d", "3"}, {"dv", "7"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
