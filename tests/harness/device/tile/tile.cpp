// SPDX-License-Identifier: Apache-2.0
// tile.hpp at every kind of edge and in every precision, compared with sums in double.
#include "harness/device/backend.hpp"
#include "harness/device/probe.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
namespace {

std::vector<double> rounded(std::vector<double> x, Real real) {
  if (real == Real::f32)
    for (double &value : x) value = static_cast<float>(value);
  return x;
}

/// Largest |measured - AB| over the sum of the products' magnitudes, over all elements.
double product_error(int m, int n, int k, bool transposed, Real real, Math math, double offset,
                     Loops loops = Loops::best) {
  std::vector<double> A = Stream(1, "test/left").normals(size_t(m) * k),
                      B = Stream(1, "test/right").normals(size_t(k) * n);
  for (double &x : A)
    x += offset; // with an offset, all products have one sign, and rounding errors in one direction accumulate
  for (double &x : B) x += offset;
  A = rounded(A, real), B = rounded(B, real);
  const std::vector<double> C = tile_product(m, n, k, A, B, transposed, real, math, loops);
  double worst = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      long double sum = 0, size = 0;
      for (int p = 0; p < k; ++p) {
        const long double x = (long double)A[size_t(i) * k + p] * B[transposed ? size_t(j) * k + p : size_t(p) * n + j];
        sum += x, size += std::fabs(x);
      }
      worst = std::max(worst, double(std::fabs(C[size_t(i) * n + j] - sum) / size));
    }
  return worst;
}

} // namespace

BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(device)

BOOST_AUTO_TEST_CASE(products_of_any_size_round_as_their_type_does, *slow) {
  for (Real real : {Real::f32, Real::f64})
    for (int m : {1, 5, 16, 33, 64})
      for (int n : {1, 7, 16, 65})
        for (int k : {1, 4, 17, 64, 300})
          for (bool transposed : {false, true})
            for (double offset : {0.0, 3.0})
              for (Loops loops : {Loops::best, Loops::plain}) {
                // A plain sum rounds once per term. Three TF32 products instead of one: 2^-21 of the products'
                // magnitude.
                const double allowed = real == Real::f32 && has_math(Math::tf32) && loops == Loops::best
                                           ? std::ldexp(1, -21) * std::max(1.0, k / 64.0)
                                           : (k + 2) * epsilon_of(real) / 2;
                const double error = product_error(m, n, k, transposed, real, Math::exact, offset, loops);
                BOOST_TEST_INFO(name_of(real) << " " << m << "x" << n << "x" << k << (transposed ? " transposed" : "")
                                              << (loops == Loops::plain ? " by plain loops" : "") << " offset "
                                              << offset << ": " << error << ", allowed " << allowed);
                BOOST_TEST(error <= allowed);
              }
}

BOOST_AUTO_TEST_CASE(coarser_arithmetic_is_as_coarse_as_it_says) {
  if (!has_math(Math::tf32)) return;
  const double tf32 = product_error(64, 64, 64, false, Real::f32, Math::tf32, 0),
               bf16 = product_error(64, 64, 64, false, Real::f32, Math::bf16, 0);
  BOOST_TEST_INFO("tf32 " << tf32 << ", bf16 " << bf16); // both operands rounded by 2^-11, or 2^-8
  BOOST_TEST((tf32 > std::ldexp(1, -15) && tf32 <= std::ldexp(1, -10)));
  BOOST_TEST((bf16 > std::ldexp(1, -12) && bf16 <= std::ldexp(1, -7)));
}

BOOST_AUTO_TEST_CASE(triangular_systems_of_any_size) {
  for (Real real : {Real::f32, Real::f64})
    for (int n : {1, 2, 8, 16, 17, 64, 100})
      for (int columns : {1, 16, 37}) {
        std::vector<double> L = Stream(2, "test/triangle").normals(size_t(n) * n),
                            wanted = Stream(2, "test/solution").normals(size_t(n) * columns);
        for (double &x : L) x /= n; // rows of I + L near those of I: the condition number stays below 10
        L = rounded(L, real), wanted = rounded(wanted, real);
        std::vector<double> X = wanted;
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < columns; ++j)
            for (int p = 0; p < i; ++p)
              X[size_t(i) * columns + j] += L[size_t(i) * n + p] * wanted[size_t(p) * columns + j];
        BOOST_TEST_INFO(name_of(real) << " n=" << n << " columns=" << columns);
        check_close(tile_solve(n, columns, L, X, real), wanted, 10 * (n + 10) * epsilon_of(real));
        if (n <= 16)
          check_close(tile_solve(n, columns, L, X, real, Loops::plain), wanted, 10 * (n + 10) * epsilon_of(real));
      }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
