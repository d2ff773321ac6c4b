// SPDX-License-Identifier: Apache-2.0
#include "harness/run/state_budget.hpp"
#include "harness/core/error.hpp"
#include "tests/runs.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(state_budget)

/// d and dv of the only case.
std::pair<int, int> widths(const std::string &variant, double bytes, const Assignments &settings = {},
                           Real real = Real::f64) {
  RunRequest request = recall_of({variant}, 1, settings);
  request.state_bytes = bytes, request.real = real;
  const std::vector<Case> plan = make_plan(request);
  return {plan.at(0).task_params.integer("d"), plan.at(0).task_params.integer("dv")};
}

BOOST_AUTO_TEST_CASE(widths_by_hand) {
  // linear: d^2 numbers of 8 bytes; softmax: n pairs of 2 d numbers; rls: S and P, 2 d^2.
  BOOST_TEST((widths("linear", 32768) == std::pair{64, 64}));
  BOOST_TEST((widths("linear", 32767) == std::pair{63, 63}));
  BOOST_TEST((widths("linear", 32768, {}, Real::f32) == std::pair{90, 90}));
  BOOST_TEST((widths("linear", 256, {{"dv", "1"}}, Real::bf16) == std::pair{64, 1})); // states of bf16 are float32
  BOOST_TEST((widths("softmax", 32768, {{"n", "32"}}) == std::pair{64, 64}));
  BOOST_TEST((widths("softmax", 32768, {{"n", "64"}}) == std::pair{32, 32}));
  BOOST_TEST((widths("rls", 32768) == std::pair{45, 45}));
}

BOOST_AUTO_TEST_CASE(a_width_that_is_set_stays) {
  BOOST_TEST((widths("linear", 32768, {{"d", "32"}}) == std::pair{32, 128}));
  BOOST_TEST((widths("linear", 32768, {{"dv", "16"}}) == std::pair{256, 16}));
  BOOST_CHECK_EXCEPTION(widths("linear", 32768, {{"d", "32"}, {"dv", "32"}}), Error,
                        [](const Error &e) { return e.code == exit_usage; });
}

BOOST_AUTO_TEST_CASE(every_layer_has_the_largest_widths_that_fit) {
  for (const Variant &v : all_variants()) {
    RunRequest request = recall_of({v.name}, 1);
    request.state_bytes = 4096;
    const Case c = make_plan(request).at(0);
    const auto bytes = [&](int width) {
      Params p = c.task_params;
      p.set("d", width).set("dv", width);
      const Shape shape = c.task->shape(p);
      return v.unsuitable && !v.unsuitable(shape, c.variant_params).empty()
                 ? 0
                 : state_bytes(v, shape, c.variant_params, c.real);
    };
    const int width = c.task_params.integer("d");
    if (width > 1) BOOST_TEST(bytes(width) <= 4096, v.name);
    for (int more = width + 1; more < width + 20; ++more) BOOST_TEST((bytes(more) == 0 || bytes(more) > 4096), v.name);
  }
}

BOOST_AUTO_TEST_CASE(a_state_that_never_fits_says_so) {
  RunRequest request = recall_of({"softmax"}, 1, {{"n", "100"}});
  request.state_bytes = 64;
  const Record record = run_case(make_plan(request).at(0), 0, 1);
  BOOST_TEST((record.status == "meaningless" && record.reason.find("1600 bytes") != std::string::npos), record.reason);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
