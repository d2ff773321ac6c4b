// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "harness/system/child.hpp"
#include "harness/system/memory.hpp"
#include "tests/testing.hpp"
#include <sys/mman.h>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(reading_child)

BOOST_AUTO_TEST_CASE(a_child_that_reads_takes_no_more_memory_than_it_may) {
  set_memory_limit(64 << 20);
  const auto take = [](size_t bytes) { // allocates fresh pages: the heap may hold as many that earlier tests have freed
    return reading_in_child("x.h5", [=]() -> std::string {
      if (mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        throw std::bad_alloc();
      return "taken";
    });
  };
  BOOST_TEST(take(32 << 20) == "taken");
  BOOST_CHECK_EXCEPTION(take(96 << 20), Error, [](const Error &e) {
    return e.code == exit_input && std::string(e.what()) == "reading x.h5 needs more than --memory allows";
  });
  set_memory_limit(0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
