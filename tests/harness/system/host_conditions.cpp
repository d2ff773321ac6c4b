// SPDX-License-Identifier: Apache-2.0
#include "harness/system/host_conditions.hpp"
#include "harness/system/files.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <algorithm>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(conditions_of_the_host)

/// A simulated machine made of files.
struct Machine {
  Folder folder;
  std::string root = folder / "";
  Machine(const std::string &governor, const std::string &no_turbo, const std::string &load) {
    const std::string cpu = root + "/sys/devices/system/cpu/";
    for (const std::string &made : {cpu + "cpu0/cpufreq", cpu + "intel_pstate", root + "/proc"})
      std::filesystem::create_directories(made);
    write_file(cpu + "cpu0/cpufreq/scaling_governor", governor + "\n");
    write_file(cpu + "intel_pstate/no_turbo", no_turbo + "\n");
    write_file(root + "/proc/loadavg", load + " 0.1 0.1 1/100 1\n");
    write_file(root + "/proc/cpuinfo", "processor\t: 0\nmodel name\t: A Processor @ 2.00GHz\nflags\t\t: fpu\n");
  }
};

BOOST_AUTO_TEST_CASE(a_quiet_machine_is_described_and_not_warned_of) {
  const HostConditions found = host_conditions(4, 8, true, Machine("performance", "1", "0.20").root);
  const std::vector<std::pair<std::string, std::string>> facts{{"cpu_governor", "performance"},
                                                               {"cpu_model", "A Processor @ 2.00GHz"},
                                                               {"cpu_turbo", "off"},
                                                               {"load_average", "0.20"},
                                                               {"processors_allowed", "8"},
                                                               {"threads_pinned", "yes"}};
  BOOST_TEST((found.facts == facts && found.warnings.empty()));
}

BOOST_AUTO_TEST_CASE(everything_that_disturbs_is_warned_of) {
  const HostConditions found = host_conditions(8, 4, false, Machine("powersave", "0", "3.50").root);
  const char *wanted[] = {"governor is 'powersave'", "turbo is on", "take 3.50 of 4", "OMP_NUM_THREADS to 4",
                          "OMP_PROC_BIND"};
  BOOST_TEST_REQUIRE(found.warnings.size() == std::size(wanted));
  for (size_t i = 0; i < found.warnings.size(); ++i)
    BOOST_TEST(found.warnings[i].find(wanted[i]) != std::string::npos, found.warnings[i]);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_unknown) {
  const Folder empty;
  const HostConditions found = host_conditions(1, 1, false, empty / "");
  for (size_t i = 0; i < 4; ++i) BOOST_TEST(found.facts[i].second == "unknown", found.facts[i].first);
  BOOST_TEST(found.warnings.empty());
  BOOST_TEST(host_conditions(1).facts.size() == 6u);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
