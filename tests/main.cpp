// SPDX-License-Identifier: Apache-2.0
#define BOOST_TEST_NO_MAIN
#define BOOST_TEST_ALTERNATIVE_INIT_API
#include "harness/device/backend.hpp"
#include <boost/test/included/unit_test.hpp>
#include <iostream>

// Kokkos lives as long as the whole run; `tests --run_test=<folder>/<file>` picks cases, one suite a folder.
int main(int argc, char **argv) {
  using namespace boost::unit_test;
  recollect::let_idle_threads_sleep(argv);
  const recollect::Backend backend;
  const int status = unit_test_main([] { return true; }, argc, argv);
  const test_results &results = results_collector.results(framework::master_test_suite().p_id);
  std::cout << results.p_test_cases_passed << " passed, " << results.p_test_cases_failed + results.p_test_cases_aborted
            << " failed" << std::endl;
  return status;
}
