// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/table.hpp"
#include "tests/testing.hpp"
#include <cstdlib>
#include <sstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(table)

BOOST_AUTO_TEST_CASE(columns_are_as_wide_as_their_widest_cell) {
  std::ostringstream out;
  print_table(out, {{"id", "value", ""}, {"longer", "1", "note"}, {"x", "", ""}});
  BOOST_TEST(out.str() == "id      value\nlonger  1      note\nx\n");
}

struct Columns { // of the terminal, while it lives
  explicit Columns(const char *n) { setenv("COLUMNS", n, 1); }
  ~Columns() { unsetenv("COLUMNS"); }
};

BOOST_AUTO_TEST_CASE(wide_tables_break_their_widest_columns) {
  const Columns forty("40");
  std::ostringstream out;
  print_table(out, {{"id", "text"}, {"  delta_net", "one two three four five six seven eight"}, {"\u03b1", "x"}});
  BOOST_TEST(out.str() == "id           text\n"
                          "  delta_net  one two three four five six\n"
                          "             seven eight\n"
                          "\u03b1            x\n");
  BOOST_TEST(wrapped(std::string(40, 'x'), "name", 6) == "name  " + std::string(34, 'x') + "\n      xxxxxx");
  BOOST_TEST(wrapped("one two three four five six seven eight nine", "name", 6) ==
             "name  one two three four five six seven\n      eight nine");
}

BOOST_AUTO_TEST_CASE(numbers_have_six_digits) {
  BOOST_TEST(brief(1.0 / 3) == "0.333333");
  BOOST_TEST(brief(1234567) == "1.23457e+06");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
