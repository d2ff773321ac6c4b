// SPDX-License-Identifier: Apache-2.0
#include "harness/core/recent.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(recent)

/// Counts how often values were computed; each is its key's length.
struct Made {
  explicit Made(size_t most) : recent(most) {}
  size_t get(const std::string &key) {
    return *recent.get(key, [&] { return ++count, key.size(); });
  }
  Recent<size_t> recent;
  int count = 0;
};

BOOST_AUTO_TEST_CASE(a_value_is_made_once) {
  Made made(100);
  BOOST_TEST((made.get("a") == 1 && made.get("bb") == 2 && made.get("a") == 1 && made.get("bb") == 2));
  BOOST_TEST(made.count == 2);
}

BOOST_AUTO_TEST_CASE(the_one_used_longest_ago_goes_when_there_is_no_room) {
  Made made(8); // space for two keys of four bytes
  made.get("aaaa"), made.get("bbbb"), made.get("aaaa"), made.get("cccc");
  BOOST_TEST((made.count == 3 && made.recent.size() == 2u));
  made.get("aaaa"), made.get("cccc");
  BOOST_TEST(made.count == 3);
  made.get("bbbb");
  BOOST_TEST(made.count == 4);
  made.get("longer than all");
  BOOST_TEST(made.recent.size() == 1u);
  made.get("longer than all");
  BOOST_TEST(made.count == 5);
}

BOOST_AUTO_TEST_CASE(what_was_handed_out_outlives_its_place) {
  Recent<std::string> recent(1);
  const auto held = recent.get("first", [] { return std::string("one"); });
  recent.get("second", [] { return std::string("two"); });
  BOOST_TEST(*held == "one");
}

BOOST_AUTO_TEST_CASE(a_value_that_cannot_be_made_leaves_nothing) {
  Recent<int> recent(1);
  BOOST_CHECK_THROW(recent.get("a", []() -> int { throw 1; }), int);
  BOOST_TEST(recent.size() == 0u);
  BOOST_TEST(*recent.get("a", [] { return 3; }) == 3);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
