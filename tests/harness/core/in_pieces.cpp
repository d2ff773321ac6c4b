// SPDX-License-Identifier: Apache-2.0
#include "harness/core/in_pieces.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(pieces)

constexpr size_t dear = size_t(1) << 22; // a piece for every number, up to the number of threads

BOOST_AUTO_TEST_CASE(every_number_is_in_one_piece) {
  std::vector<int> times(1000, 0);
  in_pieces(
      times.size(),
      [&](size_t begin, size_t end) { std::for_each(&times[begin], &times[0] + end, [](int &x) { ++x; }); }, dear);
  BOOST_TEST(times == std::vector<int>(1000, 1), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_first_is_found_in_whichever_piece_ends_first) {
  for (size_t first : {size_t(0), size_t(1), size_t(499), size_t(500), size_t(999), size_t(1000)})
    for (size_t cost : {size_t(1), dear})
      BOOST_TEST(first_in_pieces(
                     1000, [&](size_t i) { return i >= first; }, cost) == first);
  BOOST_TEST(first_in_pieces(0, [](size_t) { return true; }) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
