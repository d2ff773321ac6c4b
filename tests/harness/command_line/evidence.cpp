// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/evidence.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(evidence)

Params n(double value) {
  Params p;
  p.set("n", value);
  return p;
}

BOOST_AUTO_TEST_CASE(the_counter_example_is_the_smallest_refuted_point_of_the_statement) {
  Finding f;
  f.points = {as_statement(exact_point(1, 1, 1), n(2)), as_statement(exact_point(1, 2, 1), n(8)),
              as_statement(exact_point(1, 2, 1), n(4)), as_obligation(exact_point(1, 2, 1), n(1))};
  BOOST_TEST(counter_example(f)->params.str() == "n=4");
  f.points.resize(1);
  BOOST_TEST(!counter_example(f));
}

BOOST_AUTO_TEST_CASE(distances_are_in_tolerances) {
  Point p;
  p.measured = 1, p.predicted = 2, p.tolerance = 0.5;
  BOOST_TEST(distance(p) == 2);
  p.tolerance = 0;
  BOOST_TEST(std::isinf(distance(p)));
  p.measured = 2;
  BOOST_TEST(distance(p) == 0);
  Point close = p;
  close.role = p.role = Role::statement;
  close.measured = 2.4, close.tolerance = 0.5, p.measured = 2.1, p.tolerance = 0.5;
  Finding f;
  f.points = {p, close, p};
  BOOST_TEST((tightest(f, Role::statement) == &f.points[1] && !tightest(f, Role::limit)));
}

BOOST_AUTO_TEST_CASE(a_command_repeats_the_measurement) {
  Claim c;
  c.id = "x";
  BOOST_TEST(repeat_command(c, {}) == "recollect verify x --seed 1");
  BOOST_TEST(repeat_command(c, {Effort::full, 7, n(4)}) == "recollect verify x --suite full --seed 7 --point n=4");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
