// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/linalg.hpp"
#include <algorithm>
#include <cmath>
#include <lapacke.h>
#include <stdexcept>
#include <string>

extern "C" void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *,
                       const double *, const int *, const double *, const int *, const double *, double *, const int *);

namespace recollect {
namespace {
void require_success(int info, const char *routine) {
  if (info != 0) throw std::runtime_error(std::string(routine) + " failed with info " + std::to_string(info));
}
struct Svd {
  std::vector<double> values;
  Dense U, VT;
};
Svd svd(Dense a, bool vectors) {
  const int m = a.rows, n = a.columns, r = std::min(m, n);
  Svd s{std::vector<double>(r), Dense(vectors ? m : 1, r), Dense(vectors ? r : 1, n)};
  require_success(LAPACKE_dgesdd(LAPACK_ROW_MAJOR, vectors ? 'S' : 'N', m, n, a.data.data(), n, s.values.data(),
                                 s.U.data.data(), s.U.columns, s.VT.data.data(),
                                 n), // LAPACKE asks for n columns even where it writes none
                  "dgesdd");
  return s;
}
} // namespace

Dense Dense::identity(int n) {
  Dense a(n, n);
  for (int i = 0; i < n; ++i) a(i, i) = 1;
  return a;
}

Dense operator*(const Dense &a, const Dense &b) {
  if (a.columns != b.rows) throw std::logic_error("matrix product of unequal inner sizes");
  Dense c(a.rows, b.columns);
  const double one = 1, zero = 0; // row-major C = A B is column-major C^T = B^T A^T
  if (c.data.size() && a.columns)
    dgemm_("N", "N", &b.columns, &a.rows, &a.columns, &one, b.data.data(), &b.columns, a.data.data(), &a.columns, &zero,
           c.data.data(), &c.columns);
  return c;
}
Dense operator+(const Dense &a, const Dense &b) {
  Dense c = a;
  for (size_t i = 0; i < c.data.size(); ++i) c.data[i] += b.data.at(i);
  return c;
}
Dense operator-(const Dense &a, const Dense &b) { return a + -1.0 * b; }
Dense operator*(double factor, const Dense &a) {
  Dense c = a;
  for (double &x : c.data) x *= factor;
  return c;
}
std::vector<double> times(const Dense &A, const std::vector<double> &x) {
  return (A * Dense(int(x.size()), 1, x)).data;
}

Dense transpose(const Dense &a) {
  Dense b(a.columns, a.rows);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j) b(j, i) = a(i, j);
  return b;
}
Dense outer(const std::vector<double> &a, const std::vector<double> &b) {
  return Dense(int(a.size()), 1, a) * Dense(1, int(b.size()), b);
}
double trace(const Dense &a) {
  double sum = 0;
  for (int i = 0; i < a.rows; ++i) sum += a(i, i);
  return sum;
}
double frobenius_norm(const Dense &a) {
  double sum = 0;
  for (double x : a.data) sum += x * x;
  return std::sqrt(sum);
}
double max_abs(const std::vector<double> &values) {
  double largest = 0;
  for (double x : values) largest = std::isnan(x) ? x : std::max(largest, std::fabs(x));
  return largest;
}
double max_difference(const std::vector<double> &a, const std::vector<double> &b) {
  if (a.size() != b.size()) throw std::logic_error("arrays of unequal size compared");
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = std::fabs(a[i] - b[i]);
    if (std::isnan(d)) return d;
    largest = std::max(largest, d);
  }
  return largest;
}

std::vector<double> singular_values(const Dense &a) { return svd(a, false).values; }
double spectral_norm(const Dense &a) { return singular_values(a).front(); }
std::vector<double> symmetric_eigenvalues(const Dense &a) {
  Dense work = a;
  std::vector<double> values(a.rows);
  require_success(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', a.rows, work.data.data(), a.rows, values.data()), "dsyev");
  return values;
}
Dense inverse(const Dense &a) {
  Dense work = a;
  std::vector<lapack_int> pivots(a.rows);
  require_success(LAPACKE_dgetrf(LAPACK_ROW_MAJOR, a.rows, a.rows, work.data.data(), a.rows, pivots.data()), "dgetrf");
  require_success(LAPACKE_dgetri(LAPACK_ROW_MAJOR, a.rows, work.data.data(), a.rows, pivots.data()), "dgetri");
  return work;
}
Dense pseudo_inverse(const Dense &a, double cutoff) {
  const Svd s = svd(a, true);
  Dense scaled = transpose(s.VT);
  for (int j = 0; j < scaled.columns; ++j)
    for (int i = 0; i < scaled.rows; ++i) scaled(i, j) *= s.values[j] > cutoff * s.values[0] ? 1 / s.values[j] : 0;
  return scaled * transpose(s.U);
}
Dense cholesky(const Dense &a) {
  Dense work = a;
  require_success(LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', a.rows, work.data.data(), a.rows), "dpotrf");
  for (int i = 0; i < a.rows; ++i)
    for (int j = i + 1; j < a.columns; ++j) work(i, j) = 0;
  return work;
}

} // namespace recollect
