// SPDX-License-Identifier: Apache-2.0
#include "harness/pipeline/results.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <algorithm>
#include <nlohmann/json.hpp>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(run_command)

const std::string selection = "--variants linear,delta_net --tasks recall --set n=4,8 --seeds 2";

BOOST_AUTO_TEST_CASE(the_plan_is_what_runs) {
  const Folder folder;
  const auto plan = nlohmann::json::parse(run_program("plan " + selection + " --json").out);
  BOOST_TEST(plan.size() == 8u); // two layers, two lengths, two seeds
  const Outcome o = run_program("run " + selection + " -o '" + (folder / "r.h5") + "'");
  BOOST_TEST(o.status == 0, o.err);
  BOOST_TEST(o.out.find("8 ok, 0 meaningless, 0 failed") != std::string::npos);
  const Results results = Results::read(folder / "r.h5");
  BOOST_TEST((results.statuses().size() == 8 && results.missing() == 0));
}

BOOST_AUTO_TEST_CASE(seeds_and_repetitions_are_different_things) {
  const Folder folder;
  run_program("run --variants linear --tasks recall --seed 5 --seeds 2 --repetitions 3 -o '" + (folder / "r.h5") + "'");
  const Results results = Results::read(folder / "r.h5");
  const auto table = [&](const std::string &name) {
    const auto &all = results.tables();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Table &t) { return t.name == name; });
    BOOST_TEST_REQUIRE((found != all.end()), name);
    return *found;
  };
  const Table plan = table("plan"), samples = table("samples");
  BOOST_TEST_REQUIRE(plan.rows.size() == 2u);
  BOOST_TEST((plan.get<std::uint64_t>(0, "seed") == 5 && plan.get<std::uint64_t>(1, "seed") == 6));
  BOOST_TEST(samples.rows.size() == 6u);
}

BOOST_AUTO_TEST_CASE(shards_are_disjoint_and_whole) {
  const Folder folder;
  const std::string a = folder / "a.h5", b = folder / "b.h5", whole = folder / "w.h5";
  BOOST_TEST(run_program("run " + selection + " --shard 1/2 -o '" + a + "'").status == 0);
  BOOST_TEST(run_program("merge '" + a + "' -o '" + whole + "'").status == 3); // half is missing
  BOOST_TEST(run_program("run " + selection + " --shard 2/2 -o '" + b + "'").status == 0);
  BOOST_TEST(run_program("merge '" + a + "' '" + b + "' -o '" + whole + "'").status == 0);
  BOOST_TEST(Results::read(whole).missing() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
