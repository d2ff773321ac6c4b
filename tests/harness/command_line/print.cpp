// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print.hpp"
#include "tests/testing.hpp"
#include <sstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(print_lists)

template <class Entry> std::string described(const Entry &entry) {
  std::ostringstream out;
  describe(out, entry);
  return out.str();
}
bool says(const std::string &text, const std::string &words) { return text.find(words) != std::string::npos; }

BOOST_AUTO_TEST_CASE(a_layer_says_what_it_takes_and_what_stands_in) {
  const std::string gated = described(find_variant("gla"));
  BOOST_TEST((says(gated, "variant     gated_linear") && says(gated, "also called gla")));
  BOOST_TEST(says(gated, "code        variants/gated_linear.cpp"));
  BOOST_TEST(says(gated, "one of these required"));
  BOOST_TEST(says(described(find_variant("gateloop")), "default 0"));
  BOOST_TEST(says(described(find_variant("delta_net")), "a repeated key returns its latest value"));
  std::ostringstream list;
  print_variants(list, select_variants({"gla"}));
  BOOST_TEST(says(list.str(), "gated_linear (gla)"));
}

BOOST_AUTO_TEST_CASE(a_task_names_its_headline_first_and_which_way_is_better) {
  BOOST_TEST(says(described(find_task("recall")), "accuracy (larger), mse (smaller)"));
  BOOST_TEST(says(described(find_task("recall")), "code        tasks/recall.cpp"));
}

BOOST_AUTO_TEST_CASE(a_claim_says_its_scope_system_and_parameters) {
  Claim c;
  c.id = "x", c.source = "000 Eq 1", c.statement = "s", c.exact = "e", c.explanation = "because";
  c.expected = Verdict::refuted, c.scope = Scope::boundary, c.params = {integer_param("d", 4, 1, 8, "width")};
  const std::string text = described(c);
  for (const char *part : {"refuted (boundary)", "because", "algebra", "d  default 4"})
    BOOST_TEST(says(text, part), part);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
