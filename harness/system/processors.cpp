// SPDX-License-Identifier: Apache-2.0
#include "harness/system/processors.hpp"
#include <algorithm>
#include <sched.h>
#include <vector>

// Functions of the OpenMP runtime; null if the program is not linked to one.
extern "C" {
__attribute__((weak)) int omp_get_num_places();
__attribute__((weak)) int omp_get_place_num_procs(int place);
__attribute__((weak)) void omp_get_place_proc_ids(int place, int *ids);
}

namespace recollect {
namespace {

cpu_set_t allowed_processors() {
  cpu_set_t all;
  if (sched_getaffinity(0, sizeof all, &all) != 0) CPU_ZERO(&all);
  const int places = omp_get_num_places && omp_get_place_num_procs && omp_get_place_proc_ids ? omp_get_num_places() : 0;
  for (int place = 0; place < places; ++place) {
    std::vector<int> ids(size_t(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, ids.data());
    for (int id : ids) CPU_SET(size_t(id), &all);
  }
  return all;
}
const cpu_set_t &allowed() {
  static const cpu_set_t all = allowed_processors();
  return all;
}

} // namespace

size_t processors() {
  static const size_t count = size_t(std::max(1, CPU_COUNT(&allowed())));
  return count;
}

void run_on_any_processor() {
  if (CPU_COUNT(&allowed()) > 0) sched_setaffinity(0, sizeof allowed(), &allowed()); // may be refused
}

} // namespace recollect
