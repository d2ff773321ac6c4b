// SPDX-License-Identifier: Apache-2.0
// tests/files/test_train.py kills and resumes it; here what it says.
#include "harness/pipeline/results.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(train_command)

const std::string tiny = " --set width=8 --set heads=2 --set ffn=8 --set vocabulary=8 --set pairs=1 --set batch=4 "
                         "--set steps=20 --set every=10 --set evaluate=2";

BOOST_AUTO_TEST_CASE(means_over_seeds_come_last) {
  const Folder folder;
  const Outcome o = run_program("train --set mixer=linear,none --seeds 2" + tiny + " -o '" + (folder / "t.h5") + "'");
  BOOST_TEST(o.status == 0, o.err);
  BOOST_TEST(o.out.find("none, seed 2: accuracy ") != std::string::npos);
  BOOST_TEST(o.out.find("linear: accuracy ") > o.out.find("none, seed 2"));
  BOOST_TEST(o.out.find(" over 2 seeds, chance 1.0000\n") != std::string::npos);
  const Results results = Results::read(folder / "t.h5");
  BOOST_TEST(results.table("trained").rows.size() == 4u);
  BOOST_TEST(results.table("training_curves").rows.size() == 8u);
  BOOST_TEST(results.table("training_state").rows.empty());
}

BOOST_AUTO_TEST_CASE(wrong_settings_are_refused) {
  for (const char *flags : {"--set mixer=lienar", "--set stpes=3", "--set steps=0", "--set width=5"}) {
    const Outcome o = run_program(std::string("train ") + flags);
    BOOST_TEST(o.status == 2, flags);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
