// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/plant_table.hpp"
#include "tests/harness/call/gradient_case.hpp"
#include "tests/testing.hpp"
#include <sstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(plant_tables, *boost::unit_test::precondition(tape_runs))

BOOST_AUTO_TEST_CASE(a_row_a_mistake_and_totals_that_add_up, *slow) {
  std::ostringstream csv, log;
  PlantOptions options;
  options.layers = {&find_variant("linear")}, options.precisions = {Precision::f32};
  BOOST_TEST(plant_table(options, csv, log), log.str());
  std::istringstream lines(csv.str());
  std::string line;
  std::getline(lines, line);
  BOOST_TEST(line.rfind("type,mistake,planted,recollect,named,fla,", 0) == 0u);
  long planted = 0, total = -1;
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::string type, mistake, count;
    std::getline(cells, type, ','), std::getline(cells, mistake, ','), std::getline(cells, count, ',');
    if (mistake == "all mistakes")
      total = std::stol(count);
    else if (mistake != "right kernels")
      planted += std::stol(count);
  }
  BOOST_TEST((planted > 0 && planted == total));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
