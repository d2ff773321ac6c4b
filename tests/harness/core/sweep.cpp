// SPDX-License-Identifier: Apache-2.0
#include "harness/core/sweep.hpp"
#include "harness/core/error.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(sweep)

using Values = std::vector<std::string>;

BOOST_AUTO_TEST_CASE(lists_and_ranges_are_expanded) {
  BOOST_TEST((expand_values("8", "n") == Values{"8"}));
  BOOST_TEST((expand_values("0.2,0.5,softmax", "n") == Values{"0.2", "0.5", "softmax"}));
  BOOST_TEST((expand_values("16:128:*2", "n") == Values{"16", "32", "64", "128"}));
  BOOST_TEST((expand_values("16:100:*2", "n") == Values{"16", "32", "64"}));
  BOOST_TEST((expand_values("10:50:+20", "n") == Values{"10", "30", "50"}));
  BOOST_TEST((expand_values("3:5", "n") == Values{"3", "4", "5"}));
  BOOST_TEST((expand_values("0.1:0.3:+0.1", "n") == Values{"0.1", "0.2", "0.3"})); // three times 0.1 exceeds 0.3
  BOOST_TEST((expand_values("-0.3:-0.1:+0.1", "n") == Values{"-0.3", "-0.2", "-0.1"}));
  BOOST_TEST((expand_values("1,4:8:*2", "n") == Values{"1", "4", "8"}));
}

BOOST_AUTO_TEST_CASE(ranges_that_never_end_are_refused) {
  for (const char *bad :
       {"1:8:*1", "0:8:*2", "8:1:*2", "1:8:-1", "1:8:2", "1:8:+0", "1:2:3:4", "a:b", "1,,2", "", "0:1:+1e-9"})
    BOOST_CHECK_EXCEPTION(expand_values(bad, "--set n"), Error, [](const Error &e) { return e.code == exit_usage; });
}

BOOST_AUTO_TEST_CASE(combinations_are_all_of_them) {
  const auto all = combinations({{"a", "1,2"}, {"b", "3:5"}}, "--set", {{{"c", "x"}}});
  BOOST_TEST_REQUIRE(all.size() == 6u);
  BOOST_TEST((all[0].at("a") == "1" && all[0].at("b") == "3" && all[0].at("c") == "x"));
  BOOST_TEST((all[1].at("b") == "4" && all[5].at("a") == "2" && all[5].at("b") == "5"));
  BOOST_TEST(combinations({}, "--set").size() == 1u);
  BOOST_CHECK_EXCEPTION(combinations({{"a", "1:2000"}, {"b", "1:2000"}}, "--set"), Error, [](const Error &e) {
    return e.code == exit_usage && std::string(e.what()).find("--set b=1:2000") != std::string::npos;
  });
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
