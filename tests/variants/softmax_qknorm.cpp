// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(softmax_qknorm)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Cosines (3/5, 4/5) at step 2 whatever the lengths; scale 5 ln 3 makes the weights 1/4 and 3/4.
  const Sequence s = one_head(2, {1, 0, 6, 8}, {7, 0, 0, 0.5}, {8, 4});
  const Variant &layer = find_variant("softmax_qknorm");
  Params params = variant_params(layer);
  params.set("scale", 5 * std::log(3.0));
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(layer, s, {form, Real::f64, 1, params}).o, {8, 5}, 64 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(is_nadaraya_watson_with_bandwidth_two_sqrt_dk) { // 003 Eq 50-51
  Sequence s = random_sequence({1, 1, 30, 9, 4}, 5);                  // unit rows
  const double bandwidth = 2 * std::sqrt(9.0);
  std::vector<double> expected;
  for (int t = 0; t < 30; ++t) {
    std::vector<double> sum(4, 0.0);
    double mass = 0;
    for (int i = 0; i <= t; ++i) {
      double square = 0;
      for (int c = 0; c < 9; ++c) square += std::pow(s.k[i * 9 + c] - s.q[t * 9 + c], 2);
      const double weight = std::exp(-square / bandwidth);
      mass += weight;
      for (int c = 0; c < 4; ++c) sum[c] += weight * s.v[i * 4 + c];
    }
    for (double x : sum) expected.push_back(x / mass);
  }
  for (size_t i = 0; i < s.k.size(); ++i) s.k[i] *= 1 + i / 9 % 5, s.q[i] *= 3; // lengths are normalised away
  const double bound = accumulated_terms(s.shape, 64) * epsilon_of(Real::f64) * max_abs(s.v);
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(find_variant("softmax_qknorm"), s, {form, Real::f64, 64, {}}).o, expected, bound);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
