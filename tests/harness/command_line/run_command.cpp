// SPDX-License-Identifier: Apache-2.0
#include "build_config.hpp"
#include "harness/files/results.hpp"
#include "harness/system/files.hpp"
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
  BOOST_TEST(run_program("merge '" + a + "' -o '" + whole + "'").status == 3); // half of the plan is missing
  BOOST_TEST(run_program("run " + selection + " --shard 2/2 -o '" + b + "'").status == 0);
  BOOST_TEST(run_program("merge '" + a + "' '" + b + "' -o '" + whole + "'").status == 0);
  BOOST_TEST(Results::read(whole).missing() == 0u);
}

BOOST_AUTO_TEST_CASE(a_tuned_run_can_be_cut_resumed_and_parted) {
  const Folder folder;
  const std::string tuned = "--variants softmax,delta_net --tasks recall --set n=8 --seeds 2 --tune",
                    whole = folder / "w.h5", again = folder / "again.h5", a = folder / "a.h5", b = folder / "b.h5";
  const Outcome o = run_program("run " + tuned + " -o '" + whole + "'");
  BOOST_TEST_REQUIRE(o.status == 0, o.err);
  BOOST_TEST(o.out.find("tuned: scale=") != std::string::npos); // the table says which values tuning chose
  BOOST_TEST(o.out.find("0.125") != std::string::npos);         // next to chance
  BOOST_TEST(run_program("run " + tuned + " --shard 1/2 -o '" + a + "'").status == 0);
  BOOST_TEST(run_program("run " + tuned + " --shard 2/2 -o '" + b + "'").status == 0);
  BOOST_TEST(run_program("merge '" + a + "' '" + b + "' -o '" + again + "'").status == 0);
  const Results one = Results::read(whole), two = Results::read(again);
  BOOST_TEST((one.table("choices") == two.table("choices") && one.table("choices").rows.size() == 4u));
  BOOST_TEST((one.table("metrics") == two.table("metrics")));
  BOOST_TEST(run_program("run " + tuned + " --resume -o '" + whole + "'").status == 0); // complete: nothing to do
}

