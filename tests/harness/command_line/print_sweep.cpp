// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print.hpp"
#include "tests/testing.hpp"
#include <sstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(print_sweeps)

/// Measures 1.5 n +- 0.25 where `law` predicts n, at each n.
std::vector<Finding> findings(const Claim &claim, const std::vector<int> &sizes, double law) {
  std::vector<Finding> all;
  for (int n : sizes) {
    Params at;
    at.set("n", n).set("d", 16);
    const Point point = as_statement(bracketed_point(1.5 * n, law * n, 0.25), at, "noise $E|r|^2$");
    all.push_back(conclude(claim, {point, rival_law(point, "twice it", 3.0 * n)}));
  }
  return all;
}

BOOST_AUTO_TEST_CASE(a_sweep_is_a_table_of_measurement_against_law) {
  Claim claim;
  claim.id = "some_claim";
  std::ostringstream out;
  print_sweep(out, findings(claim, {8, 16}, 1));
  const std::string text = out.str();
  for (const char *part :
       {"some_claim, statement: noise E|r|^2\n", "  n   measured  predicted  off by  detects  verdict\n",
        "  8   12        8          +50%    ", "  16  24        16         +50%    ", "refuted\n",
        "detected with 95% power; the smallest here is "})
    BOOST_TEST(text.find(part) != std::string::npos, part << " in\n" << text);
  BOOST_TEST(text.find("twice it") == std::string::npos, text);
  BOOST_TEST(text.find(" d ") == std::string::npos, text); // has the same value everywhere
}

BOOST_AUTO_TEST_CASE(a_single_point_shows_all_its_parameters) {
  Claim claim;
  claim.id = "some_claim";
  std::ostringstream out;
  print_sweep(out, findings(claim, {8}, 1.5));
  BOOST_TEST(out.str().find("  d     n  measured") != std::string::npos, out.str());
  BOOST_TEST(out.str().find("holds") != std::string::npos, out.str());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
