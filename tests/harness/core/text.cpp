// SPDX-License-Identifier: Apache-2.0
#include "harness/core/text.hpp"
#include "harness/core/error.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(text)

BOOST_AUTO_TEST_CASE(only_characters_reach_a_terminal) {
  for (const char *good : {"", "plain ~", "\u03ba\u2265\u00a0", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"})
    BOOST_TEST(printable(good) == good);
  BOOST_TEST(printable("a\x1b[31mb\n\t\x7f") == "a?[31mb???");
  BOOST_TEST(printable("\x80|\xc3|\xe2\x82|\xc0\xaf|\xed\xa0\x80|\xf5\x80\x80\x80|\xc2\x9b") ==
             "?|?|??|??|???|????|??");
  BOOST_TEST(printable("\xf4\x90\x80\x80|\xe0\x9f\xbf|\xf0\x8f\xbf\xbf") ==
             "????|???|????"); // beyond the last; overlong
  for (const char *first : {"\xe0\xa0\x80", "\xf0\x90\x80\x80", "\xed\x9f\xbf", "\xc2\xa0"})
    BOOST_TEST(printable(first) == first);
}

BOOST_AUTO_TEST_CASE(formulas_stand_without_their_marks) {
  BOOST_TEST(unmarked("For $n <= d$ keys $k$, |S| < 1.") == "For n <= d keys k, |S| < 1.");
  BOOST_TEST(unmarked("5 $ a key") == "5 $ a key");
}

BOOST_AUTO_TEST_CASE(globs) {
  BOOST_TEST(glob_match("snr_*", "snr_exp"));
  BOOST_TEST(glob_match("*", ""));
  BOOST_TEST(glob_match("a*b*c", "aXbYbc"));
  BOOST_TEST(!glob_match("a*b", "abc"));
  BOOST_TEST(glob_match("?nr", "snr"));
  BOOST_TEST(glob_match("table[23]", "table2"));
  BOOST_TEST(!glob_match("snr", "snr_exp"));
}

BOOST_AUTO_TEST_CASE(suggestions_are_near_or_list_all) {
  BOOST_TEST(suggestion("softmx", {"linear", "softmax"}) == ", did you mean 'softmax'?");
  BOOST_TEST(suggestion("zzzzzz", {"linear", "softmax"}) == "; known: linear, softmax");
  BOOST_TEST(suggestion("x", {}) == "");
  BOOST_TEST(suggestion("snr_lin", {"snr_exp", "snr_linear"}) == ", did you mean 'snr_linear'?");
  std::vector<std::string> many;
  for (char c = 'a'; c < 'm'; ++c) many.push_back(std::string(8, c));
  BOOST_TEST(suggestion("zzzzzzzz", many) == "; nearest of 12: " + join({many.begin(), many.begin() + 10}, ", "));
}

BOOST_AUTO_TEST_CASE(parts_and_names) {
  BOOST_TEST((split("a,b,,c", ',') == std::vector<std::string>{"a", "b", "", "c"}));
  BOOST_TEST(join({"a", "b", "c"}, ", ") == "a, b, c");
  BOOST_TEST(join({}, ", ") == "");
  BOOST_TEST(canonical("vla-7.3-only") == "vla_7.3_only");
}

BOOST_AUTO_TEST_CASE(numbers_read_back_as_they_were) {
  for (double x : {0.1, 1.0 / 3, 1e300, -2.5, 65536.0}) BOOST_TEST(parse_number(number(x), "x") == x);
  BOOST_TEST(number(std::nan("")) == "nan");
  BOOST_TEST(number(-HUGE_VAL) == "-inf");
  for (const char *bad : {"", "1x", "nan", "inf", " 1"}) BOOST_CHECK_THROW(parse_number(bad, "x"), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
