// SPDX-License-Identifier: Apache-2.0
#include "harness/device/launch_space.hpp"
#include "harness/device/transfer.hpp"
#include "tests/testing.hpp"

namespace recollect {
namespace {

/// Adds i + 1 to number i. A kernel cannot be defined in a test case, which is a private member.
std::vector<double> visited(size_t n) {
  const Array<double> numbers("numbers", n); // zeros
  parallel_loop(
      "visit", n, KOKKOS_LAMBDA(const size_t i) { numbers(i) += double(i + 1); });
  Kokkos::fence();
  return download(numbers);
}

} // namespace

BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(loops)

BOOST_AUTO_TEST_CASE(every_index_is_visited_once) {
  for (size_t n : {0, 1, 2, 31, 1000, 100003}) { // fewer than threads, fewer than pieces, more than both
    const std::vector<double> found = visited(n);
    size_t right = 0;
    for (size_t i = 0; i < found.size(); ++i) right += found[i] == double(i + 1);
    BOOST_TEST(right == n);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
