// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/random.hpp"
#include "harness/numerics/statistics.hpp"
#include "tests/testing.hpp"
#include <Random123/philox.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(random)

using Words = std::array<std::uint32_t, 4>;

// The three philox4x32-10 lines of Random123's known-answer file kat_vectors.
BOOST_AUTO_TEST_CASE(known_answers) {
  BOOST_TEST((philox(0, 0, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint64_t ones = ~std::uint64_t(0);
  BOOST_TEST((philox(ones, ones, ones) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  // counter 243f6a88 85a308d3 13198a2e 03707344, key a4093822 299f31d0
  BOOST_TEST((philox(0x85a308d3243f6a88, 0x0370734413198a2e, 0x299f31d0a4093822) ==
              Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

BOOST_AUTO_TEST_CASE(a_value_depends_on_its_index_alone) {
  const Stream stream(3, "test/a");
  const std::vector<double> all = stream.normals(101), tail = stream.normals(50, 51);
  for (int i = 0; i < 50; ++i) BOOST_TEST(all[51 + i] == tail[i]);
  BOOST_TEST(all[100] == stream.normal(100));
  BOOST_TEST(all[0] != Stream(3, "test/b").normal(0));
  BOOST_TEST(all[0] != Stream(4, "test/a").normal(0));
  BOOST_TEST(all[0] != Stream(3, "test/a", 0).normal(0));
  BOOST_TEST(Stream(3, "test/a", 1).normal(0) != Stream(3, "test/a", 2).normal(0));
}

BOOST_AUTO_TEST_CASE(many_are_made_side_by_side) {
  const Stream stream(3, "test/a");
  const size_t n = (size_t(1) << 23) + 7, first = 3; // pieces of uneven sizes, if there are threads for two
  const std::vector<double> all = stream.normals(n, first);
  for (size_t i : {size_t(0), size_t(1), n / 2 - 2, n / 2 - 1, n / 2, n / 2 + 1, n - 2, n - 1})
    BOOST_TEST(all[i] == stream.normal(first + i));
  BOOST_TEST(std::count(all.begin(), all.end(), 0.0) == 0); // no element left out
}

BOOST_AUTO_TEST_CASE(moments_of_normals_and_uniforms) {
  const size_t n = 200000;
  std::vector<double> x = Stream(5, "test/normals").normals(n), squares = x, fourth = x;
  for (size_t i = 0; i < n; ++i) squares[i] *= x[i], fourth[i] = squares[i] * squares[i];
  // The expected mean is 0, the variance 1 and the fourth moment 3; their sampling variances are 1/n, 2/n and 96/n.
  BOOST_TEST(std::abs(mean_of(x).mean) < 6 * std::sqrt(1.0 / n));
  BOOST_TEST(std::abs(mean_of(squares).mean - 1) < 6 * std::sqrt(2.0 / n));
  BOOST_TEST(std::abs(mean_of(fourth).mean - 3) < 6 * std::sqrt(96.0 / n));
  const std::vector<double> u = Stream(5, "test/uniforms").uniforms(n, -1, 3);
  BOOST_TEST(std::abs(mean_of(u).mean - 1) < 6 * std::sqrt(16.0 / 12 / n));
  BOOST_TEST((*std::min_element(u.begin(), u.end()) > -1 && *std::max_element(u.begin(), u.end()) < 3));
}

BOOST_AUTO_TEST_CASE(permutations_and_integers_cover_their_range) {
  std::vector<int> order = Stream(6, "test/order").permutation(50), sorted = order, identity(50);
  std::sort(sorted.begin(), sorted.end());
  std::iota(identity.begin(), identity.end(), 0);
  BOOST_TEST(sorted == identity);
  BOOST_TEST(order != identity);
  std::vector<int> counts(7);
  const Stream draw(6, "test/below");
  for (int i = 0; i < 7000; ++i) ++counts[draw.below(i, 7)];
  for (int c : counts) BOOST_TEST(std::abs(c - 1000) < 6 * std::sqrt(1000.0 * 6 / 7));
}

BOOST_AUTO_TEST_CASE(every_order_is_as_likely_as_any_other) { // including those that leave an element in place
  std::map<std::vector<int>, int> counts;
  const int draws = 6000;
  for (int i = 0; i < draws; ++i) ++counts[Stream(7, "test/orders", i).permutation(3)];
  BOOST_TEST(counts.size() == 6u);
  for (const auto &[order, count] : counts)
    BOOST_TEST(std::abs(count - draws / 6.0) < 6.47 * std::sqrt(draws * (1 / 6.0) * (5 / 6.0)));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
