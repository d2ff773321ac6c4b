// SPDX-License-Identifier: Apache-2.0
#include "harness/device/ceilings.hpp"
#include "tests/testing.hpp"
#include <algorithm>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(ceilings)

BOOST_AUTO_TEST_CASE(a_machine_computes_faster_than_it_copies_and_single_faster_than_double) {
  Ceilings c;
  const auto as_expected = [&] { return c.flops_per_second_f32 > 0.7 * c.flops_per_second_f64; };
  for (int tries = 0; tries < 20 && !as_expected(); ++tries) { // while others keep the machine from its best
    const Ceilings seen = measure_ceilings();
    c.flops_per_second_f32 = std::max(c.flops_per_second_f32, seen.flops_per_second_f32);
    c.flops_per_second_f64 = std::max(c.flops_per_second_f64, seen.flops_per_second_f64);
    c.bytes_per_second = std::max(c.bytes_per_second, seen.bytes_per_second);
  }
  BOOST_TEST(c.bytes_per_second > 1e8);
  BOOST_TEST(c.flops_per_second_f64 > 1e8);
  BOOST_TEST(as_expected()); // consumer GPUs and CPUs: 2; an H200's gemm: 0.8
  flush_caches();
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
