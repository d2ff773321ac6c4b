// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/json_ld.hpp"
#include "harness/command_line/evidence.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/claim_version.hpp"
#include "harness/core/papers.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace recollect {
namespace {

using json = nlohmann::ordered_json;

/// A named value. Infinities and NaN, which JSON does not have, become texts.
json property(const std::string &name, double value) {
  return {
      {"@type", "PropertyValue"}, {"name", name}, {"value", std::isfinite(value) ? json(value) : json(number(value))}};
}
json property(const std::string &name, const std::string &value) {
  return {{"@type", "PropertyValue"}, {"name", name}, {"value", value}};
}

json paper_of(const Claim &c) {
  const std::string word = c.source.substr(0, c.source.find(' '));
  json paper{{"@type", "ScholarlyArticle"}, {"identifier", word}};
  for (const Paper &known : all_papers())
    if (known.number == word) {
      paper["name"] = known.title;
      if (!known.arxiv.empty()) paper["url"] = "https://arxiv.org/abs/" + known.arxiv;
    }
  return paper;
}

/// The statement as the paper makes it, and its place in the paper.
json claim_node(const Claim &c) {
  const size_t space = c.source.find(' ');
  json appearance = paper_of(c);
  if (space != std::string::npos)
    appearance = {{"@type", "CreativeWork"}, {"name", c.source.substr(space + 1)}, {"isPartOf", appearance}};
  json claim{{"@id", "#" + address_of(c)},
             {"@type", "Claim"},
             {"identifier", address_of(c)},
             {"text", unmarked(c.statement)},
             {"appearance", appearance}};
  if (const int version = version_of(c)) claim["version"] = version;
  return claim;
}

/// A point of a claim: measured value, prediction, relation, tolerance and parameters, each as a PropertyValue.
json point_node(const std::string &name, const Point &p) {
  json values = json::array({property("measured", p.measured), property("predicted", p.predicted),
                             property("relation", name_of(p.relation)), property("tolerance", p.tolerance)});
  if (p.standard_error > 0) values.push_back(property("standard error", p.standard_error));
  for (const auto &[parameter, value] : p.params)
    values.push_back(value.text.empty() ? property(parameter, value.number) : property(parameter, value.text));
  return {{"@type", "PropertyValue"}, {"name", name}, {"value", p.params.str()}, {"valueReference", values}};
}

/// The counter-example, if there is one. Otherwise, of the points that decided the verdict, the one that exceeds its
/// own tolerance most or comes nearest to it.
json evidence(const Finding &f) {
  if (const Point *example = counter_example(f)) return point_node("counter-example", *example);
  for (Role role : {Role::statement, Role::obligation})
    if (const Point *point = tightest(f, role)) return point_node("point nearest to its tolerance", *point);
  return nullptr;
}

json review_node(const Reviewed &reviewed, const Facts &meta) {
  const Finding &f = reviewed.finding;
  const Claim &c = *f.claim;
  const std::string start = fact(meta, "start_utc");
  const std::string at = reviewed.protocol.point ? "/" + reviewed.protocol.point->str() : "";
  json review{{"@id", "#review/" + address_of(c) + at},
              {"@type", "ClaimReview"},
              {"itemReviewed", {{"@id", "#" + address_of(c)}}},
              {"claimReviewed", unmarked(c.statement)},
              {"author", {{"@type", "Organization"}, {"name", "The recollect developers"}}},
              {"datePublished", start.substr(0, 10)},
              {"reviewRating", {{"@type", "Rating"}, {"alternateName", qualified(f.verdict, c)}}},
              {"reviewBody", unmarked(c.explanation)}};
  if (!c.exact.empty()) review[f.verdict == Verdict::refuted ? "correction" : "abstract"] = unmarked(c.exact);
  if (const json shown = evidence(f); !shown.is_null()) review["additionalProperty"] = shown;
  if (f.tested())
    review["prov:wasGeneratedBy"] = {{"@type", json::array({"CreateAction", "prov:Activity"})},
                                     {"name", repeat_command(c, reviewed.protocol)},
                                     {"instrument", {{"@id", "#recollect"}}},
                                     {"startTime", start}};
  return review;
}

json program_node(const Facts &meta) {
  return {{"@id", "#recollect"},
          {"@type", json::array({"SoftwareApplication", "prov:SoftwareAgent"})},
          {"name", "recollect"},
          {"softwareVersion", fact(meta, "version") + ", commit " + fact(meta, "git_commit") +
                                  (fact(meta, "git_dirty") == "true" ? " with uncommitted changes" : "")}};
}

} // namespace

std::string findings_json_ld(const std::vector<Reviewed> &findings, const Facts &meta) {
  json graph = json::array({program_node(meta)});
  for (const Reviewed &reviewed : findings) {
    const json claim = claim_node(*reviewed.finding.claim);
    if (std::find(graph.begin(), graph.end(), claim) == graph.end())
      graph.push_back(claim); // several findings may be about one claim: one per --point
    graph.push_back(review_node(reviewed, meta));
  }
  const json context{{"@vocab", "https://schema.org/"}, {"prov", "http://www.w3.org/ns/prov#"}};
  return json{{"@context", context}, {"@graph", graph}}.dump(2) + "\n";
}

} // namespace recollect
