// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/support/counted.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vla_scan)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) {
  check_claims({"vla_scan_*", "vla_eq3_transposition", "vla_eq11_output_scale", "vla_complexity_ot",
                "vla_constant_factor", "kv_cache_52gb", "vla_internal_u_scale", "vla_internal_khat"});
}

BOOST_AUTO_TEST_CASE(counting_by_hand) {
  // a dot product of three terms costs three products, a division one, a sum nothing
  const Counted a = 2, b = 3;
  BOOST_TEST(count([&] { return (a * b + a * a + b * b) / a; }) == 4);
  BOOST_TEST(count([&] { return a + b - a; }) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
