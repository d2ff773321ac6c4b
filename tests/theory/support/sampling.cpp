// SPDX-License-Identifier: Apache-2.0
#include "theory/support/sampling.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include "theory/support/hermite.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(sampling)

/// N(1, 1): n samples detect a relative error of (6.47 + 1.645) / sqrt(n), 4% from n = 41,200 and 1% from 658,000 on.
std::vector<double> around_one(size_t first, size_t count) {
  std::vector<double> samples = Stream(1, "around one").normals(count, first);
  for (double &x : samples) x += 1;
  return samples;
}
double detected(double wanted, size_t block, size_t most = 10'000'000) {
  const Mean mean = sample_mean(wanted, 400, most, in_blocks(block, around_one));
  return sensitivity(sampled_point(mean, 1));
}

BOOST_AUTO_TEST_CASE(cheap_samples_are_drawn_until_one_percent) {
  const double cheap = detected(0.04, 10'000), dear = detected(0.04, 10);
  BOOST_TEST(cheap <= 0.0105);
  BOOST_TEST(cheap > 0.008);
  BOOST_TEST(dear <= 0.042);
  BOOST_TEST(dear > 0.03);
  // 192 blocks of 1,000 samples: between the two
  BOOST_TEST(detected(0.04, 1000) == 8.115 / std::sqrt(192'000), boost::test_tools::tolerance(0.01));
}

BOOST_AUTO_TEST_CASE(a_rough_mean_stays_rough) { BOOST_TEST(detected(rough, 10'000) > 0.08); }

BOOST_AUTO_TEST_CASE(never_more_than_most) {
  BOOST_TEST(detected(0.01, 10'000, 5000) == 8.115 / std::sqrt(5000), boost::test_tools::tolerance(0.05));
}

BOOST_AUTO_TEST_CASE(blocks_change_no_sample) {
  const std::vector<double> whole = around_one(3, 100);
  std::vector<size_t> starts;
  const auto kept = [&](size_t first, size_t count) { return starts.push_back(first), around_one(first, count); };
  BOOST_TEST(in_blocks(7, around_one)(3, 100) == whole);
  BOOST_TEST((Blocks{7, kept, true}(3, 100)) == whole);
  BOOST_TEST(starts.size() == 15u);
  BOOST_TEST(std::is_sorted(starts.begin(), starts.end()));
}

BOOST_AUTO_TEST_CASE(hermite_terms_add_up_to_the_exponential) {
  const Vector terms = hermite_terms(1, 2, 3); // He_1 = 2, He_2 / 2 = 3/2, He_3 / 6 = 1/3
  BOOST_TEST(terms[0] == 2);
  BOOST_TEST(terms[1] == 1.5);
  BOOST_TEST(terms[2] == 1 / 3.0, boost::test_tools::tolerance(1e-15));
  BOOST_TEST(summed(hermite_terms(0.7, 1.3, 30)) == std::exp(0.7 * 1.3 - 0.245) - 1,
             boost::test_tools::tolerance(1e-13));
  const Vector all = hermite_terms(0.7, 1.3, 30);
  double even = 0;
  for (size_t n = 2; n <= all.size(); n += 2) even += (n % 4 ? -1 : 1) * all[n - 1];
  BOOST_TEST(even == std::exp(0.245) * std::cos(0.7 * 1.3) - 1, boost::test_tools::tolerance(1e-13));
  BOOST_TEST(hermite_square(2, 3) == 64 / 6.0, boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
