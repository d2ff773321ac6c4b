// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print_check.hpp"
#include "tests/testing.hpp"
#include <cmath>
#include <sstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(print_checks)

const Reference &reference() {
  static const Reference found([] {
    const Variant &v = find_variant("linear");
    CheckCase problem{v, variant_params(v), random_sequence({1, 1, 20, 4, 4}, 1), {}, false};
    return problem;
  }());
  return found;
}

nlohmann::ordered_json json_of(const PartList &candidate, std::string &text) {
  const Checked checked = check(reference(), candidate, Precision::bf16);
  const CheckReport report{"linear", {1, 1, 20, 4, 4},        reference().results(), checked, Precision::bf16,
                           "7",      "recollect check linear"};
  std::ostringstream out;
  print_checked(out, report);
  text = out.str();
  return checked_json(report);
}

BOOST_AUTO_TEST_CASE(what_is_not_finite_is_null_and_what_was_not_given_is_not_checked) {
  PartList candidate = reference().results();
  candidate.at(0).values[5] = std::nan("");
  candidate.pop_back(); // the state
  std::string text;
  const nlohmann::ordered_json found = json_of(candidate, text);
  BOOST_TEST(found.dump().find("inf") == std::string::npos, found.dump());
  BOOST_TEST(found.dump().find("\"finite\":false") != std::string::npos, found.dump());
  BOOST_TEST(found.dump().find("\"checked\":false") != std::string::npos, found.dump());
  BOOST_TEST(text.find("WRONG") != std::string::npos);
  BOOST_TEST(text.find("not checked: state") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(a_right_kernel_is_said_to_be_right) {
  std::string text;
  const nlohmann::ordered_json found = json_of(reference().results(), text);
  BOOST_TEST(text.find("right") != std::string::npos);
  BOOST_TEST(text.find("WRONG") == std::string::npos, text);
  BOOST_TEST(found.dump().find("\"checked\":false") == std::string::npos, found.dump());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
