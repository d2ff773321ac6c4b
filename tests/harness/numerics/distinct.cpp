// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/distinct.hpp"
#include "tests/testing.hpp"
#include <numeric>
#include <set>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(numerics_distinct)

/// The same numbers as the shuffle of a whole list gives, which takes time and memory proportional to n.
BOOST_AUTO_TEST_CASE(numbers_are_the_beginning_of_a_shuffle) {
  const Stream draw(3, "test/distinct");
  for (const auto &[count, n] : {std::pair{0, 5}, {1, 1}, {5, 5}, {4, 9}, {60, 70}}) {
    std::vector<int> all(size_t(n), 0);
    std::iota(all.begin(), all.end(), 0);
    for (int i = 0; i < count; ++i) std::swap(all[size_t(i)], all[size_t(i) + draw.below(7 + i, size_t(n - i))]);
    all.resize(size_t(count));
    BOOST_TEST(distinct(count, n, draw, 7) == all, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(every_number_is_drawn_equally_often) {
  std::vector<int> drawn(6, 0);
  for (std::uint64_t i = 0; i < 6000; ++i) {
    const std::vector<int> two = distinct(2, 6, Stream(1, "test/distinct", i));
    BOOST_TEST(std::set<int>(two.begin(), two.end()).size() == 2u);
    for (int x : two) ++drawn[size_t(x)];
  }
  for (int count : drawn) BOOST_TEST(std::abs(count - 2000) < 5 * std::sqrt(6000 * 1.0 / 3 * 2 / 3));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
