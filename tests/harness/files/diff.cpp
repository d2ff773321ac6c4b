// SPDX-License-Identifier: Apache-2.0
// Merged shards equal the file of one process, and diff finds exactly the real differences.
#include "harness/files/diff.hpp"
#include "harness/core/error.hpp"
#include "harness/run/plan.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(diff_and_merge)

std::vector<Case> plan_of(int seeds) {
  RunRequest request;
  request.variants = {"linear", "softmax"}, request.tasks = {"recall"}, request.seeds = seeds;
  return make_plan(request);
}

Record record_of(const Case &c, double mse, const std::string &status = "ok") {
  Record r;
  r.case_index = c.index, r.status = status, r.score.metrics = {{"mse", mse}};
  r.score.series["mse_by_step"] = {mse, mse};
  return r;
}

Results with(double shift, const std::string &status = "ok", int part = 0, int parts = 1) {
  const std::vector<Case> plan = plan_of(4);
  Results r = Results::planned(plan, {{"seed", "1"}});
  for (const Case &c : plan)
    if (c.index % parts == part) r.add(record_of(c, 1 + 0.1 * double(c.seed) + shift, status));
  return r;
}

bool same_tables(const Results &a, const Results &b) {
  if (a.tables().size() != b.tables().size()) return false;
  for (size_t i = 0; i < a.tables().size(); ++i)
    if (!(a.tables()[i] == b.tables()[i])) return false;
  return true;
}

BOOST_AUTO_TEST_CASE(shards_join_to_the_whole_in_any_order) {
  const std::vector<std::string> names{"a", "b", "c"};
  const Results whole = with(0),
                joined = Results::merged({with(0, "ok", 2, 3), with(0, "ok", 0, 3), with(0, "ok", 1, 3)}, names);
  BOOST_TEST(same_tables(whole, joined));
  BOOST_TEST(joined.missing() == 0u);
  BOOST_TEST(Results::merged({with(0, "ok", 0, 3), with(0, "ok", 1, 3)}, names).missing() == 2u);
  BOOST_CHECK_THROW(Results::merged({with(0, "ok", 0, 3), with(0, "ok", 0, 3)}, names), Error); // the same case twice
  BOOST_CHECK_THROW(Results::merged({with(0, "ok", 0, 2), Results::planned(plan_of(3), {{"seed", "1"}})}, names),
                    Error);
}

BOOST_AUTO_TEST_CASE(metrics_differ_beyond_their_errors_only) {
  BOOST_TEST(diff(with(0), with(0)).changes.empty());
  BOOST_TEST(diff(with(0), with(0)).compared == 8u + 2u); // statuses of 8 cases, the metric of 2
  BOOST_TEST(diff(with(0), with(0.3)).changes.empty());   // seeds 1 ... 4 spread by 0.065, so 6.47 errors are 0.59
  const Difference d = diff(with(0), with(1));
  BOOST_TEST_REQUIRE(d.changes.size() == 2u);
  BOOST_TEST((d.worse() && d.changes[0].kind == "metric" && d.changes[0].before.find("1.25 +- ") == 0));
}

BOOST_AUTO_TEST_CASE(a_case_that_fails_is_worse) {
  const Difference d = diff(with(0), with(0, "failed"));
  BOOST_TEST(d.worse());
  BOOST_TEST(!diff(with(0, "failed"), with(0)).worse());
}

Results verdicts_of(std::vector<std::pair<std::string, bool>> claims) {
  std::vector<Claim> all(claims.size());
  std::vector<Measurement> plan;
  for (size_t i = 0; i < claims.size(); ++i) all[i].id = claims[i].first, plan.push_back({&all[i], {}});
  Results r = Results::planned(plan, {});
  for (size_t i = 0; i < claims.size(); ++i) {
    Finding f;
    f.claim = &all[i], f.passed = claims[i].second;
    f.verdict = claims[i].second ? Verdict::holds : Verdict::refuted;
    r.add(i, f);
  }
  return r;
}

