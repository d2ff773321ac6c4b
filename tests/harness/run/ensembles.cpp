// SPDX-License-Identifier: Apache-2.0
#include "harness/run/ensembles.hpp"
#include "tests/runs.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(ensembles)

double seed_of(const Case &c) { return double(c.seed); }

BOOST_AUTO_TEST_CASE(cases_that_differ_in_their_seed_are_one) {
  const auto all = ensembles_of(made_up(recall_of({"linear", "delta_net"}, 3, {{"n", "4,8"}}), seed_of));
  BOOST_TEST_REQUIRE(all.size() == 4u);
  const Ensemble &first = all[0];
  BOOST_TEST((first.task == "recall" && first.headline == "accuracy" && first.larger_is_better));
  BOOST_TEST((values_of(first, "accuracy") == std::vector<double>{1, 2, 3}));
  BOOST_TEST((values_of(first, "mse") == std::vector<double>{2, 4, 6}));
  BOOST_TEST(values_of(first, "none").empty());
  BOOST_TEST(first.chance == 0.25);
  BOOST_TEST(first.state_bytes == 32 * 32 * 8);
}

BOOST_AUTO_TEST_CASE(trials_are_left_out_and_values_that_are_not_finite_kept) {
  RunRequest request = recall_of({"softmax"}, 2, {{"n", "4"}});
  request.tune = true;
  const auto all = ensembles_of(made_up(request, [](const Case &c) { return c.seed == 2 ? NAN : 1; }));
  BOOST_TEST_REQUIRE(all.size() == 1u);
  BOOST_TEST(all[0].setting == "tuned");
  BOOST_TEST_REQUIRE(values_of(all[0], "accuracy").size() == 2u);
  BOOST_TEST(std::isnan(values_of(all[0], "accuracy")[1]));
}

BOOST_AUTO_TEST_CASE(seeds_are_paired_by_number) {
  Ensemble a, b;
  a.values["x"] = {{1, 10}, {2, 20}, {5, 50}}, b.values["x"] = {{5, 55}, {2, 22}, {7, 77}};
  const SharedSeeds shared = shared_seeds(a, b, "x");
  BOOST_TEST((shared.first == std::vector<double>{20, 50} && shared.second == std::vector<double>{22, 55}));
  BOOST_TEST(shared_seeds(a, b, "y").first.empty());
}

BOOST_AUTO_TEST_CASE(what_is_swept_is_what_differs) {
  const auto all = ensembles_of(
      made_up(recall_of({"linear", "delta_net"}, 1, {{"n", "4,8"}, {"d", "16"}, {"linear.scale", "1,2"}}), seed_of));
  const Swept swept(all);
  for (const Ensemble &e : all) {
    BOOST_TEST(swept.of_task(e).size() == 1u);
    BOOST_TEST(swept.of_task(e).count("n") == 1u);
    BOOST_TEST(swept.of_variant(e).size() == (e.variant == "linear" ? 1u : 0u));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
