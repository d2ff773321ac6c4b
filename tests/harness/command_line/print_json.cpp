// SPDX-License-Identifier: Apache-2.0
#include "build_config.hpp"
#include "harness/command_line/print.hpp"
#include "tests/testing.hpp"
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(print_json)

using nlohmann::json;

template <class Print, class List> json printed(const Print &print, const List &list) {
  std::ostringstream out;
  print(out, list);
  return json::parse(out.str());
}

BOOST_AUTO_TEST_CASE(lists_carry_what_the_descriptors_say) {
  const json layer = printed(print_variants_json, select_variants({"gla"})).at(0);
  BOOST_TEST((layer.at("name") == "gated_linear" && layer.at("aliases").at(0) == "gla"));
  BOOST_TEST(layer.at("traits").at("repeats") == "sum");
  const json task = printed(print_tasks_json, select_tasks({"recall"})).at(0);
  BOOST_TEST((task.at("metrics").at(0) == json{{"name", "accuracy"}, {"better", "larger"}}));
  for (const json &claim : printed(print_claims_json, select_claims({"all"}))) {
    BOOST_TEST(std::filesystem::exists(RECOLLECT_SOURCE_DIR "/" + claim.at("file").get<std::string>()));
    BOOST_TEST((claim.at("system") == "layer") == !claim.at("variants").empty());
  }
}

BOOST_AUTO_TEST_CASE(findings_keep_points_and_rivals_apart) {
  Claim c;
  c.id = "x", c.source = "000 Eq 7, App A", c.explanation = "why";
  const Point held = exact_point(1, 1, 4), bound = at_most_point(1, 4, 0);
  const Finding f =
      conclude(c, {as_statement(held, {}, "as $x_t$"), as_obligation(bound, {}), rival_law(held, "$n$ for $n - 1$", 2),
                   rival_system(exact_point(3, 1, 4), {}, "no erase")});
  const json claim = json::parse(findings_json({f})).at("claims").at(0);
  BOOST_TEST((claim.at("verdict") == "holds" && claim.at("outcome") == "holds" && claim.at("passed") == true &&
              claim.at("explanation") == "why"));
  BOOST_TEST((claim.at("paper") == "000" && claim.at("equation") == "Eq 7, App A"));
  BOOST_TEST((claim.at("points").size() == 2u && claim.at("rivals").size() == 2u));
  BOOST_TEST((claim.at("points").at(0).at("role") == "statement" && claim.at("points").at(0).at("label") == "as x_t"));
  BOOST_TEST(claim.at("points").at(1).at("sensitivity") == 0.25); // how tight the bound is
  const json law = claim.at("rivals").at(0), system = claim.at("rivals").at(1);
  BOOST_TEST((law.at("name") == "n for n - 1" && law.at("kind") == "law" && law.at("predicted") == 2.0));
  BOOST_TEST((system.at("kind") == "system" && system.at("measured") == 3.0 && system.at("verdict") == "refuted"));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
