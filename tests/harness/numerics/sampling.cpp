// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/sampling.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(sampling)

/// Adds samples of one distribution until there are enough.
Sampling sampled(const SamplingRule &rule, double seconds, double noise, std::uint64_t seed = 1) {
  Sampling sampling(rule);
  const std::vector<double> draws = Stream(seed, "test/sampling").normals(5000);
  for (size_t i = 0; !sampling.done(); ++i) sampling.add({seconds * (1 + noise * draws.at(i)), 1});
  return sampling;
}

BOOST_AUTO_TEST_CASE(steady_times_stop_at_the_least) {
  const Sampling s = sampled({}, 0.1, 0);
  BOOST_TEST((s.seconds().size() == 5u && s.stopped_by() == "precise"));
  BOOST_TEST(sampled({}, 0.01, 0).seconds().size() == 30u); // as many as fit into 0.3 s
}

BOOST_AUTO_TEST_CASE(noisy_times_stop_when_the_median_is_known_to_half_a_per_cent) {
  SamplingRule rule;
  rule.least_seconds = 0, rule.least = 100; // so that it does not stop earlier because the noise has settled
  double worst = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Sampling s = sampled(rule, 1e-3, 0.05, seed);
    BOOST_TEST(s.stopped_by() == "precise");
    // (1.2533 * 5% / 0.5%)^2 = 157 samples
    BOOST_TEST((s.seconds().size() >= 100u && s.seconds().size() < 230u), s.seconds().size());
    worst = std::max(worst, std::fabs(median_of(s.seconds()) / 1e-3 - 1));
  }
  BOOST_TEST(worst < 4 * 0.005);
}

BOOST_AUTO_TEST_CASE(noise_that_stays_stops_before_the_most) {
  SamplingRule rule;
  rule.least_seconds = 0;
  const Sampling s = sampled(rule, 1e-3, 0.5); // half a per cent would take 15,700 samples
  BOOST_TEST(s.stopped_by() == "noise settled");
  BOOST_TEST((s.seconds().size() >= 10u && s.seconds().size() < 1000u));
  Sampling growing(rule); // its noise never settles
  for (int i = 0; !growing.done(); ++i) growing.add({std::pow(1.1, i % 300), 1});
  BOOST_TEST((growing.stopped_by() == "most samples" || growing.stopped_by() == "most seconds"));
}

BOOST_AUTO_TEST_CASE(what_takes_long_is_sampled_once) {
  BOOST_TEST(sampled({}, 7, 0).seconds().size() == 1u);
  BOOST_TEST(sampled({}, 3, 0).seconds().size() == 2u);
  Sampling flushing; // a millisecond per pass after a second of flushing caches
  while (!flushing.done()) flushing.add({1e-3, 1, 1});
  BOOST_TEST((flushing.seconds().size() == 6u && flushing.stopped_by() == "most seconds"));
}

BOOST_AUTO_TEST_CASE(samples_at_a_slow_clock_are_discarded_and_counted) {
  Sampling s;
  BOOST_TEST((s.add({1e-3, 0.76}) && !s.add({2e-3, 0.74}) && s.add({1e-3, 1})));
  BOOST_TEST((s.seconds() == std::vector<double>{1e-3, 1e-3} && s.discarded() == 1u && !s.kept_slow()));
  BOOST_TEST((s.clock() == 0.88 && Sampling().clock() == 1)); // median of the samples kept
}

BOOST_AUTO_TEST_CASE(discarding_has_an_end) {
  Sampling s;
  int asked = 0;
  for (; !s.done(); ++asked) s.add({0.1, 0.5}); // a card that stays slow
  BOOST_TEST((s.discarded() == 50u && s.seconds().size() == 5u && asked == 55));
  BOOST_TEST(s.kept_slow());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
