// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(cosformer)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // length 2: each step rotates by half of a quarter turn, c = s = cos(pi/4). S_2 = e^{i pi/4} 3 + 5*2, z_2 = e^{i
  // pi/4} + 2.
  const double c = std::sqrt(0.5), rounding = 50 * epsilon_of(Real::f64);
  const Variant &variant = find_variant("cosformer");
  const Output out = forward(variant, one_head(2, {1, 1}, {1, 2}, {3, 5}),
                             {"recurrent", Real::f64, 1, variant_params(variant, {{"length", "2"}})});
  check_close(out.o, {3, (3 * c + 10) / (c + 2)}, rounding);
  check_close(out.state, {3 * c + 10, 3 * c, c + 2, c}, rounding);
}

BOOST_AUTO_TEST_CASE(weights_are_cosines_of_the_distance) {
  const int T = 40, D = 3;
  const Variant &variant = find_variant("cosformer");
  const Sequence s = random_sequence({1, 1, T, D, 1}, 6);
  std::vector<double> expected;
  for (int t = 0; t < T; ++t) {
    double sum = 0, weights = 0;
    for (int i = 0; i <= t; ++i) {
      double weight = 0;
      for (int j = 0; j < D; ++j) weight += std::fmax(s.q[t * D + j], 0) * std::fmax(s.k[i * D + j], 0);
      weight *= std::cos(std::acos(-1.0) * (t - i) / 200);
      sum += weight * s.v[i], weights += weight;
    }
    expected.push_back(weights == 0 ? 0 : sum / weights);
  }
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(variant, s, {form, Real::f64, 7, variant_params(variant, {{"length", "100"}})});
    check_close(out.o, expected,
                (T + D) * 4 * epsilon_of(Real::f64) *
                    max_abs(s.v)); // weights are positive, so reads are means of the values
  }
}

BOOST_AUTO_TEST_CASE(refuses_more_steps_than_its_length) {
  const Variant &variant = find_variant("cosformer");
  BOOST_CHECK_EXCEPTION(forward(variant, random_sequence({1, 1, 5, 2, 2}, 1),
                                {"recurrent", Real::f64, 1, variant_params(variant, {{"length", "4"}})}),
                        Error, [](const Error &e) {
                          return e.code == exit_input &&
                                 std::string(e.what()).find("--set length=5") != std::string::npos;
                        });
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
