// SPDX-License-Identifier: Apache-2.0
#include "harness/check/remake.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(remakes)

BOOST_AUTO_TEST_CASE(a_layout_read_as_the_other_and_back_is_itself) {
  const Shape shape{1, 2, 3, 1, 1};
  const std::vector<double> bhtd{0, 1, 2, 10, 11, 12}; // h, t: 10 h + t
  BOOST_TEST(from_bthd(as_bthd(bhtd, shape, 1), shape, 1) == bhtd);
  BOOST_TEST(as_bthd(from_bthd(bhtd, shape, 1), shape, 1) == bhtd);
  BOOST_TEST(as_bthd(bhtd, shape, 1) != bhtd);
}

BOOST_AUTO_TEST_CASE(matrices_are_transposed_head_by_head) {
  BOOST_TEST(transposed({1, 2, 3, 4, 5, 6, 7, 8}, 2) == (std::vector<double>{1, 3, 2, 4, 5, 7, 6, 8}));
}

BOOST_AUTO_TEST_CASE(chunks_cover_all_steps_and_the_last_may_be_short) {
  const std::vector<Steps> found = chunks(10, 4);
  BOOST_TEST_REQUIRE(found.size() == 3u);
  BOOST_TEST((found[0].begin == 0 && found[0].end == 4 && found[2].begin == 8 && found[2].end == 10));
}

BOOST_AUTO_TEST_CASE(states_at_the_starts_of_chunks_are_sums_of_what_was_written_before) {
  const Variant &v = find_variant("linear");
  const std::vector<double> ones(5, 1.0);
  const CheckCase problem{v, variant_params(v), one_head(5, ones, ones, {1, 2, 3, 4, 5}), {}, false};
  const std::vector<std::vector<double>> states = chunk_states(problem, 2);
  BOOST_TEST_REQUIRE(states.size() == 3u);
  BOOST_TEST((states[0] == std::vector<double>{0} && states[1] == std::vector<double>{3} &&
              states[2] == std::vector<double>{10}));
  // A query that reads one step late; the last one has no later state.
  BOOST_TEST(read_at(problem, [](int t) { return t - 1; }) == (std::vector<double>{0, 1, 3, 6, 10}));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
