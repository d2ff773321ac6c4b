// SPDX-License-Identifier: Apache-2.0
#include "harness/system/processors.hpp"
#include "harness/core/in_pieces.hpp"
#include "tests/testing.hpp"
#include <atomic>
#include <sched.h>
#include <thread>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(affinity)

BOOST_AUTO_TEST_CASE(threads_of_a_thread_that_is_bound_to_one_use_all_of_them) {
  cpu_set_t all, one;
  BOOST_TEST_REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  BOOST_TEST(processors() == size_t(CPU_COUNT(&all)));
  CPU_ZERO(&one);
  CPU_SET(size_t(sched_getcpu()), &one);
  BOOST_TEST_REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> pieces(0), elsewhere_bound(0);
  in_pieces(
      processors(),
      [&](size_t, size_t) {
        cpu_set_t own;
        ++pieces;
        if (std::this_thread::get_id() != caller && sched_getaffinity(0, sizeof own, &own) == 0 &&
            !CPU_EQUAL(&own, &all))
          ++elsewhere_bound;
      },
      size_t(1) << 22); // a piece for every processor
  cpu_set_t after;
  BOOST_TEST(sched_getaffinity(0, sizeof after, &after) == 0);
  BOOST_TEST(bool(CPU_EQUAL(&after, &one))); // the caller stays where it was
  sched_setaffinity(0, sizeof all, &all);
  BOOST_TEST(size_t(pieces) == processors());
  BOOST_TEST(elsewhere_bound == 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
