// SPDX-License-Identifier: Apache-2.0
#include "harness/device/probe.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(prefix_solve)

BOOST_AUTO_TEST_CASE(the_solution_of_every_prefix) {
  for (Real real : {Real::f32, Real::f64})
    for (int F : {1, 3, 8, 33})
      for (int n : {1, 8, 21}) {
        const std::vector<double> k = Stream(3, "test/keys").normals(size_t(n) * F),
                                  q = Stream(3, "test/queries").normals(size_t(n) * F),
                                  alpha = Stream(3, "test/decays").uniforms(n, 0.5, 1), H(size_t(F) * F, 0.0);
        const std::vector<double> x = tile_prefixes(n, F, 1, alpha, k, q, H, real);
        std::vector<double> M(size_t(F) * F, 0.0);
        double worst = 0;
        for (int t = 0; t < n; ++t) {
          for (int i = 0; i < F; ++i) {
            double left = x[size_t(t) * F + i] - q[size_t(t) * F + i]; // the ridge is 1
            for (int j = 0; j < F; ++j) {
              double &element = M[size_t(i) * F + j];
              element = alpha[t] * element + k[size_t(t) * F + i] * k[size_t(t) * F + j];
              left += element * x[size_t(t) * F + j];
            }
            worst = std::max(worst, std::fabs(left));
          }
        }
        BOOST_TEST_INFO(name_of(real) << " F=" << F << " n=" << n << ": residual " << worst);
        BOOST_TEST(worst <= 10.0 * (F + n) * F * epsilon_of(real)); // |M| |x| <= trace M |q| / 1
      }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
