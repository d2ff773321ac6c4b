// SPDX-License-Identifier: Apache-2.0
#include "harness/check/reference_cache.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(reference_caches)

struct Counted {
  explicit Counted(size_t most) : cache(most) {}
  const Reference *get(const std::string &key) {
    return cache
        .get(key,
             [&] {
               ++made;
               const Variant &linear = find_variant("linear");
               return Reference({linear, variant_params(linear), random_sequence({1, 1, 3, 2, 2}, 1), {}, false});
             })
        .get();
  }
  ReferenceCache cache;
  int made = 0;
};

BOOST_AUTO_TEST_CASE(a_key_is_computed_once) {
  Counted c(100);
  const Reference *first = c.get("a");
  BOOST_TEST((c.get("b") != first && c.get("a") == first && c.get("b") != first));
  BOOST_TEST(c.made == 2);
}

BOOST_AUTO_TEST_CASE(the_one_used_longest_ago_goes_when_there_is_no_room) {
  Counted c(8); // bytes of keys: two of four
  c.get("aaaa"), c.get("bbbb"), c.get("aaaa"), c.get("cccc");
  BOOST_TEST((c.made == 3 && c.cache.size() == 2u));
  c.get("aaaa"), c.get("cccc");
  BOOST_TEST(c.made == 3);
  c.get("bbbb");
  BOOST_TEST(c.made == 4);
  c.get("longer than all");
  BOOST_TEST(c.cache.size() == 1u);
  c.get("longer than all");
  BOOST_TEST(c.made == 5);
}

BOOST_AUTO_TEST_CASE(what_was_handed_out_outlives_its_place) {
  ReferenceCache cache(1);
  const Variant &linear = find_variant("linear");
  const auto make = [&] {
    return Reference({linear, variant_params(linear), random_sequence({1, 1, 3, 2, 2}, 1), {}, false});
  };
  const auto held = cache.get("first", make);
  cache.get("second", make);
  BOOST_TEST(held->results().size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
