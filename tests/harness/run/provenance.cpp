// SPDX-License-Identifier: Apache-2.0
#include "harness/run/provenance.hpp"
#include "tests/testing.hpp"
#include <cstdlib>
#include <map>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(facts)

BOOST_AUTO_TEST_CASE(names_code_command_seed_and_machine) {
  std::map<std::string, std::string> facts;
  for (const auto &[name, value] : provenance({"recollect", "verify", "snr_*"}, 18446744073709551615u)) {
    BOOST_TEST(!facts.count(name), name);
    facts[name] = value;
  }
  BOOST_TEST(facts.at("command_line") == "recollect verify snr_*");
  BOOST_TEST(facts.at("seed") == "18446744073709551615");
  BOOST_TEST(facts.at("start_utc").size() == 20u);
  for (const char *name : {"version", "git_commit", "git_dirty", "compiler", "blas", "hdf5_version", "execution_space"})
    BOOST_TEST(!facts.at(name).empty(), name);
}

// same_bits.cpp, threads.cpp and test_ranks.py test that this is true.
BOOST_AUTO_TEST_CASE(says_which_runs_have_the_same_bits) {
  std::map<std::string, std::string> facts;
  for (const auto &[name, value] : provenance({}, 1)) facts[name] = value;
  const std::string said = facts.at("bit_identical_to");
  const size_t any = said.find("at any concurrency and number of ranks"), gpu = said.find("on a GPU");
  for (const char *same : {"this seed", "same program", "execution space", "device"})
    BOOST_TEST(said.find(same) < any, same);
  BOOST_TEST((any < gpu && gpu < said.find("schedule")));
  for (const char *name : {"git_commit", "compiler", "execution_space", "device"}) // with which it can be looked up
    BOOST_TEST(!facts.at(name).empty(), name);
}

BOOST_AUTO_TEST_CASE(keeps_the_environment_that_steers_threads_and_devices) {
  setenv("OMP_TEST_MARK", "1", 1), setenv("UNRELATED_MARK", "1", 1);
  std::string environment;
  for (const auto &[name, value] : provenance({}, 1))
    if (name == "environment") environment = value;
  BOOST_TEST(environment.find("OMP_TEST_MARK=1") != std::string::npos);
  BOOST_TEST(environment.find("UNRELATED_MARK") == std::string::npos);
  unsetenv("OMP_TEST_MARK"), unsetenv("UNRELATED_MARK");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