BOOST_AUTO_TEST_CASE(verdicts_that_change_are_reported_and_gate) {
  const Results good = verdicts_of({{"a", true}, {"b", true}}), bad = verdicts_of({{"a", true}, {"b", false}});
  BOOST_TEST(diff(good, good).changes.empty());
  BOOST_TEST(diff(good, bad).worse());
  BOOST_TEST(diff(good, bad).changes[0].after == "refuted (failed)");
  BOOST_TEST((!diff(bad, good).worse() && diff(bad, good).changes.size() == 1)); // it is now as expected
  BOOST_TEST(diff(good, verdicts_of({{"a", true}})).worse());                    // one claim is gone
  BOOST_TEST(!diff(verdicts_of({{"a", true}}), good).worse());                   // a new claim that passes
  BOOST_TEST(diff(verdicts_of({{"a", true}}), bad).worse());                     // a new claim that fails
  const std::string page = as_markdown(diff(good, bad));
  BOOST_TEST(page.find("| ! | verdict | b | holds | refuted (failed) |") != std::string::npos);
  BOOST_TEST(as_text(diff(good, bad)).find("! verdict b: holds -> refuted (failed)\n") == 0u);
}

BOOST_AUTO_TEST_CASE(what_is_worse_comes_first) {
  const Results before = verdicts_of({{"a", false}, {"b", true}}), after = verdicts_of({{"a", true}, {"b", false}});
  BOOST_TEST(as_text(diff(before, after)) == "! verdict b: holds -> refuted (failed)\n"
                                             "  verdict a: refuted (failed) -> holds\n"
                                             "2 compared, 2 changed, 1 to look at\n");
}

BOOST_AUTO_TEST_CASE(another_verdict_is_worse_though_both_were_expected) { // somebody changed the expected verdict
  const auto passing = [](Verdict verdict) {
    Claim claim;
    claim.id = "a";
    Results r = Results::planned({{&claim, {}}}, {});
    Finding f;
    f.claim = &claim, f.verdict = verdict, f.passed = true;
    r.add(0, f);
    return r;
  };
  const Difference d = diff(passing(Verdict::holds), passing(Verdict::holds_asymptotically));
  BOOST_TEST((d.changes.size() == 1 && d.worse()));
}

/// Samples of one kernel, a little apart.
Results timed_at(double seconds) {
  Table bench{"bench", {{"row", Kind::integer}, {"source", Kind::text}, {"name", Kind::text}}, {}},
      samples{"bench_samples", {{"row", Kind::integer}, {"seconds", Kind::real}}, {}};
  bench.add(0, "recollect", "linear"), bench.add(1, "recollect", "softmax");
  for (int i = -4; i <= 4; ++i) samples.add(0, seconds * (1 + 1e-3 * i)), samples.add(1, 1 + 1e-3 * i);
  return Results::of({bench, samples}, {});
}

BOOST_AUTO_TEST_CASE(times_differ_by_a_tenth_and_more) {
  BOOST_TEST((diff(timed_at(1), timed_at(1.09)).changes.empty() && diff(timed_at(1), timed_at(1.09)).compared == 2));
  for (const auto &[seconds, worse] : {std::pair{1.25, true}, {0.75, false}}) {
    const Difference d = diff(timed_at(1), timed_at(seconds));
    BOOST_TEST_REQUIRE(d.changes.size() == 1u);
    const Change &c = d.changes[0];
    BOOST_TEST((c.kind == "time" && c.what == "recollect linear" && c.worse == worse && c.before == "1000 ms"));
    BOOST_TEST(c.after == (worse ? "1250 ms" : "750 ms"));
  }
}

/// A metric of one case, seed by seed.
Results metrics_of(const std::vector<double> &values) {
  const std::vector<Case> plan = plan_of(int(values.size()));
  Results r = Results::planned(plan, {});
  for (const Case &c : plan)
    if (c.variant->name == "linear") r.add(record_of(c, values[size_t(c.seed - 1)]));
  return r;
}

