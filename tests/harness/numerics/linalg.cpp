// SPDX-License-Identifier: Apache-2.0
// Decompositions of matrices whose factors are known by hand, and refusals.
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(linalg)

constexpr double eps = 0x1p-52;

Dense random(int rows, int columns, const char *name) {
  return {rows, columns, Stream(1, name).normals(size_t(rows) * columns)};
}

BOOST_AUTO_TEST_CASE(products_transposes_and_norms) {
  const Dense a(2, 3, {1, 2, 3, 4, 5, 6}), b(3, 2, {1, 0, 0, 1, 1, 1});
  check_close((a * b).data, {4, 5, 10, 11}, 0);
  check_close((a + 2.0 * a - a).data, (2.0 * a).data, 0);
  check_close(transpose(a).data, {1, 4, 2, 5, 3, 6}, 0);
  check_close(times(a, {1, 0, -1}), {-2, -2}, 0);
  check_close(outer({1, 2}, {3, 4}).data, {3, 4, 6, 8}, 0);
  BOOST_TEST(trace(Dense::identity(5)) == 5);
  BOOST_TEST(frobenius_norm(Dense(1, 2, {3, 4})) == 5);
  BOOST_TEST((a * Dense(3, 0)).data.empty());
  BOOST_CHECK_THROW(a * a, std::logic_error);
  BOOST_CHECK_THROW(a + b, std::logic_error);
  BOOST_TEST(std::isnan(max_abs({1, std::nan("")})));
}

BOOST_AUTO_TEST_CASE(singular_values_of_known_matrices) {
  // [[3, 0], [4, 5]]: A^T A = [[25, 20], [20, 25]], of eigenvalues 45 and 5.
  check_close(singular_values(Dense(2, 2, {3, 0, 4, 5})), {std::sqrt(45.0), std::sqrt(5.0)}, 8 * eps * 7);
  check_close(singular_values(Dense(3, 1, {1, 2, 2})), {3}, 8 * eps * 3);
  check_close(singular_values(outer({1, 2, 2}, {3, 4})), {15, 0}, 8 * eps * 15);
  BOOST_TEST(std::fabs(spectral_norm(random(40, 30, "a")) - singular_values(random(40, 30, "a"))[0]) == 0);
  // sum of squares = squared Frobenius norm; the product of the values of a square matrix is |det|
  const Dense a = random(17, 9, "a");
  double squares = 0;
  for (double s : singular_values(a)) squares += s * s;
  BOOST_TEST(std::fabs(squares - std::pow(frobenius_norm(a), 2)) < 30 * eps * squares);
  BOOST_CHECK_THROW(singular_values(Dense(1, 1, {std::nan("")})), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(eigenvalues_and_cholesky_of_known_matrices) {
  check_close(symmetric_eigenvalues(Dense(2, 2, {2, 1, 1, 2})), {1, 3}, 8 * eps * 3);
  check_close(symmetric_eigenvalues(Dense(2, 2, {0, 1, 1, 0})), {-1, 1}, 8 * eps);
  check_close(cholesky(Dense(2, 2, {4, 2, 2, 5})).data, {2, 0, 1, 2}, 4 * eps);
  BOOST_CHECK_THROW(cholesky(Dense(2, 2, {1, 2, 2, 1})), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(substitution_reads_the_strict_lower_triangle_alone) {
  // x = 1, then 2 - 3 x = -1, then 4 - 5 x - 6 (-1) = 5
  check_close(solve_unit_lower(Dense(3, 3, {7, 8, 9, 3, 10, 11, 5, 6, 12}), Dense(3, 1, {1, 2, 4})).data, {1, -1, 5},
              0);
  const int n = 40;
  Dense L = random(n, n, "L"), B = random(n, 3, "B"), unit = Dense::identity(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) unit(i, j) = L(i, j) /= n;
  check_close((unit * solve_unit_lower(L, B)).data, B.data, 10 * n * eps);
  BOOST_TEST(solve_unit_lower(Dense(0, 0), Dense(0, 3)).data.empty());
  BOOST_CHECK_THROW(solve_unit_lower(L, Dense(n - 1, 3)), std::logic_error);
}

BOOST_AUTO_TEST_CASE(inverses) {
  check_close(inverse(Dense(2, 2, {2, 1, 1, 1})).data, {1, -1, -1, 2}, 16 * eps);
  BOOST_CHECK_THROW(inverse(Dense(2, 2, {1, 2, 2, 4})), std::runtime_error);
  BOOST_CHECK_THROW(inverse(Dense(1, 1, {std::nan("")})), std::runtime_error);
  const Dense a = random(20, 20, "a");
  const double kappa = spectral_norm(a) * spectral_norm(inverse(a));
  check_close((a * inverse(a)).data, Dense::identity(20).data, 20 * eps * kappa);
}

BOOST_AUTO_TEST_CASE(the_pseudo_inverse_meets_penroses_four_conditions) {
  const Dense a = random(7, 3, "a") * random(3, 5, "b"), p = pseudo_inverse(a); // of rank 3
  const double scale = spectral_norm(a), kappa = scale * spectral_norm(p), allowed = 100 * eps * kappa;
  check_close((a * p * a).data, a.data, allowed * scale);
  check_close((p * a * p).data, p.data, allowed * spectral_norm(p));
  check_close((a * p).data, transpose(a * p).data, allowed);
  check_close((p * a).data, transpose(p * a).data, allowed);
  check_close(pseudo_inverse(Dense(3, 1, {1, 2, 2})).data, {1 / 9.0, 2 / 9.0, 2 / 9.0}, 8 * eps);
  check_close(pseudo_inverse(Dense(2, 2)).data, Dense(2, 2).data, 0); // of zero
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
