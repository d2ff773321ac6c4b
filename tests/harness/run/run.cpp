// SPDX-License-Identifier: Apache-2.0
#include "harness/run/run.hpp"
#include "harness/system/memory.hpp"
#include "tests/testing.hpp"
#include <new>
#include <stdexcept>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(run)

Case one_case(const Task &task) {
  RunRequest request;
  request.variants = {"linear"}, request.tasks = {"recall"};
  Case c = make_plan(request).front();
  c.task = &task;
  return c;
}

BOOST_AUTO_TEST_CASE(a_case_is_scored_and_timed) {
  const Record r = run_case(one_case(find_task("recall")), 1, 3);
  BOOST_TEST((r.status == "ok" && r.reason.empty()));
  BOOST_TEST(r.score.metrics[0].first == "mse");
  BOOST_TEST(r.seconds.size() == 3u);
  for (double seconds : r.seconds) BOOST_TEST(seconds > 0);
}

BOOST_AUTO_TEST_CASE(launches_to_warm_up_are_not_timed) {
  int launches = 0;
  Variant counting = find_variant("linear");
  counting.forms[0].f64 = [&launches, kernel = counting.forms[0].f64](const Call<double> &call) {
    ++launches, kernel(call);
  };
  Case c = one_case(find_task("recall"));
  c.variant = &counting, c.form = &counting.forms[0], c.real = Real::f64;
  const Record r = run_case(c, 4, 3);
  BOOST_TEST((r.status == "ok" && r.seconds.size() == 3 && launches == 4 + 3));
}

BOOST_AUTO_TEST_CASE(what_goes_wrong_is_in_the_record) {
  Task task = find_task("recall");
  task.score = [](const Params &, const Problem &, const Output &) -> Score { throw std::runtime_error("no score"); };
  BOOST_TEST(
      (run_case(one_case(task), 0, 1).status == "failed" && run_case(one_case(task), 0, 1).reason == "no score"));
  task.meaningless = [](const Variant &, const Params &) { return std::string("it says nothing"); };
  BOOST_TEST(run_case(one_case(task), 0, 1).status == "meaningless");
  BOOST_TEST(run_case(one_case(task), 0, 1).reason == "it says nothing");
}

BOOST_AUTO_TEST_CASE(a_lack_of_memory_says_nothing_about_the_case) {
  Task task = find_task("recall");
  task.generate = [](const Params &, std::uint64_t) -> Problem { throw std::bad_alloc(); };
  BOOST_CHECK_THROW(run_case(one_case(task), 0, 1), std::bad_alloc);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_skipped_before_anything_is_generated) {
  Task task = find_task("recall");
  int generated = 0;
  task.generate = [&](const Params &p, std::uint64_t seed) {
    return ++generated, find_task("recall").generate(p, seed);
  };
  const Case c = one_case(task);
  const std::uint64_t needed = memory_needed(*c.variant, task.shape(c.task_params), c.variant_params, c.real);
  set_memory_limit(needed - 1);
  const Record over = run_case(c, 0, 1);
  const int before = generated;
  set_memory_limit(needed);
  const Record within = run_case(c, 0, 1);
  set_memory_limit(0);
  BOOST_TEST((over.status == "skipped" && before == 0));
  BOOST_TEST(over.reason ==
             "needs " + std::to_string(needed) + " bytes, --memory allows " + std::to_string(needed - 1));
  BOOST_TEST((over.shape.T > 1 && over.state_bytes > 0)); // the reason names what was too large
  BOOST_TEST((within.status == "ok" && generated == 1));
}

BOOST_AUTO_TEST_CASE(a_head_carries_its_state_or_every_pair) {
  const Variant &linear = find_variant("linear"), &softmax = find_variant("softmax");
  const Shape shape{2, 3, 16, 8, 4};
  BOOST_TEST(state_bytes(linear, shape, variant_params(linear), Real::f64) == 8 * 4 * 8);
  BOOST_TEST(state_bytes(linear, shape, variant_params(linear), Real::f32) == 4 * 4 * 8);
  BOOST_TEST(state_bytes(softmax, shape, variant_params(softmax), Real::f64) == 8 * 16 * (8 + 4));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
