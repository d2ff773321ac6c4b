// SPDX-License-Identifier: Apache-2.0
#define BOOST_TEST_NO_MAIN
#define BOOST_TEST_ALTERNATIVE_INIT_API
#include "backend.hpp"
#include <boost/test/included/unit_test.hpp>

// Kokkos lives as long as the whole run; `tests --run_test=<folder>/<case>` picks cases, one suite a folder.
int main(int argc, char **argv) {
  const recollect::Backend backend;
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
