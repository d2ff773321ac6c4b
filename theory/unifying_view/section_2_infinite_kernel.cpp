// SPDX-License-Identifier: Apache-2.0
// 002 §2, Why softmax can't fit this form: the exponential kernel has no finite feature map.
#include "theory/support/delta_recursion.hpp"
#include "theory/support/features.hpp"
#include "theory/support/measure.hpp"

namespace recollect::theory {
namespace {
/// m distinct points in a disc of radius 2, evenly spread like the seeds of a sunflower.
Dense disc(int m) {
  Dense x(m, 2);
  for (int i = 0; i < m; ++i) {
    const double radius = 2 * std::sqrt((i + 0.5) / m), angle = i * M_PI * (3 - std::sqrt(5.0));
    x(i, 0) = radius * std::cos(angle), x(i, 1) = radius * std::sin(angle);
  }
  return x;
}
/// m points at equal angles on the circle of radius 2.
Dense rim(int m) {
  Dense x(m, 2);
  for (int i = 0; i < m; ++i) x(i, 0) = 2 * std::cos(2 * M_PI * i / m), x(i, 1) = 2 * std::sin(2 * M_PI * i / m);
  return x;
}
Dense gram(const Dense &x, const Kernel &kernel) {
  Dense G = x * transpose(x);
  for (double &value : G.data) value = kernel(value);
  return G;
}
/// The number of eigenvalues above the rounding error, which is 10 m eps times the largest of the m eigenvalues.
int numerical_rank(const Vector &ascending) {
  int rank = 0;
  for (double x : ascending) rank += x > 10 * double(ascending.size()) * epsilon_of(Real::f64) * ascending.back();
  return rank;
}
/// For m points on the circle of radius 2, the matrix exp(x . y) = exp(4 cos(difference of angles)) is circulant. By
/// the Jacobi-Anger expansion its eigenvalue of frequency n, n = 0 ... m - 1, is m times the sum over all integers j of
/// the Bessel function I_(n + j m)(4). All eigenvalues are positive.
Vector rim_spectrum(int m) {
  Vector values;
  for (int n = 0; n < m; ++n) {
    double sum = 0;
    for (int order = n - 4 * ((60 + m) / m) * m; order < 60 + m; order += m) // I_60(4) is 1e-64
      sum += std::cyl_bessel_i(std::abs(order), 4.0);
    values.push_back(m * sum);
  }
  std::sort(values.begin(), values.end());
  return values;
}
double cubic(double x) { return (1 + x) * (1 + x) * (1 + x); }
} // namespace

std::vector<Claim> section_2_infinite_kernel() {
  ClaimBuilder c("blog-exp-infinite", "002 §2");
  c.says("exp($q$ . $k$) is a kernel, and its feature map is infinite-dimensional, so the state of linear attention "
         "with this kernel would be an infinite matrix.");
  c.exactly("For any $m$ distinct points the Gram matrix of the exponential kernel has rank $m$. The Gram matrix of "
            "the features elu + 1 of keys of width $d$ has rank $d$ at most. For $m$ evenly spaced points on a circle "
            "of radius 2 the eigenvalues of the exponential kernel are $m sum_j I_{n+jm}(4) > 0$, $n = 0, ..., m-1$, "
            "with modified Bessel functions $I$ and a sum over all integers $j$.");
  c.because(
      "The eigenvalues fall faster than any power of their index. In float64 only about 39 eigenvalues of the points "
      "on a circle exceed the rounding error. That is why finite feature maps can approximate the kernel well.");
  c.takes({integer_param("m", 16, 3, 64, "distinct points on a disc of radius 2 in the plane")});
  c.at({{{"m", 4}}, {}, {{"m", 48}}});
  return {measure(c, [](Points &points, int m) {
    const auto rank = [](const Dense &G) { return numerical_rank(symmetric_eigenvalues(G)); };
    const Dense positive(m, 2, elu_plus_one(disc(m).data));
    points.rounding(0).statement("rank of the Gram matrix of m points, exponential kernel",
                                 rank(gram(disc(m), exp_kernel)), m);
    points.wrong_system("the kernel of elu + 1, which has d features", rank(gram(positive, linear_kernel)), m);
    if (m > 10) points.wrong_system("the kernel $(1 + x.y)^3$, which has 10 features", rank(gram(disc(m), cubic)), m);
    const Vector law = rim_spectrum(m), found = symmetric_eigenvalues(gram(rim(m), exp_kernel));
    points.obligation("m points on a circle: number of eigenvalues above the rounding error", numerical_rank(found),
                      numerical_rank(law));
    // Each element has an error of a few eps e^4, because the exponent has an error of 4 eps. Each eigenvalue has an
    // error of m eps times the largest eigenvalue.
    points.rounding(m * (5 * std::exp(4.0) + law.back()));
    points.obligation("m points on a circle: eigenvalues, against sums of Bessel functions", found, law);
  })};
}
} // namespace recollect::theory
