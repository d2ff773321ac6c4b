// SPDX-License-Identifier: Apache-2.0
#include "harness/files/digest.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(digests)

BOOST_AUTO_TEST_CASE(facts_count_in_any_order) {
  BOOST_TEST(digest(Facts{{"a", "1"}, {"b", "2"}}) == digest(Facts{{"b", "2"}, {"a", "1"}}));
  BOOST_TEST(digest(Facts{{"a", "1"}, {"b", "2"}}) != digest(Facts{{"a", "2"}, {"b", "1"}}));
  BOOST_TEST(digest(Facts{{"ab", ""}}) != digest(Facts{{"a", "b"}})); // the digest includes the ends of texts
}

BOOST_AUTO_TEST_CASE(every_part_of_a_table_counts) {
  Table t{"t", {{"n", Kind::integer}, {"r", Kind::real}, {"s", Kind::text}}, {}};
  t.add(1, 0.5, "x"), t.add(2, 0.0, "");
  const std::uint64_t whole = digest(t);
  std::vector<Table> others(7, t);
  others[0].name = "u", others[1].columns[1].name = "q", others[2].rows[0][0] = std::int64_t(3);
  others[3].rows[1][1] = -0.0, others[4].rows[0][2] = std::string("y");
  std::swap(others[5].rows[0], others[5].rows[1]);
  others[6].rows.pop_back();
  for (size_t i = 0; i < others.size(); ++i) BOOST_TEST(digest(others[i]) != whole, "change " << i);
  BOOST_TEST(digest(t) == whole);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
