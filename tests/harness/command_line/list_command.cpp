// SPDX-License-Identifier: Apache-2.0
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <nlohmann/json.hpp>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(list_command)

BOOST_AUTO_TEST_CASE(every_kind_is_listed_whole) {
  const std::pair<const char *, size_t> kinds[] = {
      {"variants", all_variants().size()}, {"tasks", all_tasks().size()}, {"claims", all_claims().size()}};
  for (const auto &[kind, count] : kinds) {
    const Outcome o = run_program(std::string("list ") + kind + " --json");
    BOOST_TEST(o.status == 0, kind << ": " << o.err);
    BOOST_TEST(nlohmann::json::parse(o.out).size() == count, kind);
  }
}

BOOST_AUTO_TEST_CASE(names_select_and_describe) {
  const Outcome o = run_program("list variants linear 'gl[a]'");
  BOOST_TEST(o.status == 0);
  BOOST_TEST(o.out.find("variant     linear") != std::string::npos);
  BOOST_TEST(o.out.find("variant     gated_linear") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_layer_is_described_by_any_of_its_names) {
  for (const char *name : {"gdn", "Gated-DeltaNet", "gated_delta_net"}) {
    const Outcome o = run_program(std::string("list variants ") + name);
    BOOST_TEST(o.status == 0, name);
    BOOST_TEST(o.out.find("variant     gated_delta_net") != std::string::npos, name);
    BOOST_TEST(o.out.find("also called gdn, gated_deltanet, gated_delta_rule") != std::string::npos, name);
  }
  const Outcome o = run_program("list variants mqa");
  BOOST_TEST(o.status == 2);
  BOOST_TEST(o.err.find("no variant matches 'mqa': it is softmax with --kv-heads 1") != std::string::npos, o.err);
}

BOOST_AUTO_TEST_CASE(claims_are_chosen_by_paper_verdict_scope_and_words) {
  const auto ids = [](const std::string &filters) {
    const Outcome o = run_program("list claims --json " + filters);
    BOOST_TEST(o.status == 0, filters << ": " << o.err);
    return nlohmann::json::parse(o.out);
  };
  size_t expected = 0;
  for (const Claim &c : all_claims())
    expected += c.source.rfind("004", 0) == 0 && c.expected == Verdict::refuted && c.scope == Scope::paper;
  BOOST_TEST(expected > 10u);
  BOOST_TEST(ids("--paper 004 --verdict refuted --scope paper").size() == expected);
  BOOST_TEST(ids("--paper VLA --verdict Refuted --scope paper").size() == expected);
  const auto found = ids("--search 'delta rule'");
  BOOST_TEST((found.size() > 5 && found.size() < all_claims().size() / 2));
  for (const auto &c : found) BOOST_TEST(c.dump().find("elta") != std::string::npos, c.dump());
  BOOST_TEST(ids("--paper 002 --search '004 Prop 2'").empty());
  const std::pair<const char *, const char *> wrong[] = {{"claims --verdict maybe", "--verdict is one of holds"},
                                                         {"claims --paper 7", "no paper is called '7'"},
                                                         {"tasks --paper 004", "choose claims"},
                                                         {"claims --search zzz", "no claim passes"}};
  for (const auto &[words, said] : wrong) {
    const Outcome o = run_program(std::string("list ") + words);
    BOOST_TEST((o.status == 2 && o.err.find(said) != std::string::npos), o.err);
  }
}

BOOST_AUTO_TEST_CASE(a_symmetric_state_and_its_gradient_are_described) {
  for (const Variant &v : all_variants()) {
    const std::string text = run_program("list variants " + v.name).out;
    BOOST_TEST((text.find("symmetric " + v.symmetric + ": d_ij = d_ji") != std::string::npos) == !v.symmetric.empty(),
               v.name);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
