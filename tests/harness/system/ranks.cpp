// SPDX-License-Identifier: Apache-2.0
// One process only; tests/files/test_ranks.py tests several.
#include "harness/system/ranks.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(processes)

BOOST_AUTO_TEST_CASE(alone_everything_is_ones_own) {
  ranks::join();
  BOOST_TEST((ranks::rank() == 0 && ranks::size() == 1));
  BOOST_TEST(ranks::shared("x") == "x");
  BOOST_TEST((ranks::gathered(std::string("a\0b", 3)) == std::vector<std::string>{std::string("a\0b", 3)}));
  ranks::Counters counter;
  for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(counter.next() == i);
  ranks::Counters two(2);
  BOOST_TEST((two.next(1) == 0u && two.next(1) == 1u && two.next(0) == 0u));
  BOOST_TEST((two.values() == std::vector<std::size_t>{1, 2}));
  ranks::leave(false, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
