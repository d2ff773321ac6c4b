// SPDX-License-Identifier: Apache-2.0
#include "harness/core/claim_search.hpp"
#include "harness/core/text.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(claim_search)

Claim claim(const std::string &source, const std::string &statement = "") {
  Claim c;
  c.id = "some_claim", c.source = source, c.statement = statement;
  return c;
}
bool found(const std::string &query, const std::string &source, const std::string &statement = "") {
  return matches(parse_claim_query(query), claim(source, statement));
}
/// "004 eq 17; eq 18": the places of a query, sorted by name.
std::string places(const std::string &text) {
  std::vector<std::string> all;
  for (const Place &p : parse_claim_query(text).places)
    all.push_back((p.paper.empty() ? "" : p.paper + " ") + p.kind + " " + p.number);
  return join(all, "; ");
}

BOOST_AUTO_TEST_CASE(citations_are_read_as_people_write_them) {
  for (const char *text : {"Proposition 2", "proposition 2", "Prop 2", "Prop. 2", "props 2", "PROP. (2)"})
    BOOST_TEST(places(text) == "prop 2", text);
  for (const char *text : {"004 Eq 17", "VLA Eq. (17)", "arXiv:2605.11196v1 equation 17", "Eq 17 of 004",
                           "variational linear attention, Eq 17"})
    BOOST_TEST(places(text) == "004 eq 17", text);
  BOOST_TEST(places("§2.2.1") == "section 2.2.1");
  BOOST_TEST(places("Appendix A.1") == "appendix a.1");
  BOOST_TEST(places("§A.1") == "appendix a.1");
  BOOST_TEST(places("E.2") == "appendix e.2");
  BOOST_TEST(places("Fig 2b") == "fig 2b");
}

BOOST_AUTO_TEST_CASE(lists_and_ranges_are_each_of_their_places) {
  BOOST_TEST(places("Eq 5-7, 9") == "eq 5; eq 6; eq 7; eq 9");
  BOOST_TEST(places("Corollaries 1 and 2") == "corollary 1; corollary 2");
  BOOST_TEST(places("§6.4-6.6") == "section 6.4; section 6.5; section 6.6");
  BOOST_TEST(places("Fig 2c, 5, Tables 9, 12") == "fig 2c; fig 5; table 12; table 9");
}

BOOST_AUTO_TEST_CASE(a_claim_is_found_by_every_place_of_its_source) {
  const std::string source = "004 Proposition 2, Eq 14, 23, footnote 1";
  for (const char *query : {"Prop 2", "004 Prop 2", "Eq 23", "VLA footnote 1", "2605.11196"})
    BOOST_TEST(found(query, source), query);
  for (const char *query : {"Prop 1", "Prop 23", "Eq 1", "Eq 2", "003 Prop 2", "2501.12352", "1234.56789"})
    BOOST_TEST(!found(query, source), query);
  BOOST_TEST((found("000 §2.1", "002 §3; 000 §2.1") && found("002 §3", "002 §3; 000 §2.1")));
  BOOST_TEST(!found("002 §2.1", "002 §3; 000 §2.1")); // each place belongs to one paper only
  BOOST_TEST(found("004 §6.6", "004 Table 4, row 2 and its note; §6.6"));
}

BOOST_AUTO_TEST_CASE(a_section_holds_its_subsections_and_a_figure_its_panels) {
  BOOST_TEST((found("§2.2", "000 §2.2.1, D.3") && !found("§2.2.1", "000 §2.2") && !found("§2", "000 §22.1")));
  BOOST_TEST((found("Fig 2", "004 Fig 2b") && !found("Fig 2b", "004 Fig 2") && !found("Fig 2", "004 Fig 21")));
  BOOST_TEST((found("Appendix A", "004 Appendix A.2, Eq 22") && !found("Appendix B", "004 Appendix A.2")));
}

BOOST_AUTO_TEST_CASE(words_begin_words_and_separators_do_not_matter) {
  BOOST_TEST((found("delta rule", "000 Eq 1", "A delta-rule step.") && found("delt", "000 Eq 1", "The Delta")));
  BOOST_TEST((!found("delta rule", "000 Eq 1", "a delta") && !found("elta", "000 Eq 1", "a delta")));
  BOOST_TEST((found("delta 004", "004 Eq 1", "delta") && !found("delta 003", "004 Eq 1", "delta")));
  BOOST_TEST(found("some claim", "000 Eq 1")); // matches the claim's name
}

BOOST_AUTO_TEST_CASE(the_best_fit_comes_first) {
  std::vector<Claim> all{claim("000 Eq 1"), claim("000 Eq 2", "of a widget"), claim("000 Eq 3", "none")};
  all[0].explanation = "a widget", all[2].id = "widget";
  const auto order = search_claims(all, parse_claim_query("widget"));
  BOOST_TEST_REQUIRE(order.size() == 3u);
  BOOST_TEST((order[0] == &all[2] && order[1] == &all[1] && order[2] == &all[0]));
}

BOOST_AUTO_TEST_CASE(what_follows_from_a_statement_comes_after_it) {
  const std::vector<Claim> all{claim("004 Proposition 2 (derived)"), claim("004 Proposition 2, proof")};
  const auto order = search_claims(all, parse_claim_query("Prop 2"));
  BOOST_TEST_REQUIRE(order.size() == 2u);
  BOOST_TEST((order[0] == &all[1] && order[1] == &all[0]));
}

BOOST_AUTO_TEST_CASE(anything_is_a_query) {
  for (const char *text : {"", "§", "Eq", "Eq.", "((((", "Eq 5-", "00", "-", "Eq 99999999999-999999999999"})
    BOOST_CHECK_NO_THROW(parse_claim_query(text));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