BOOST_AUTO_TEST_CASE(a_metric_that_is_no_number_differs_from_one_that_is) {
  const double none = std::nan("");
  BOOST_TEST(diff(metrics_of({none}), metrics_of({none})).changes.empty());
  BOOST_TEST((diff(metrics_of({none}), metrics_of({1})).changes.size() == 1));
  BOOST_TEST((diff(metrics_of({1}), metrics_of({none})).changes.size() == 1));
}

BOOST_AUTO_TEST_CASE(one_seed_has_no_error) { // so that any change beyond rounding is one
  const Difference d = diff(metrics_of({1}), metrics_of({1.01}));
  BOOST_TEST_REQUIRE(d.changes.size() == 1u);
  BOOST_TEST((d.changes[0].before == "1" && d.changes[0].after == "1.01"));
  BOOST_TEST(diff(metrics_of({1}), metrics_of({1, 1})).changes.empty() == false); // a case more
}

BOOST_AUTO_TEST_CASE(a_file_of_another_kind_has_nothing_to_compare) { // so nothing is gone, and nothing new
  const Difference d = diff(timed_at(1), with(0));
  BOOST_TEST((d.changes.empty() && d.compared == 0));
  BOOST_TEST((diff(with(0), timed_at(1)).changes.empty()));
}

BOOST_AUTO_TEST_CASE(a_plan_without_a_number_for_each_seed_is_refused) { // found by tests/fuzz/results.cpp
  const auto with_seeds = [](const std::string &name, Kind kind, const Cell &seed) {
    return Results::of({{"plan",
                         {{"case", Kind::integer},
                          {"task", Kind::text},
                          {"variant", Kind::text},
                          {"form", Kind::text},
                          {"real", Kind::text},
                          {"chunk", Kind::integer},
                          {name, kind}},
                         {{std::int64_t(0), "recall", "linear", "chunked", "f64", std::int64_t(64), seed}}},
                        {"records", {{"case", Kind::integer}, {"status", Kind::text}}, {{std::int64_t(0), "ok"}}}},
                       {});
  };
  for (const Results &r : {with_seeds("seed", Kind::whole, std::uint64_t(1)),
                           with_seeds("seed", Kind::integer, std::int64_t(-1))}) // as old files have it
    BOOST_TEST(diff(r, r).compared == 1u);
  for (const Results &r : {with_seeds("Seed", Kind::whole, std::uint64_t(1)), with_seeds("seed", Kind::real, 1.0)})
    BOOST_CHECK_THROW(diff(r, r), Error);
}

BOOST_AUTO_TEST_CASE(markdown_escapes_what_it_would_read_as_its_own) {
  const Difference d = diff(verdicts_of({{"a|<b>&", true}}), verdicts_of({{"a|<b>&", false}}));
  BOOST_TEST(as_markdown(d).find("| verdict | a\\|&lt;b>&amp; | holds | refuted (failed) |") != std::string::npos);
  BOOST_TEST(as_markdown(diff(with(0), with(0))) == "**10 compared, 0 changed, 0 to look at**\n");
  const Difference fresh = diff(verdicts_of({{"a", true}}), verdicts_of({{"a", true}, {"b", false}}));
  BOOST_TEST(as_markdown(fresh).find("| ! | new | b | - | refuted (failed) |") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(settings_give_every_combination_once) {
  RunRequest request;
  request.variants = {"linear", "softmax"}, request.tasks = {"recall"};
  request.settings = {{"n", "8:32:*2"}, {"softmax.scale", "4,8"}};
  const auto plan = make_plan(request);
  BOOST_TEST(plan.size() == 3u + 6u); // linear has no softmax.scale, so its case is not repeated
  for (size_t i = 0; i < plan.size(); ++i) BOOST_TEST(plan[i].index == int(i));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
