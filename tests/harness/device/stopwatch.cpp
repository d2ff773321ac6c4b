// SPDX-License-Identifier: Apache-2.0
#include "harness/device/stopwatch.hpp"
#include "tests/testing.hpp"
#include <chrono>
#include <thread>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(stopwatches)

BOOST_AUTO_TEST_CASE(a_sample_is_a_pass_from_its_first_state) {
  if (default_clock() > 0) return; // this test's work is host code, which a GPU's timer does not measure
  int resets = 0, launches = 0, made = 0;
  Stopwatch watch(
      [&] {
        ++made;
        return Pass{
            [&] { ++resets; },
            [&] { ++launches, std::this_thread::sleep_for(std::chrono::milliseconds(launches == 1 ? 40 : 4)); }};
      },
      1e6);
  BOOST_TEST((made == 1 && launches >= 2)); // it warmed up: the first pass takes longer
  const int before = launches;
  const Sample sample = watch.sample();
  BOOST_TEST((sample.seconds >= 4e-3 && sample.clock == 1 && launches == before + 1 && resets == launches));
  BOOST_TEST(watch.method() == "host clock, caches flushed");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