bool says(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

BOOST_AUTO_TEST_CASE(a_sweep_is_a_table_and_a_line_a_case_only_when_asked_for) {
  const Outcome o = run_program("run " + selection), lines = run_program("run " + selection + " -v");
  BOOST_TEST((o.status == 0 && says(o.out, "recall: accuracy, 2 seeds, ceiling 1, untuned\n")), o.out);
  BOOST_TEST(std::count(o.out.begin(), o.out.end(), '\n') == 2 + 4 + 1 + std::ptrdiff_t(says(o.out, "untuned:")));
  BOOST_TEST(std::count(lines.out.begin(), lines.out.end(), '\n') == std::count(o.out.begin(), o.out.end(), '\n') + 8);
  const Outcome metrics = run_program("run " + selection + " --metric SNR-inverse,mse");
  BOOST_TEST((says(metrics.out, "snr_inverse, mse") && !says(metrics.out, "accuracy")), metrics.out);
  const Outcome wrong = run_program("run " + selection + " --metric snr");
  BOOST_TEST(
      (wrong.status == 2 && says(wrong.err, "no selected task has the metric 'snr', did you mean 'snr_inverse'?")),
      wrong.err);
}

BOOST_AUTO_TEST_CASE(layers_are_compared_over_the_seeds_that_they_share) {
  const Outcome o = run_program("run --compare linear,DeltaNet --tasks recall --set n=8 --seeds 6");
  BOOST_TEST((o.status == 0 && says(o.out, "linear - delta_net") && says(o.out, "12 ok")), o.out + o.err);
  const std::pair<const char *, const char *> wrong[] = {
      {"--compare linear", "at least two layers"},
      {"--compare linear,linear", "names 'linear' twice"},
      {"--compare linear,rls --variants linear", "names 'rls', which is not among"},
      {"--compare linear,nonsense", "no variant matches 'nonsense'"}};
  for (const auto &[flags, said] : wrong) {
    const Outcome bad = run_program(std::string("run --tasks recall ") + flags);
    BOOST_TEST((bad.status == 2 && says(bad.err, said)), bad.err);
  }
}

BOOST_AUTO_TEST_CASE(a_large_plan_says_what_it_costs_before_it_starts) {
  const Outcome o = run_program("run --variants linear --tasks recall --set n=8:64 --set memories=1");
  BOOST_TEST(o.status == 0, o.err);
  BOOST_TEST(o.err.rfind("285 cases: 1 layer on 1 task, 5 seeds; about ", 0) == 0u, o.err);
  BOOST_TEST(says(o.err, " were timed)"), o.err);
  BOOST_TEST(run_program("run --variants linear --tasks recall --set n=8:64 --set memories=1 --quiet").err.empty());
  BOOST_TEST(run_program("run " + selection).err.empty()); // no warning for eight cases
}

BOOST_AUTO_TEST_CASE(layers_are_ranked_at_a_state_size) {
  const Outcome o = run_program("run --state-bytes 2K --variants linear,rls,softmax --set n=16 --set memories=8");
  BOOST_TEST(o.status == 0, o.err);
  for (const char *part : {"at most 2048 bytes of state per head in f64, 10 seeds", "softmax  8   8", "linear   16  16",
                           "rls      11  11", "every pair, first - second:", "tuned: scale="})
    BOOST_TEST(says(o.out, part), part << " in\n" << o.out);
  for (const char *flags :
       {"--state-bytes much", "--state-bytes 2K --shape 4,4", "--state-bytes 2K --set d=4 --set dv=4"}) {
    const Outcome bad = run_program(std::string("run --variants linear ") + flags);
    BOOST_TEST((bad.status == 2 && std::count(bad.err.begin(), bad.err.end(), '\n') == 1), bad.err);
  }
}

BOOST_AUTO_TEST_CASE(a_plan_is_a_line_per_layer_and_setting) {
  const Outcome o = run_program("plan --variants linear,softmax --tasks recall --set n=8:10 --tune");
  BOOST_TEST(says(o.out, "cases: 2 layers on 1 task, 5 seeds, 72 tuning trials\n"), o.out);
  BOOST_TEST((says(o.out, "n=8\n") && says(o.out, "n=10\n") && says(o.out, "  recall: ")), o.out);
}

BOOST_AUTO_TEST_CASE(quiet_leaves_the_last_line) {
  BOOST_TEST(run_program("run " + selection + " --quiet").out == "8 ok, 0 meaningless, 0 failed\n");
}

BOOST_AUTO_TEST_CASE(a_suite_runs_its_experiments_under_their_names) {
  const Folder folder;
  const std::string suite = folder / "s.toml", file = folder / "r.h5";
  write_file(suite, "[[run]]\nname = \"load\"\ntitle = \"by load\"\nprinted = \"n = d\"\nvariants = [\"linear\"]\n"
                    "tasks = \"recall\"\nseeds = 2\nset = { n = [4, 8], d = 8 }\n"
                    "[[run]]\nname = \"other\"\nvariants = \"softmax\"\ntasks = [\"copy\"]\nseeds = 1\ntune = true\n");
  const Outcome o = run_program("run --suite '" + suite + "' -o '" + file + "'");
  BOOST_TEST_REQUIRE(o.status == 0, o.err);
  const Results results = Results::read(file);
  const Table &plan = results.table("plan"), &experiments = results.table("experiments");
  BOOST_TEST_REQUIRE(plan.rows.size() ==
                     4u + 5u * 3u + 1u); // five scales with three tuning seeds, then one reported seed
  BOOST_TEST(plan.get<std::string>(0, "experiment") == "load");
  BOOST_TEST(plan.get<std::string>(4, "setting") == "trial");
  BOOST_TEST(plan.get<std::string>(plan.rows.size() - 1, "setting") == "tuned");
  BOOST_TEST(experiments.get<std::string>(0, "printed") == "n = d");
  BOOST_TEST(run_program("run --suite '" + suite + "' --variants linear").status == 2); // a suite decides what runs
  write_file(suite, "[[run]]\nname = \"x\"\nvarints = \"linear\"\n");
  const Outcome wrong = run_program("run --suite '" + suite + "'");
  BOOST_TEST((wrong.status == 2 && wrong.err.find("did you mean 'variants'?") != std::string::npos), wrong.err);
}

BOOST_AUTO_TEST_CASE(the_suites_of_the_tree_can_be_planned) {
  for (const char *name : {"quick", "full", "papers", "tasks"}) {
    const Outcome o = run_program(std::string("plan --suite " RECOLLECT_SOURCE_DIR "/suites/") + name + ".toml");
    BOOST_TEST((o.status == 0 && o.out.size() > 1000), o.err);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
