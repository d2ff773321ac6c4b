// SPDX-License-Identifier: Apache-2.0
// The order of work among ranks. Here one process plays all ranks, with counters that they share.
#include "harness/run/hand_out.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(hand_out)

const std::vector<std::string> kinds{"a", "b", "b", "c", "a", "c"};
const std::vector<double> work{4, 5, 6, 1, 3, 2}; // a: 7, b: 11, c: 3

BOOST_AUTO_TEST_CASE(a_rank_stays_with_a_kind_and_at_last_helps_where_most_is_left) {
  const HandOut plan(kinds, work, true);
  ranks::Counters counters(plan.counters());
  HandOut one = plan, other = plan;
  BOOST_TEST(*one.next(counters) == 2u);   // the kind with the most work, its largest item first
  BOOST_TEST(*other.next(counters) == 0u); // another rank begins the next kind
  BOOST_TEST(*one.next(counters) == 1u);   // stays with b
  BOOST_TEST(*one.next(counters) == 5u);   // b is empty: begins c
  BOOST_TEST(*one.next(counters) == 3u);
  BOOST_TEST(*one.next(counters) == 4u); // no kind is left to begin: helps with a
  BOOST_TEST(!one.next(counters));
  BOOST_TEST(!other.next(counters));
}

BOOST_AUTO_TEST_CASE(help_goes_to_the_kind_with_the_most_work_left) {
  const HandOut plan({"a", "a", "a", "b", "b", "b", "c"}, {9, 1, 1, 5, 5, 4, 1}, true);
  ranks::Counters counters(plan.counters());
  HandOut one = plan, other = plan, third = plan;
  BOOST_TEST((*one.next(counters) == 3u && *other.next(counters) == 0u && *third.next(counters) == 6u));
  BOOST_TEST(*third.next(counters) == 4u); // b has 9 left, a has 2
  BOOST_TEST(*other.next(counters) == 1u);
}

BOOST_AUTO_TEST_CASE(a_single_process_keeps_the_order_of_the_plan) {
  HandOut alone(kinds, work, false);
  ranks::Counters counters(alone.counters());
  for (size_t i = 0; i < work.size(); ++i) BOOST_TEST(*alone.next(counters) == i);
  BOOST_TEST(!alone.next(counters));
}

BOOST_AUTO_TEST_CASE(items_without_known_work_are_handed_out_too) {
  HandOut one({"a", "b", "b"}, {0, 0, 0}, true);
  HandOut other = one;
  ranks::Counters counters(one.counters());
  std::set<size_t> taken{*one.next(counters), *other.next(counters), *one.next(counters)};
  BOOST_TEST((taken == std::set<size_t>{0, 1, 2}));
  BOOST_TEST((!one.next(counters) && !other.next(counters)));
}

/// Ranks that always work: which items each took, when the last one ended, and how often ranks met a kind for the first
/// time.
struct Simulated {
  std::vector<size_t> taken;
  double end = 0;
  size_t first_meetings = 0;
};
Simulated simulated(size_t ranks, const std::vector<std::string> &kinds, const std::vector<double> &estimate,
                    const std::vector<double> &seconds) {
  const HandOut plan(kinds, estimate, true);
  ranks::Counters counters(plan.counters());
  std::vector<HandOut> hands(ranks, plan);
  std::vector<double> free(ranks, 0);
  std::vector<std::set<std::string>> met(ranks);
  Simulated s;
  while (true) {
    const size_t rank = size_t(std::min_element(free.begin(), free.end()) - free.begin());
    const std::optional<size_t> item = hands[rank].next(counters);
    if (!item) { // then none is left for any rank
      s.end = *std::max_element(free.begin(), free.end());
      return s;
    }
    s.taken.push_back(*item);
    s.first_meetings += met[rank].insert(kinds[*item]).second;
    free[rank] += seconds[*item];
  }
}

BOOST_AUTO_TEST_CASE(every_item_once_and_no_rank_idle_before_the_last_item_begins) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Stream random(seed, "hand_out");
    const size_t items = 400, layers = 30, ranks = 1 + seed % 7;
    std::vector<std::string> of(items);
    std::vector<double> seconds(items), estimate(items);
    for (size_t i = 0; i < items; ++i) {
      of[i] = std::to_string(i % layers);
      seconds[i] = std::exp(2 * random.normal(2 * i));
      estimate[i] = seconds[i] * std::exp(random.normal(2 * i + 1)); // known to a factor of e
    }
    Simulated s = simulated(ranks, of, estimate, seconds);
    std::sort(s.taken.begin(), s.taken.end());
    for (size_t i = 0; i < items; ++i) BOOST_TEST(s.taken.at(i) == i);
    BOOST_TEST(s.taken.size() == items);
    const double whole = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    BOOST_TEST(s.end <= whole / double(ranks) + *std::max_element(seconds.begin(), seconds.end()));
    // one rank loads most kinds; each rank helps with few others
    BOOST_TEST(s.first_meetings <= layers + 4 * ranks);
  }
}

BOOST_AUTO_TEST_CASE(equal_items_end_together) {
  const std::vector<double> second(90, 1);
  std::vector<std::string> of(90);
  for (size_t i = 0; i < 90; ++i) of[i] = std::to_string(i / 9);
  for (size_t ranks : {2u, 3u, 5u}) {
    const Simulated s = simulated(ranks, of, second, second);
    BOOST_TEST(s.end == 90.0 / double(ranks));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
