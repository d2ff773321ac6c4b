// SPDX-License-Identifier: Apache-2.0
// Compared with a document written by hand. In tests/files/test_linked_data.py a JSON-LD library reads what the program
// writes.
#include "harness/command_line/json_ld.hpp"
#include "tests/testing.hpp"
#include <nlohmann/json.hpp>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(json_ld)

using nlohmann::json;

const Facts meta{
    {"version", "9"}, {"git_commit", "abc"}, {"git_dirty", "false"}, {"start_utc", "2026-01-02T03:04:05Z"}};

BOOST_AUTO_TEST_CASE(a_refuted_claim_as_written_by_hand) {
  Claim c;
  c.id = "x", c.source = "000 Eq 7, App A", c.statement = "it is $n$", c.exact = "it is 2", c.explanation = "because";
  c.expected = Verdict::refuted, c.scope = Scope::paper;
  Params n;
  n.set("n", 4);
  Point p;
  p.role = Role::statement, p.params = n, p.measured = 2, p.predicted = 4, p.tolerance = 0.5,
  p.verdict = Verdict::refuted;
  Finding f;
  f.claim = &c, f.points = {p}, f.verdict = Verdict::refuted, f.passed = true;
  const json expected = json::parse(R"json({
    "@context": {"@vocab": "https://schema.org/", "prov": "http://www.w3.org/ns/prov#"},
    "@graph": [
      {"@id": "#recollect", "@type": ["SoftwareApplication", "prov:SoftwareAgent"], "name": "recollect",
       "softwareVersion": "9, commit abc"},
      {"@id": "#000/x", "@type": "Claim", "identifier": "000/x", "text": "it is n",
       "appearance": {"@type": "CreativeWork", "name": "Eq 7, App A", "isPartOf":
         {"@type": "ScholarlyArticle", "identifier": "000", "url": "https://arxiv.org/abs/2505.19488",
          "name": "Understanding Transformer from the Perspective of Associative Memory"}}},
      {"@id": "#review/000/x", "@type": "ClaimReview", "itemReviewed": {"@id": "#000/x"}, "claimReviewed": "it is n",
       "author": {"@type": "Organization", "name": "The recollect developers"}, "datePublished": "2026-01-02",
       "reviewRating": {"@type": "Rating", "alternateName": "refuted (paper)"}, "reviewBody": "because",
       "correction": "it is 2",
       "additionalProperty": {"@type": "PropertyValue", "name": "counter-example", "value": "n=4", "valueReference": [
         {"@type": "PropertyValue", "name": "measured", "value": 2.0},
         {"@type": "PropertyValue", "name": "predicted", "value": 4.0},
         {"@type": "PropertyValue", "name": "relation", "value": "equal"},
         {"@type": "PropertyValue", "name": "tolerance", "value": 0.5},
         {"@type": "PropertyValue", "name": "n", "value": 4.0}]},
       "prov:wasGeneratedBy": {"@type": ["CreateAction", "prov:Activity"], "name": "recollect verify x --seed 1",
         "instrument": {"@id": "#recollect"}, "startTime": "2026-01-02T03:04:05Z"}}]})json");
  BOOST_TEST(json::parse(findings_json_ld({{f, {}}}, meta)) == expected);
}

BOOST_AUTO_TEST_CASE(two_points_of_one_claim_are_two_reviews_of_it) {
  const Claim &c = find_claim("snr_exp");
  Finding f;
  f.claim = &c;
  Protocol first, second;
  first.point.emplace().set("d", 4), second.point.emplace().set("d", 8);
  const json graph = json::parse(findings_json_ld({{f, first}, {f, second}}, meta)).at("@graph");
  BOOST_TEST_REQUIRE(graph.size() == 4u);
  BOOST_TEST(
      (graph.at(1).at("version").is_number() && graph.at(1).at("@id") == graph.at(2).at("itemReviewed").at("@id")));
  BOOST_TEST((graph.at(2).at("@id") != graph.at(3).at("@id")));
}

BOOST_AUTO_TEST_CASE(what_was_not_tested_names_no_run) {
  Claim c;
  c.id = "x", c.source = "000 Eq 7", c.expected = Verdict::not_tested, c.reason = Reason::needs_gpu;
  Finding f;
  f.claim = &c, f.verdict = Verdict::not_tested;
  const json review = json::parse(findings_json_ld({{f, {}}}, meta)).at("@graph").at(2);
  BOOST_TEST((!review.contains("prov:wasGeneratedBy") && !review.contains("additionalProperty")));
  BOOST_TEST(review.at("reviewRating").at("alternateName") == "not_tested (needs_gpu)");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
