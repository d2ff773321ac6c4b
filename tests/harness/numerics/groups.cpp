// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/groups.hpp"
#include "tests/testing.hpp"
#include <map>
#include <set>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(groups)

BOOST_AUTO_TEST_CASE(they_are_groups_of_the_known_order) {
  const std::map<std::string, size_t> orders{{"S5", 120}, {"A5", 60}, {"S3", 6}, {"Z5", 5}, {"Z3", 3}, {"parity", 2}};
  BOOST_TEST(group_names().size() == orders.size());
  for (const std::string &name : group_names()) BOOST_TEST_CONTEXT(name) {
      const PermutationGroup group = group_named(name);
      const std::set<Permutation> elements(group.elements.begin(), group.elements.end());
      BOOST_TEST((elements.size() == orders.at(name) && group.elements.size() == orders.at(name)));
      BOOST_TEST(exchanges_of(group.elements[0]).empty());
      bool closed = true, commutes = true;
      for (const Permutation &a : elements)
        for (const Permutation &b : elements) {
          closed = closed && elements.count(product(a, b));
          commutes = commutes && product(a, b) == product(b, a);
        }
      BOOST_TEST(closed);
      BOOST_TEST(commutes == (name[0] == 'Z' || name == "parity"));
      for (size_t i = 0; i < group.elements.size(); ++i) BOOST_TEST(group.index_of(group.elements[i]) == int(i));
    }
}

BOOST_AUTO_TEST_CASE(a_list_is_rearranged_first_by_one_and_then_by_the_other) {
  // (a, b, c) permuted by 1, 2, 0 is (b, c, a), and that permuted by 0, 2, 1 is (b, a, c).
  BOOST_TEST((product({1, 2, 0}, {0, 2, 1}) == Permutation{1, 0, 2}));
}

BOOST_AUTO_TEST_CASE(exchanges_rearrange_a_list) {
  BOOST_TEST(exchanges_of({1, 2, 0}).size() == 2u);       // a cycle of 3
  BOOST_TEST(exchanges_of({1, 0, 3, 2, 4}).size() == 2u); // two cycles of 2
  BOOST_TEST(exchanges_of({1, 2, 3, 4, 0}).size() == 4u);
  for (const Permutation &p : group_named("S5").elements) {
    Permutation list{0, 1, 2, 3, 4};
    for (const auto &[i, j] : exchanges_of(p)) std::swap(list[size_t(i)], list[size_t(j)]);
    BOOST_TEST((list == p));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
