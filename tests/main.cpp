// SPDX-License-Identifier: Apache-2.0
#define BOOST_TEST_NO_MAIN
#define BOOST_TEST_ALTERNATIVE_INIT_API
#include "harness/device/backend.hpp"
#include "harness/system/memory.hpp"
#include <boost/test/included/unit_test.hpp>
#include <cstdlib>
#include <cstring>
#include <iostream>

/// `tests --run_test=... -- --list`: instead of running the chosen cases, prints their names, one per line.
class CaseList : public boost::unit_test::test_observer, private boost::unit_test::test_tree_visitor {
public:
  void test_unit_start(const boost::unit_test::test_unit &all) override {
    traverse_test_tree(all, *this);
    std::cout.flush();
    std::_Exit(EXIT_SUCCESS);
  }

private:
  void visit(const boost::unit_test::test_case &one) override { std::cout << one.full_name() << '\n'; }
};

// Kokkos runs for the whole program. `tests --run_test=<folder>/<file>` selects cases; each folder is a suite.
int main(int argc, char **argv) {
  using namespace boost::unit_test;
  recollect::let_idle_threads_sleep(argv);
  const recollect::Backend backend;
  recollect::keep_freed_memory();
  CaseList list;
  if (!std::strcmp(argv[argc - 1], "--list")) framework::register_observer(list);
  const int status = unit_test_main([] { return true; }, argc, argv);
  const test_results &results = results_collector.results(framework::master_test_suite().p_id);
  std::cout << results.p_test_cases_passed << " passed, " << results.p_test_cases_failed + results.p_test_cases_aborted
            << " failed" << std::endl;
  return status;
}
