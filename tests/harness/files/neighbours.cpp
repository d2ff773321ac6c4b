// SPDX-License-Identifier: Apache-2.0
#include "harness/files/neighbours.hpp"
#include "tests/testing.hpp"
#include <algorithm>
#include <set>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(neighbours_of_conventions)

BOOST_AUTO_TEST_CASE(neighbours_differ_in_one_switch) {
  const std::vector<Neighbour> all = neighbours({});
  const auto has = [&](const std::string &said) {
    return std::any_of(all.begin(), all.end(), [&](const Neighbour &one) { return one.said == said; });
  };
  for (const char *said :
       {"--layout bthd", "--state kv", "--gate log", "--gate rwkv", "--scale 1", "--scale rsqrt", "--l2norm 1e-6",
        "--beta double"}) // --scale 1 differs from no --scale where the layer has a parameter for it
    BOOST_TEST(has(said), said);
  BOOST_TEST((!has("--layout bhtd") && !has("--state vk") && !has("--gate factor") && !has("--gate gdn")));
}

BOOST_AUTO_TEST_CASE(values_that_are_set_have_other_values_as_neighbours) {
  Convention c;
  c.scale = parse_scale("rsqrt");
  c.l2norm = 1e-2;
  c.gate = Gate::kda_lb;
  std::set<std::string> said;
  for (const Neighbour &one : neighbours(c)) said.insert(one.said);
  BOOST_TEST((said.count("--scale 1") == 1 && said.count("--scale rsqrt") == 0));
  BOOST_TEST((said.count("--l2norm 1e-6") == 1 && said.count("no --l2norm: q and k as they are") == 1));
  BOOST_TEST((said.count("--gate kda") == 1 && said.count("--gate log") == 0));
}

BOOST_AUTO_TEST_CASE(every_mistake_of_conventions_is_some_neighbour_and_the_other_way_round) {
  std::set<std::string> tried, listed;
  for (const char *name : {"fla", "mamba", "vllm", "flashinfer"})
    for (const Neighbour &one : neighbours(preset(name))) tried.insert(one.mistake->name);
  for (const ConventionMistake &one : convention_mistakes()) {
    listed.insert(one.name);
    BOOST_TEST((!one.what.empty() && !one.shows.empty()), one.name);
  }
  BOOST_TEST(tried == listed);
  const std::vector<Neighbour> fla = neighbours(preset("fla"));
  BOOST_TEST(std::none_of(fla.begin(), fla.end(), [](const Neighbour &one) { return one.convention.skip_ignored; }));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
