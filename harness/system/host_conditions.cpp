// SPDX-License-Identifier: Apache-2.0
#include "harness/system/host_conditions.hpp"
#include <cstdlib>
#include <fstream>
#include <sched.h>

namespace recollect {
namespace {

/// The first word of a file; "" if there is none.
std::string word_of(const std::string &path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// The processor's name in /proc/cpuinfo; "" if it is not there.
std::string model_of(const std::string &root) {
  std::ifstream file(root + "/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return "";
}

/// "on", "off" or "unknown". Two drivers report turbo in different files; one file says whether turbo is off.
std::string turbo(const std::string &root) {
  const std::string intel = word_of(root + "/sys/devices/system/cpu/intel_pstate/no_turbo"),
                    others = word_of(root + "/sys/devices/system/cpu/cpufreq/boost");
  if (!intel.empty()) return intel == "0" ? "on" : "off";
  return others.empty() ? "unknown" : others == "1" ? "on" : "off";
}

} // namespace

HostConditions host_conditions(int threads, int allowed, bool pinned, const std::string &root) {
  const auto known = [](const std::string &word) { return word.empty() ? "unknown" : word; };
  const std::string governor = known(word_of(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
                    load = known(word_of(root + "/proc/loadavg")), boost = turbo(root);
  HostConditions found;
  found.facts = {{"cpu_governor", governor},
                 {"cpu_model", known(model_of(root))},
                 {"cpu_turbo", boost},
                 {"load_average", load},
                 {"processors_allowed", std::to_string(allowed)},
                 {"threads_pinned", pinned ? "yes" : "no"}};
  const auto warn = [&](const std::string &line) { found.warnings.push_back(line); };
  if (governor != "unknown" && governor != "performance")
    warn("the CPU governor is '" + governor + "': the clock follows the load; set it to 'performance'");
  if (boost == "on") warn("turbo is on: the clock depends on temperature and on other cores; switch it off to compare");
  if (load != "unknown" && std::atof(load.c_str()) + threads > allowed + 0.5)
    warn("other programs take " + load + " of " + std::to_string(allowed) + " processors, and these timings need " +
         std::to_string(threads) + ": wait until the machine is idle, or use fewer threads (OMP_NUM_THREADS)");
  if (threads > allowed)
    warn(std::to_string(threads) + " threads share " + std::to_string(allowed) +
         " processors: set OMP_NUM_THREADS to " + std::to_string(allowed));
  if (threads > 1 && !pinned) warn("threads may move between processors: set OMP_PROC_BIND=close OMP_PLACES=cores");
  return found;
}

HostConditions host_conditions(int threads) {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : threads;
  const char *bind = std::getenv("OMP_PROC_BIND");
  return host_conditions(threads, allowed, bind && std::string(bind) != "false");
}

} // namespace recollect
