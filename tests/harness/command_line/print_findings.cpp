// SPDX-License-Identifier: Apache-2.0
// The summary by scope comes first on the terminal; failures show the reason.
#include "harness/command_line/print.hpp"
#include "tests/testing.hpp"
#include <sstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(print)

Claim expecting(Verdict verdict, Scope scope = Scope::none, Reason reason = Reason::none) {
  Claim c;
  c.id = "x", c.expected = verdict, c.scope = scope, c.reason = reason;
  return c;
}

/// A statement that predicts `stated` and measures 1, and a rival that predicts 3.
std::vector<Point> measured_one(double stated) {
  const Point p = exact_point(1, stated, 4);
  return {as_statement(p, {}, "as printed"), rival_law(p, "three", 3)};
}

std::string printed(const std::vector<Finding> &findings, bool every_point = false) {
  std::ostringstream out;
  print_findings(out, findings, every_point);
  return out.str();
}

BOOST_AUTO_TEST_CASE(what_was_found_comes_first_by_scope) {
  Claim layer = expecting(Verdict::holds);
  layer.variants = {"linear"};
  const Claim holds = expecting(Verdict::holds), refuted = expecting(Verdict::refuted, Scope::paper),
              boundary = expecting(Verdict::refuted, Scope::boundary), typo = expecting(Verdict::refuted, Scope::typo),
              untrained = expecting(Verdict::refuted, Scope::untrained),
              untested = expecting(Verdict::not_tested, Scope::none, Reason::needs_training),
              vague = expecting(Verdict::not_tested, Scope::none, Reason::under_specified);
  std::vector<Finding> findings{conclude(holds, measured_one(1)),
                                conclude(layer, measured_one(1)),
                                conclude(holds, measured_one(2)),
                                conclude(untested, {}),
                                conclude(vague, {}),
                                conclude(untested, {})};
  for (const Claim *c : {&refuted, &boundary, &typo, &untrained}) findings.push_back(conclude(*c, measured_one(2)));
  const std::string text = printed(findings);
  BOOST_TEST(text.substr(0, text.find("\n\n")) == "2 statements hold\n"
                                                  "1 refuted as asserted\n"
                                                  "1 refuted in a stricter reading\n"
                                                  "1 typo\n"
                                                  "1 effect of training, absent without it\n"
                                                  "3 not tested (2 needs_training, 1 under_specified)\n"
                                                  "1 FAILED: not as expected\n"
                                                  "tested on: 6 algebra, 1 layer");
  BOOST_TEST(text.find("\n6 passed, 1 failed\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_condition_is_named) {
  Claim claim = expecting(Verdict::holds_under);
  claim.condition = "keys $k$ are unit";
  std::vector<Point> points = measured_one(2);
  points.push_back(as_condition(exact_point(1, 1, 4), {}, "$|k| = 1$"));
  const std::string text = printed({conclude(claim, points)}, true);
  BOOST_TEST(text.substr(0, text.find('\n')) == "1 holds under a condition");
  BOOST_TEST(text.find("if keys k are unit") != std::string::npos);
  BOOST_TEST(text.find("condition |k| = 1") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_point_nearest_to_its_tolerance_stands_for_a_claim) {
  const Claim claim = expecting(Verdict::holds);
  const Point loose = bracketed_point(31, 31.5, 1), tight = bracketed_point(32, 32.09, 0.1),
              beyond = bracketed_point(33, 33.2, 0.1), said = as_statement(bracketed_point(34, 34, 1), {}),
              rival = rival_law(loose, "far", 99);
  const auto shown = [&](std::vector<Point> points) {
    points.push_back(rival);
    const std::string text = printed({conclude(claim, points)});
    std::istringstream row(text.substr(text.find("\nx ")));
    std::string id, measured;
    row >> id >> measured;
    return measured;
  };
  BOOST_TEST(shown({loose, tight}) == "32"); // not the one that is further off
  BOOST_TEST(shown({tight, loose}) == "32");
  BOOST_TEST(shown({tight, beyond, loose}) == "33"); // failures first
  BOOST_TEST(shown({tight, said}) == "34");          // the paper's own statement before others
}

std::string row_of_x(const std::string &text) {
  const size_t start = text.find("\nx ") + 1;
  return text.substr(start, text.find('\n', start) - start);
}

BOOST_AUTO_TEST_CASE(verify_and_explain_show_the_same_counter_example) {
  const auto point = [](double n, double measured) {
    Params params;
    params.set("n", n);
    return as_statement(exact_point(measured, 5, 1), params);
  };
  const Claim claim = expecting(Verdict::refuted, Scope::paper);
  const Finding finding = conclude(claim, {point(8, 900), point(4, 7), rival_law(exact_point(1, 2, 1), "far", 9)});
  std::ostringstream explained;
  explain(explained, claim, &finding, {{"seed", "1"}, {"version", "1"}, {"git_commit", "0"}});
  BOOST_TEST(explained.str().find("shown by    7 against 5 at n=4") != std::string::npos, explained.str());
  std::istringstream row(row_of_x(printed({finding})));
  std::string id, measured;
  row >> id >> measured;
  BOOST_TEST(measured == "7"); // not the one that is further off
}

BOOST_AUTO_TEST_CASE(a_claim_that_fails_says_where_in_its_own_row) {
  const Claim holds = expecting(Verdict::holds), refuted = expecting(Verdict::refuted, Scope::paper);
  const auto at = [](const char *variant, double chunk) {
    return Params().set("variant", variant).set("form", "chunked").set("C", chunk);
  };
  const Point good = exact_point(1, 1, 4), bad = exact_point(1, 2, 4), worse = exact_point(1, 5, 4);
  const Point rival = rival_law(good, "three", 3);
  // An obligation fails: the row shows the worst of several points with its numbers, even if the statement is refuted
  // as expected.
  const std::vector<Point> broken{as_statement(exact_point(1, 9, 4), at("linear", 8), "as printed"),
                                  as_obligation(good, at("linear", 16)), as_obligation(bad, at("rls", 32)),
                                  as_obligation(worse, at("delta_net", 64)), rival};
  const std::string row = row_of_x(printed({conclude(refuted, broken)}));
  for (const char *part : {"FAILED: obligation", "variant=delta_net", "form=chunked", "C=64", " 5 "})
    BOOST_TEST(row.find(part) != std::string::npos, part << " in " << row);
  // The statement's verdict is not as expected.
  const std::string stated = row_of_x(
      printed({conclude(holds, {as_statement(bad, at("vla", 4), "as printed"), as_obligation(good, {}), rival})}));
  for (const char *part : {"FAILED: statement as printed", "variant=vla", "C=4"})
    BOOST_TEST(stated.find(part) != std::string::npos, part << " in " << stated);
  BOOST_TEST(row_of_x(printed({conclude(holds, measured_one(1))})).find("FAILED") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_scope_stands_beside_its_verdict) {
  const Claim boundary = expecting(Verdict::refuted, Scope::boundary),
              untested = expecting(Verdict::not_tested, Scope::none, Reason::needs_training);
  BOOST_TEST(row_of_x(printed({conclude(boundary, measured_one(2))})).find("refuted (boundary)") != std::string::npos);
  BOOST_TEST(row_of_x(printed({conclude(untested, {})})).find("not_tested (needs_training)") != std::string::npos);
  BOOST_TEST(outcome_name(conclude(boundary, measured_one(2))) == "boundary");
  BOOST_TEST(outcome_name(conclude(boundary, measured_one(1))) == "failed");
  BOOST_TEST(outcome_name(conclude(untested, {})) == "not_tested");
}

BOOST_AUTO_TEST_CASE(a_rival_that_is_not_refuted_is_named) {
  const Claim claim = expecting(Verdict::holds);
  std::vector<Point> points = measured_one(1);
  points.push_back(rival_law(exact_point(1, 1, 4), "the same again", 1));
  const std::string text = printed({conclude(claim, points)});
  BOOST_TEST(text.find("rival (law) the same again") != std::string::npos);
  BOOST_TEST(text.find("rival (law) three") == std::string::npos);
  BOOST_TEST(printed({conclude(claim, points)}, true).find("rival (law) three") != std::string::npos);
  points = {as_statement(exact_point(1, 1, 4), {})};
  BOOST_TEST(printed({conclude(claim, points)}).find("no rival") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
