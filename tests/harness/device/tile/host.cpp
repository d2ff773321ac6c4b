// SPDX-License-Identifier: Apache-2.0
// Cases that tile.cpp does not reach through tile.hpp: strides, staircases, sums into existing results.
#include "harness/device/tile/host.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>
#include <limits>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(tile_host)

using tile::Matrix;
using tile::Product;
using tile::Staircase;

const std::vector<double> a = Stream(1, "a").normals(40 * 40), b = Stream(1, "b").normals(40 * 40);

/// 2 A B + 0.5 C, element by element; C is 1 to begin with.
double expected(const Product<double> &p, int i, int j) {
  double sum = 0;
  for (int x = 0; x < p.given.end(i, p.k); ++x) sum += p.A(i, x) * p.B(x, j);
  return 2 * sum + 0.5;
}

void check(const Product<double> &p, int m, int n) {
  const int ldc = 41;
  std::vector<double> C(size_t(m) * ldc, 1.0);
  tile::host::gemm(m, n, 2.0, p, 0.5, C.data(), ldc);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < p.wanted.end(i, n); ++j) BOOST_TEST(std::abs(C[i * ldc + j] - expected(p, i, j)) < 1e-13 * 40);
    for (int j = n; j < ldc; ++j) BOOST_TEST(C[i * ldc + j] == 1); // nothing is written past the rows
  }
}

BOOST_AUTO_TEST_CASE(operands_have_any_strides) {
  for (const Matrix<double> &A : {tile::rows(a.data(), 40), tile::transposed(a.data(), 40), {a.data(), 80, 2}})
    for (const Matrix<double> &B : {tile::rows(b.data(), 40), tile::transposed(b.data(), 40)})
      for (int n : {1, 9, 17}) check({A, B, 11}, 13, n);
}

BOOST_AUTO_TEST_CASE(a_staircase_ends_sums_and_results) {
  const Matrix<double> B = tile::rows(b.data(), 40);
  const auto A_within = [](Staircase given) { // zero elsewhere, as a staircase promises
    std::vector<double> within = a;
    for (int i = 0; i < 40; ++i)
      for (int j = given.end(i, 40); j < 40; ++j) within[i * 40 + j] = 0;
    return within;
  };
  for (int first : {-3, 0, 1, 7})
    for (const Staircase given : {Staircase{}, {first, 1}, {first, 2}})
      for (const Staircase wanted : {Staircase{}, {first, 1}}) {
        const std::vector<double> within = A_within(given);
        check({tile::rows(within.data(), 40), B, 19, given, wanted}, 19, 19);
      }
}

BOOST_AUTO_TEST_CASE(rows_of_any_length_to_exponentials_and_their_sum) {
  for (int n : {1, 7, 8, 9, 16, 33})
    for (double peak : {0.5, -1e308}) { // the second: no logit seen yet
      std::vector<double> p(a.begin(), a.begin() + n), exact;
      p.resize(40, 7);
      if (peak < 0) std::fill(p.begin(), p.begin() + n, -std::numeric_limits<double>::infinity());
      double sum = 0;
      for (int j = 0; j < n; ++j) exact.push_back(std::exp(p[j] - peak)), sum += exact[j];
      const double found = tile::host::exponentiate(n, peak, p.data()), eps = epsilon_of(Real::f64);
      BOOST_TEST(std::abs(found - sum) <= (n + 2) * eps * sum);
      for (int j = 0; j < 40; ++j)
        BOOST_TEST(std::abs(p[j] - (j < n ? exact[j] : 7)) <= (j < n ? 2 * eps * exact[j] : 0));
    }
}

/// Whole registers and remainders may use different instructions.
template <class Real> void check_exponentials(const std::vector<Real> &values) {
  for (int first = 0; first < int(values.size()); ++first)
    for (int n : {1, 15, 16}) {
      std::vector<Real> p(n);
      for (int j = 0; j < n; ++j) p[j] = values[(first + j) % values.size()];
      const std::vector<Real> x = p;
      tile::host::exponentiate(n, Real(0), p.data());
      for (int j = 0; j < n; ++j) {
        const Real exact = std::exp(x[j]);
        const bool same = std::isnan(exact) ? std::isnan(p[j]) : p[j] == exact;
        const Real bound = 2 * std::numeric_limits<Real>::epsilon() * exact + std::numeric_limits<Real>::denorm_min();
        BOOST_TEST((same || std::abs(p[j] - exact) <= bound), "exp(" << x[j] << ") = " << p[j] << ", n = " << n);
      }
    }
}

BOOST_AUTO_TEST_CASE(exponentials_at_the_ends_of_the_range) {
  const double infinity = std::numeric_limits<double>::infinity();
  check_exponentials<float>({0, -0.0f, -0.3f, -87.3f, -87.5f, -95, -103.2f, -104.5f, -1e30f, float(-infinity), 1, 88.7f,
                             89.5f, 1e30f, float(infinity), std::nanf("")});
  check_exponentials<double>({0, -0.0, -0.3, -708.3, -709.5, -730, -745.1, -747, -1e300, -infinity, 1, 709.7, 710.5,
                              1e300, infinity, std::nan("")});
}

BOOST_AUTO_TEST_CASE(triangles_of_any_size_are_solved_for_any_number_of_columns) {
  for (int n : {1, 2, 5, 16, 33})
    for (int columns : {1, 7, 8, 9, 16, 17, 33}) {
      std::vector<double> L(size_t(n) * 40), X(size_t(n) * 40, 7.0);
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j) L[i * 40 + j] = a[i * 40 + j] / 40;
        for (int c = 0; c < columns; ++c) X[i * 40 + c] = b[i * 40 + c];
      }
      tile::host::solve_unit_lower(n, columns, L.data(), 40, X.data(), 40);
      for (int i = 0; i < n; ++i)
        for (int c = 0; c < 40; ++c) {
          double product = X[i * 40 + c];
          for (int j = 0; j < i && c < columns; ++j) product += L[i * 40 + j] * X[j * 40 + c];
          BOOST_TEST(std::abs(product - (c < columns ? b[i * 40 + c] : 7)) < 40 * 40 * epsilon_of(Real::f64));
        }
    }
}

BOOST_AUTO_TEST_CASE(transposes_of_any_size) {
  for (int m : {1, 4, 9, 33})
    for (int n : {1, 8, 17}) {
      std::vector<double> out(size_t(n) * 40, 7.0);
      tile::host::transpose(m, n, a.data(), 40, out.data(), 40);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < 40; ++j) BOOST_TEST(out[i * 40 + j] == (j < m ? a[j * 40 + i] : 7));
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
