// SPDX-License-Identifier: Apache-2.0
#include "harness/device/graph.hpp"
#include "harness/device/each_index.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(graphs)

/// x <- 2 x + 1 in three numbers, two kernels.
void double_and_add(const Array<float> &x) {
  each_index(
      "double", x.extent(0), KOKKOS_LAMBDA(size_t i) { x[i] *= 2; });
  each_index(
      "add", x.extent(0), KOKKOS_LAMBDA(size_t i) { x[i] += 1; });
}

BOOST_AUTO_TEST_CASE(what_is_replayed_does_what_was_run) {
  const Array<float> x = uploaded<float>("x", 3, [](size_t i) { return double(i); });
  DeviceGraph graph;
  std::vector<double> expected{0, 1, 2};
  int asked = 0, replayed = 0;
  for (int run = 0; run < 6; ++run) {
    graph({1}, [&] { double_and_add(x), ++asked; });
    replayed += graph.replayed();
    for (double &e : expected) e = 2 * e + 1;
    BOOST_TEST(download(x) == expected, boost::test_tools::per_element());
  }
  BOOST_TEST(replayed == (on_cuda ? 5 : 0)); // the first run finds that no host work is needed
  BOOST_TEST(asked == (on_cuda ? 2 : 6));    // and the second run is recorded
}

BOOST_AUTO_TEST_CASE(another_key_is_other_work) {
  const Array<float> x = uploaded<float>("x", 3, [](size_t i) { return double(i); }),
                     y = uploaded<float>("y", 3, [](size_t i) { return double(i); });
  DeviceGraph graph;
  for (const std::uintptr_t key : {1, 1, 1, 2, 1}) graph({key}, [&] { double_and_add(key == 1 ? x : y); });
  BOOST_TEST(download(x) == (std::vector<double>{15, 31, 47}), boost::test_tools::per_element());
  BOOST_TEST(download(y) == (std::vector<double>{1, 3, 5}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(work_that_needs_the_host_is_never_recorded) {
  const Array<float> x = uploaded<float>("x", 1, [](size_t) { return 0.0; });
  DeviceGraph waiting, sending, allocating, taking;
  Array<float>(allocated<float>("there from now on", 7));
  for (int run = 1; run < 5; ++run) {
    waiting({1}, [&] {
      double_and_add(x);
      Kokkos::fence();
    });
    sending({1}, [&] { uploaded<float>("another", 2, [](size_t) { return 1.0; }); });
    allocating({1}, [&] { Array<float>("more", 5); });
    taking({1}, [&] { allocated<float>("which others are given besides", 7); });
    BOOST_TEST((!waiting.replayed() && !allocating.replayed() && !sending.replayed() && !taking.replayed()));
    BOOST_TEST(download(x).at(0) == (1 << run) - 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
