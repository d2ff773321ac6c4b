// SPDX-License-Identifier: Apache-2.0
#include "harness/device/probe.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(prefix_solve)

/// The largest residual of (H_t + I) x_t = q_t over all steps, H_t = alpha_t H_{t-1} + k_t k_t^T from an H_0 of F pairs.
double residual(int F, int n, bool decays, Real real, Loops loops) {
  const std::vector<double> k = Stream(3, "test/keys").normals(size_t(n) * F),
                            q = Stream(3, "test/queries").normals(size_t(n) * F),
                            before = Stream(3, "test/before").normals(size_t(F) * F),
                            alpha = decays ? Stream(3, "test/decays").uniforms(n, 0.5, 1) : std::vector<double>();
  std::vector<double> M(size_t(F) * F, 0.0);
  const auto at = [F](int i, int j) { return size_t(i) * F + j; };
  for (int p = 0; p < F; ++p)
    for (int i = 0; i < F; ++i)
      for (int j = 0; j < F; ++j) M[at(i, j)] += before[at(p, i)] * before[at(p, j)] / F;
  const std::vector<double> x = tile_prefixes(n, F, 1, alpha, k, q, M, real, loops);
  double worst = 0;
  for (int t = 0; t < n; ++t)
    for (int i = 0; i < F; ++i) {
      double left = x[at(t, i)] - q[at(t, i)]; // the ridge is 1
      for (int j = 0; j < F; ++j) {
        double &element = M[at(i, j)];
        element = (decays ? alpha[t] : 1) * element + k[at(t, i)] * k[at(t, j)];
        left += element * x[at(t, j)];
      }
      worst = std::max(worst, std::fabs(left));
    }
  return worst;
}

BOOST_AUTO_TEST_CASE(the_solution_of_every_prefix) {
  for (Loops loops : {Loops::best, Loops::plain})
    for (Real real : {Real::f32, Real::f64})
      for (int F : {1, 3, 8, 33})
        for (int n : {1, 8, 9, 16, 21})
          for (bool decays : {false, true}) {
            const double worst = residual(F, n, decays, real, loops);
            BOOST_TEST_INFO(name_of(real) << (loops == Loops::plain ? " by plain loops" : "") << " F=" << F
                                          << " n=" << n << ": residual " << worst);
            BOOST_TEST(worst <= 10.0 * (F + n) * F * epsilon_of(real)); // |M| |x| <= trace M |q| / 1
          }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
