// SPDX-License-Identifier: Apache-2.0
#include "harness/run/compare.hpp"
#include "tests/runs.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(compare_layers)

/// delta_net is 0.1 better than linear on every seed; rls differs by chance.
double score(const Case &c) {
  const double seed = double(c.seed);
  if (c.variant->name == "rls") return c.seed % 2 ? 0.9 : 0.1;
  return (c.variant->name == "delta_net" ? 0.6 : 0.5) + 0.01 * seed * seed;
}

BOOST_AUTO_TEST_CASE(layers_are_compared_under_the_same_conditions) {
  const auto all = ensembles_of(made_up(recall_of({"linear", "delta_net", "rls"}, 6, {{"n", "4,8"}}), score));
  const auto groups = under_same_conditions(all);
  BOOST_TEST_REQUIRE(groups.size() == 2u);
  for (const EnsembleList &group : groups) BOOST_TEST(group.size() == 3u);
  BOOST_TEST(under_same_conditions(all, {"n"}).size() == 1u);
}

BOOST_AUTO_TEST_CASE(pairs_have_their_difference_p_and_q) {
  const auto all = ensembles_of(made_up(recall_of({"linear", "delta_net", "rls"}, 6), score));
  const EnsembleList order = ranked(under_same_conditions(all)[0]);
  BOOST_TEST((order[0]->variant == "delta_net" && order[1]->variant == "linear" && order[2]->variant == "rls"));
  const auto pairs = compare(pairs_of(order, false), "accuracy");
  BOOST_TEST_REQUIRE(pairs.size() == 3u);
  BOOST_TEST(std::fabs(pairs[0].found.difference - 0.1) < 1e-12);
  BOOST_TEST((pairs[0].seeds == 6u && pairs[0].found.p == 2.0 / 64));
  BOOST_TEST(std::fabs(pairs[0].q - 3 * pairs[0].found.p) < 1e-12); // the smallest of three
  BOOST_TEST(pairs[1].q >= pairs[1].found.p);
  BOOST_TEST(pairs_of(order, true).size() == 2u);
}

BOOST_AUTO_TEST_CASE(the_smaller_the_better_where_it_is_so) {
  Ensemble one, other;
  one.headline = other.headline = "mse";
  one.values["mse"] = {{1, 3}}, other.values["mse"] = {{1, 2}};
  BOOST_TEST((ranked({&one, &other})[0] == &other));
}

BOOST_AUTO_TEST_CASE(a_layer_without_finite_results_is_last_and_decides_nothing) {
  const auto all = ensembles_of(made_up(recall_of({"linear", "delta_net", "rls"}, 6), [](const Case &c) {
    return c.variant->name == "delta_net" && c.seed == 1 ? INFINITY : score(c);
  }));
  const EnsembleList order = ranked(under_same_conditions(all)[0]);
  BOOST_TEST(order.back()->variant == "delta_net");
  const auto pairs = compare(pairs_of(order, false), "accuracy");
  BOOST_TEST((std::isfinite(pairs[0].q) && std::isnan(pairs[1].q) && std::isnan(pairs[2].q)));
  BOOST_TEST(pairs[0].q == pairs[0].found.p); // adjusted for one pair
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
