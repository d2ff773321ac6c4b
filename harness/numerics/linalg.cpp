// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/linalg.hpp"
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace recollect {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Matrix = Eigen::MatrixXd; // one type in all decompositions, because each instantiation takes seconds to compile

Eigen::Map<const RowMajor> view(const Dense &a) { return {a.data.data(), a.rows, a.columns}; }

template <class Expression> Dense dense(const Expression &x) {
  Dense a(int(x.rows()), int(x.cols()));
  Eigen::Map<RowMajor>(a.data.data(), a.rows, a.columns) = x;
  return a;
}

template <class Decomposition> Decomposition succeeded(Decomposition d, const char *what) {
  if (d.info() != Eigen::Success) throw std::runtime_error(std::string(what) + " failed");
  return d;
}

Eigen::SelfAdjointEigenSolver<Matrix> symmetric(const Matrix &a, int what) {
  if (!a.allFinite()) throw std::runtime_error("eigenvalues of a matrix that is not finite");
  return succeeded(Eigen::SelfAdjointEigenSolver<Matrix>(a, what), "the symmetric eigenvalue problem");
}

/// Singular values and vectors of A = Q R [m,n], m >= n, from the symmetric matrix [[0, R], [R^T, 0]]. The n largest
/// eigenvalues of this matrix are the singular values of A and of R. Their eigenvectors are (u, v) / sqrt 2, where u
/// and v are singular vectors of R. This is as exact and as fast as Eigen's divide-and-conquer decomposition, and takes
/// a fifth of the time to compile.
struct Tall {
  Eigen::HouseholderQR<Matrix> qr;
  Eigen::Index n;

  explicit Tall(const Dense &a)
      : qr(a.rows < a.columns ? Matrix(view(a).transpose()) : Matrix(view(a))), n(qr.cols()) {}
  Eigen::SelfAdjointEigenSolver<Matrix> solve(int what) const {
    Matrix both = Matrix::Zero(2 * n, 2 * n);
    both.topRightCorner(n, n) = qr.matrixQR().topRows(n).triangularView<Eigen::Upper>();
    both.bottomLeftCorner(n, n) = both.topRightCorner(n, n).transpose();
    return symmetric(both, what);
  }
};

} // namespace

Dense Dense::identity(int n) {
  Dense a(n, n);
  for (int i = 0; i < n; ++i) a(i, i) = 1;
  return a;
}

Dense operator*(const Dense &a, const Dense &b) {
  if (a.columns != b.rows) throw std::logic_error("matrix product of unequal inner sizes");
  return dense(view(a) * view(b));
}
Dense operator+(const Dense &a, const Dense &b) {
  if (a.rows != b.rows || a.columns != b.columns) throw std::logic_error("matrix sum of unequal sizes");
  return dense(view(a) + view(b));
}
Dense operator-(const Dense &a, const Dense &b) { return a + -1.0 * b; }
Dense operator*(double factor, const Dense &a) { return dense(factor * view(a)); }
std::vector<double> times(const Dense &A, const std::vector<double> &x) {
  return (A * Dense(int(x.size()), 1, x)).data;
}

Dense transpose(const Dense &a) { return dense(view(a).transpose()); }
Dense outer(const std::vector<double> &a, const std::vector<double> &b) {
  return Dense(int(a.size()), 1, a) * Dense(1, int(b.size()), b);
}
double trace(const Dense &a) { return view(a).trace(); }
double frobenius_norm(const Dense &a) { return view(a).norm(); }
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

std::vector<double> singular_values(const Dense &a) {
  const Eigen::VectorXd values = Tall(a).solve(Eigen::EigenvaluesOnly).eigenvalues();
  std::vector<double> largest(values.size() / 2);
  for (size_t i = 0; i < largest.size(); ++i) largest[i] = std::max(0.0, values[values.size() - 1 - i]);
  return largest;
}
double spectral_norm(const Dense &a) { return singular_values(a).front(); }
std::vector<double> symmetric_eigenvalues(const Dense &a) {
  const Eigen::VectorXd values = symmetric(view(a), Eigen::EigenvaluesOnly).eigenvalues();
  return {values.begin(), values.end()};
}
Dense inverse(const Dense &a) {
  if (a.rows != a.columns) throw std::logic_error("inverse of a matrix that is not square");
  const Eigen::PartialPivLU<Matrix> lu{Matrix(view(a))};
  const auto pivots = lu.matrixLU().diagonal();
  if (!pivots.allFinite() || (pivots.array() == 0).any()) throw std::runtime_error("inverse of a singular matrix");
  return dense(lu.inverse());
}
Dense pseudo_inverse(const Dense &a, double cutoff) {
  if (a.rows < a.columns) return transpose(pseudo_inverse(transpose(a), cutoff));
  const Tall tall(a);
  const auto solver = tall.solve(Eigen::ComputeEigenvectors);
  const Eigen::VectorXd &values = solver.eigenvalues();
  const Matrix &vectors = solver.eigenvectors();
  Matrix sum = Matrix::Zero(a.rows, a.columns); // sum of u v^T / sigma over R's singular values sigma
  for (Eigen::Index i = 2 * tall.n - 1; i >= 0 && values[i] > cutoff * values[2 * tall.n - 1]; --i)
    sum.topRows(tall.n) += 2 / values[i] * vectors.col(i).head(tall.n) * vectors.col(i).tail(tall.n).transpose();
  sum.applyOnTheLeft(tall.qr.householderQ());
  return dense(sum.transpose());
}
Dense solve_unit_lower(const Dense &L, Dense B) {
  if (L.rows != L.columns || L.rows != B.rows) throw std::logic_error("substitution with matrices that do not fit");
  Eigen::Map<RowMajor> X(B.data.data(), B.rows, B.columns);
  view(L).triangularView<Eigen::UnitLower>().solveInPlace(X);
  return B;
}
Dense cholesky(const Dense &a) {
  return dense(Matrix(succeeded(Eigen::LLT<Matrix>(view(a)), "the Cholesky decomposition").matrixL()));
}

} // namespace recollect
