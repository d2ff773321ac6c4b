// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/junit.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(junit)

BOOST_AUTO_TEST_CASE(counts_and_escapes) {
  JUnit suite("verify <all>", "claims");
  suite.passed("a", 0.5);
  suite.passed("d", 1, "holds_under (|k| < 2)");
  suite.skipped("b", "needs_training");
  suite.failed("c", 2, "expected \"holds\"", "measured 1 < 2 & so on\x01");
  const std::string text = suite.text();
  for (const char *part : {"tests=\"4\" failures=\"1\" skipped=\"1\"", "name=\"verify &lt;all&gt;\"",
                           "classname=\"claims\" name=\"a\" time=\"0.5\"/>",
                           "<property name=\"verdict\" value=\"holds_under (|k| &lt; 2)\"/></properties></testcase>",
                           "<skipped message=\"needs_training\"/>",
                           "message=\"expected &quot;holds&quot;\">measured 1 &lt; 2 &amp; so on?</failure>"})
    BOOST_TEST(text.find(part) != std::string::npos, part);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
