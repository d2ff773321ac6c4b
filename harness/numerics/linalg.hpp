// SPDX-License-Identifier: Apache-2.0
// Dense linear algebra in float64 for predictions and references, computed by Eigen. Matrices are row-major.
#pragma once
#include <cstddef>
#include <vector>

namespace recollect {

struct Dense {
  int rows = 0, columns = 0;
  std::vector<double> data;

  Dense() = default;
  Dense(int m, int n) : rows(m), columns(n), data(size_t(m) * n, 0.0) {}
  Dense(int m, int n, std::vector<double> values) : rows(m), columns(n), data(std::move(values)) {}
  static Dense identity(int n);
  double &operator()(int i, int j) { return data[size_t(i) * columns + j]; }
  double operator()(int i, int j) const { return data[size_t(i) * columns + j]; }
};

Dense operator*(const Dense &a, const Dense &b);
Dense operator+(const Dense &a, const Dense &b);
Dense operator-(const Dense &a, const Dense &b);
Dense operator*(double factor, const Dense &a);
Dense transpose(const Dense &a);
/// Inner product of two vectors of n numbers.
inline double inner(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}
inline double inner(const std::vector<double> &a, const std::vector<double> &b) {
  return inner(a.data(), b.data(), int(a.size()));
}
/// The product A x.
std::vector<double> times(const Dense &A, const std::vector<double> &x);
/// The outer product a b^T of two vectors.
Dense outer(const std::vector<double> &a, const std::vector<double> &b);
double trace(const Dense &a);
double frobenius_norm(const Dense &a);
double max_abs(const std::vector<double> &values);
/// max |a - b|; NaN if any difference is NaN.
double max_difference(const std::vector<double> &a, const std::vector<double> &b);

std::vector<double> singular_values(const Dense &a); // descending
double spectral_norm(const Dense &a);
std::vector<double> symmetric_eigenvalues(const Dense &a); // ascending
/// The inverse of a; throws std::runtime_error if `a` is singular to working precision.
Dense inverse(const Dense &a);
/// Moore-Penrose inverse; singular values below `cutoff` times the largest count as zero.
Dense pseudo_inverse(const Dense &a, double cutoff = 1e-12);
/// Solves (I + L) X = B for X by forward substitution. Only the strict lower triangle of L is read.
Dense solve_unit_lower(const Dense &L, Dense B);
/// The lower triangular L with L L^T = a; throws std::runtime_error unless a is symmetric positive definite.
Dense cholesky(const Dense &a);

} // namespace recollect
