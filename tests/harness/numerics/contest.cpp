// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/contest.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(contests)

/// A machine that becomes 1% slower per second of work, with 1% of noise in all times.
struct Machine {
  double now = 0;
  std::uint64_t draws = 0;
  double run(double seconds) {
    const double taken = seconds * (1 + 0.01 * now) * (1 + 0.01 * Stream(3, "test/contest").normals(1, draws++).at(0));
    now += taken;
    return taken;
  }
};

struct Fake {
  double seconds;
  std::vector<size_t> turns = {};
};

/// Medians after a contest on one machine.
std::vector<double> medians(std::vector<Fake> &fakes, const SamplingRule &rule) {
  Machine machine;
  std::vector<Contestant> all;
  for (Fake &fake : fakes)
    all.push_back({[&](size_t count) {
      fake.turns.push_back(count);
      std::vector<Sample> taken;
      while (taken.size() < count) taken.push_back({machine.run(fake.seconds), 1});
      return taken;
    }});
  std::vector<double> found;
  for (const Sampling &s : contest(all, rule, [] {})) found.push_back(median_of(s.seconds()));
  return found;
}

BOOST_AUTO_TEST_CASE(neither_a_slow_nor_a_fast_implementation_is_favoured) {
  SamplingRule rule;
  rule.least = 400, rule.least_seconds = 0; // both are timed for seconds, while the machine slows down
  for (const double ratio : {1.0, 2.0, 10.0})
    for (const bool slow_first : {false, true}) {
      std::vector<Fake> fakes{{slow_first ? 2e-3 * ratio : 2e-3}, {slow_first ? 2e-3 : 2e-3 * ratio}};
      const std::vector<double> found = medians(fakes, rule);
      const double seen = slow_first ? found[0] / found[1] : found[1] / found[0];
      BOOST_TEST(std::fabs(seen / ratio - 1) < 0.02, ratio << " seen as " << seen);
    }
}

BOOST_AUTO_TEST_CASE(one_after_the_other_would_favour_the_first) { // which the test above would detect
  SamplingRule rule;
  rule.least = 400, rule.least_seconds = 4;
  Machine machine;
  std::vector<double> found;
  for (int i = 0; i < 2; ++i) {
    Sampling alone(rule);
    while (!alone.done()) alone.add({machine.run(1e-2), 1});
    found.push_back(median_of(alone.seconds()));
  }
  BOOST_TEST(found[1] / found[0] > 1.03);
}

BOOST_AUTO_TEST_CASE(the_order_is_turned_round_and_each_has_a_turn_in_both) {
  std::string order;
  const auto fake = [&](char name, double seconds) {
    return Contestant{[&order, name, seconds](size_t count) {
      order += name;
      return std::vector<Sample>(count, {seconds, 1});
    }};
  };
  contest({fake('a', 10), fake('b', 10), fake('c', 10)}, {}, [] {}); // one sample of each would suffice
  BOOST_TEST(order == "abccba");
}

BOOST_AUTO_TEST_CASE(who_breaks_down_is_out_and_holds_nobody_up) {
  int calls = 0;
  const Contestant broken{[&](size_t) { return ++calls, std::vector<Sample>(); }}, good{[](size_t count) {
    return std::vector<Sample>(count, {0.1, 1});
  }};
  const std::vector<Sampling> found = contest({broken, good}, {}, [] {});
  BOOST_TEST((calls == 1 && found[0].seconds().empty() && found[1].stopped_by() == "precise"));
}

BOOST_AUTO_TEST_CASE(a_slow_clock_is_rested) {
  int rests = 0;
  double clock = 0.5;
  const Contestant hot{[&](size_t count) { return std::vector<Sample>(count, {0.1, clock}); }};
  const std::vector<Sampling> found = contest({hot}, {}, [&] { ++rests, clock += 0.1; });
  BOOST_TEST((rests == 3 && found[0].discarded() == 3u && !found[0].kept_slow()));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
