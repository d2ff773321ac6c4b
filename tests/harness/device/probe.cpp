// SPDX-License-Identifier: Apache-2.0
#include "harness/device/probe.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(probes)

std::vector<double> in_type(std::vector<double> x, Real real) {
  if (real == Real::f32)
    for (double &value : x) value = static_cast<float>(value);
  return x;
}

BOOST_AUTO_TEST_CASE(exponentials_to_a_unit_in_the_last_place) {
  for (Real real : {Real::f32, Real::f64}) {
    const double low = real == Real::f32 ? -87 : -708, high = real == Real::f32 ? 88 : 709;
    const std::vector<double> x = in_type(Stream(4, "exp").uniforms(20000, low, high), real), y = device_exp(x, real);
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const long double exact = std::exp((long double)x[i]);
      worst = std::max(worst, double(std::fabs(y[i] - exact) / exact));
    }
    BOOST_TEST_INFO(name_of(real) << ": " << worst / epsilon_of(real));
    BOOST_TEST(worst <= 2 * epsilon_of(real));
    const std::vector<double> edges = device_exp({-INFINITY, INFINITY, NAN, -1e30, 1e30, 0}, real);
    BOOST_TEST((edges[0] == 0 && std::isinf(edges[1]) && std::isnan(edges[2]) && edges[3] == 0 &&
                std::isinf(edges[4]) && edges[5] == 1));
  }
}

BOOST_AUTO_TEST_CASE(products_and_solutions_by_hand) {
  for (Real real : {Real::f32, Real::f64}) {
    BOOST_TEST((tile_product(2, 1, 2, {1, 2, 3, 4}, {5, 6}, false, real) == std::vector<double>{17, 39}));
    BOOST_TEST((tile_product(1, 2, 2, {1, 2}, {3, 4, 5, 6}, true, real) == std::vector<double>{11, 17}));
    BOOST_TEST((tile_solve(2, 1, {9, 9, 2, 9}, {3, 10}, real) ==
                std::vector<double>{3, 4})); // elements on and above the diagonal are ignored
    BOOST_TEST((tile_prefixes(2, 1, 1, {1, 0.5}, {1, 2}, {4, 11}, {0}, real) == std::vector<double>{2, 2}));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
