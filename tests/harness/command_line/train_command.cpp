// SPDX-License-Identifier: Apache-2.0
// The command's output. tests/files/test_train.py kills and resumes it.
#include "harness/files/results.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(train_command)

const std::string tiny = " --set width=8 --set heads=2 --set ffn=8 --set vocabulary=8 --set pairs=1 --set batch=4 "
                         "--set every=10 --set evaluate=2";

BOOST_AUTO_TEST_CASE(means_over_seeds_come_last) {
  const Folder folder;
  const Outcome o =
      run_program("train --set mixer=linear,none --set steps=20 --seeds 2" + tiny + " -o '" + (folder / "t.h5") + "'");
  BOOST_TEST(o.status == 0, o.err);
  BOOST_TEST(o.out.find("none, seed 2: accuracy ") != std::string::npos);
  BOOST_TEST(o.out.find("linear: accuracy ") > o.out.find("none, seed 2"));
  BOOST_TEST(o.out.find(" over 2 seeds, chance 1.0000\n") != std::string::npos);
  const Results results = Results::read(folder / "t.h5");
  BOOST_TEST(results.table("trained").rows.size() == 4u);
  BOOST_TEST(results.table("training_curves").rows.size() == 8u);
  BOOST_TEST(results.table("training_state").rows.empty());
}

/// Four heads of two layers keep 2 x 2 numbers each, in float32.
BOOST_AUTO_TEST_CASE(words_have_a_length_and_models_a_state) {
  const Folder folder;
  const Outcome o =
      run_program("train --set task=words --set group=parity --set mixer=linear --set steps=10 --set heads=4 "
                  "--set width=8 --set ffn=0 --set pairs=6 --set held_out_pairs=9 --set positions=none --set "
                  "dtype=f32 --set batch=4 -o '" +
                  (folder / "t.h5") + "'");
  BOOST_TEST(o.status == 0, o.err);
  BOOST_TEST(o.out.find(", longest word ") != std::string::npos);
  const Results results = Results::read(folder / "t.h5");
  const Table &metrics = results.table("trained_metrics");
  BOOST_TEST_REQUIRE(metrics.rows.size() == 2u);
  BOOST_TEST((metrics.get<std::string>(0, "metric") == "length" && metrics.get<double>(0, "value") <= 9));
  BOOST_TEST(
      (metrics.get<std::string>(1, "metric") == "state_bytes" && metrics.get<double>(1, "value") == 2 * 4 * 4 * 4));
}

/// Weights so large that the state overflows in a text of 2,000 letters, and not in one of a single letter.
BOOST_AUTO_TEST_CASE(a_model_that_overflows_on_held_out_texts_has_diverged) {
  const Outcome o =
      run_program("train --set task=words --set group=parity --set mixer=delta_net --set spread=8 --set steps=1 "
                  "--set lr=1e-9 --set width=8 --set heads=1 --set ffn=0 --set norm=none --set pairs=1 --set "
                  "held_out_pairs=2000 --set positions=none --set dtype=f32 --set batch=2 --set evaluate=1");
  BOOST_TEST(o.status == 0, o.err);
  BOOST_TEST(o.out.find("seed 1: diverged") != std::string::npos, o.out);
}

BOOST_AUTO_TEST_CASE(side_by_side_they_are_what_they_are_alone) {
  const Folder folder;
  const auto trained = [&](const std::string &flags) {
    const std::string file = folder / ("t" + flags.substr(flags.size() - 1) + ".h5");
    const Outcome o = run_program("train --set mixer=linear,none,delta_net --set lr=0.01,1000 --set clip=0 "
                                  "--set warmup=0 --seeds 2" +
                                  tiny + " --set steps=200 -o '" + file + "'" + flags);
    BOOST_TEST(o.status == 0, o.err);
    return Results::read(file);
  };
  const Results alone = trained(" --at-once 1"), beside = trained(" --at-once 5");
  BOOST_TEST((alone.table("training_curves") == beside.table("training_curves")));
  Table one = alone.table("trained"), other = beside.table("trained");
  BOOST_TEST((one.rows.size() == 12u && other.rows.size() == 12u));
  int diverged = 0;
  for (Table *table : {&one, &other})
    for (std::vector<Cell> &row : table->rows) {
      diverged += row.at(1) == Cell("diverged");
      row.back() = 0.0; // seconds
    }
  BOOST_TEST((one == other));
  BOOST_TEST((0 < diverged && diverged < 24));
}

BOOST_AUTO_TEST_CASE(wrong_settings_are_refused) {
  for (const char *flags : {"--set mixer=lienar", "--set stpes=3", "--set steps=0", "--set width=5", "--at-once 0"}) {
    const Outcome o = run_program(std::string("train ") + flags);
    BOOST_TEST(o.status == 2, flags);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
