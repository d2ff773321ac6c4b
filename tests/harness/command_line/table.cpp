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

struct Columns { // sets the terminal's width while it lives
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

BOOST_AUTO_TEST_CASE(lines_fold_under_what_follows_their_first_gap) {
  const std::string plain = "name    one two three four five six seven eight\nshort\n";
  BOOST_TEST(folded(plain) == plain); // not a terminal
  const Columns forty("40");
  BOOST_TEST(folded(plain) == "name    one two three four five six\n        seven eight\nshort\n");
  BOOST_TEST(folded("one two three four five six seven eight nine") ==
             "one two three four five six seven\n    eight nine");
  BOOST_TEST(folded(std::string(14, ' ') + "title = {one two three four five}") ==
             std::string(14, ' ') + "title = {one two three\n" + std::string(14, ' ') + "four five}");
  BOOST_TEST(folded("\n\n") == "\n\n");
  const std::string eighteen(18, 'x'), most = eighteen + "  one two three four five"; // at most half of the line
  BOOST_TEST(folded(most) == eighteen + "  one two three four\n" + std::string(20, ' ') + "five");
  BOOST_TEST(folded("x" + most) == "x" + eighteen + " one two three\n    four five");
  BOOST_TEST(folded(std::string(90, 'x')) ==
             std::string(36, 'x') + "\n    " + std::string(36, 'x') + "\n    " + std::string(18, 'x'));
}

BOOST_AUTO_TEST_CASE(a_width_below_forty_is_none) {
  const std::string line = "one two three four five six seven eight nine";
  const Columns few("39");
  BOOST_TEST(folded(line) == line);
}

BOOST_AUTO_TEST_CASE(an_indented_cell_is_indented_in_every_line) {
  const Columns forty("40");
  std::ostringstream out;
  print_table(out, {{"  one two three four five", "one two three four five six"}});
  BOOST_TEST(out.str() == "  one two three      one two three four\n  four five          five six\n");
}

BOOST_AUTO_TEST_CASE(a_cell_indented_beyond_its_column_has_a_letter_a_line) {
  const Columns forty("40"); // three columns of 20 are narrowed to 12
  const std::string deep(16, ' '), long_word(20, 'x'), twelve(12, 'x'), rest(8, 'x');
  std::ostringstream out;
  print_table(out, {{deep + "a\u03b2 c", long_word, long_word}});
  BOOST_TEST(out.str() == deep + "a  " + twelve + "  " + twelve + "\n" + deep + "\u03b2  " + rest + "      " + rest +
                              "\n" + deep + "c\n");
}

BOOST_AUTO_TEST_CASE(numbers_have_six_digits) {
  BOOST_TEST(brief(1.0 / 3) == "0.333333");
  BOOST_TEST(brief(1234567) == "1.23457e+06");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
