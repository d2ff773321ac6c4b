// SPDX-License-Identifier: Apache-2.0
#include "harness/device/product.hpp"
#include "harness/numerics/random.hpp"
#include "harness/pipeline/make_call.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(products)

using Numbers = std::vector<double>;

using Stored = Matrices<double>;

BOOST_AUTO_TEST_CASE(by_hand) {
  Arena arena;
  const Array<double> A = upload<double>("A", {1, 2, 3, 4}), B = upload<double>("B", {5, 6}),
                      C = upload<double>("C", {100, 200});
  const Stored a = Stored::in(A, 1, 2), b = Stored::in(B, 1, 1), c = Stored::in(C, 1, 1);
  multiply(arena, a, b, 0.0, c);
  BOOST_TEST((download(C) == Numbers{17, 39}));
  multiply(arena, a.transposed(), b, 2.0, c);
  BOOST_TEST((download(C) == Numbers{5 + 18 + 2 * 17, 10 + 24 + 2 * 39}));
}

/// More rows and terms than a block has, of matrices that do not follow one another, each as if it were alone.
BOOST_AUTO_TEST_CASE(of_many_rows_and_none) {
  Arena arena;
  const int count = 3, m = 150, n = 7, k = 531, apart = 4000;
  const Numbers a = Stream(1, "A").normals(count * m * k), b = Stream(1, "B").normals(count * apart),
                c = Stream(1, "C").normals(count * m * n);
  const Array<double> A = upload<double>("A", a), B = upload<double>("B", b), C = upload<double>("C", c),
                      D = upload<double>("D", c);
  const Stored left = Stored::in(A, count, k), right{B.data(), count, n, k, apart}, into = Stored::in(C, count, n);
  multiply(arena, left, right.transposed(), 1.0, into);
  const Numbers found = download(C);
  for (int s = 0; s < count; ++s)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        const size_t at = size_t((s * m + i) * n + j);
        double sum = c[at], size = std::fabs(sum);
        for (int p = 0; p < k; ++p) {
          const double term = a[size_t((s * m + i) * k + p)] * b[size_t(s * apart + j * k + p)];
          sum += term, size += std::fabs(term);
        }
        BOOST_TEST(std::fabs(found[at] - sum) <= k * epsilon_of(Real::f64) * size);
      }
  const auto one = [](Stored all, int i) {
    all.data += i * all.apart, all.count = 1;
    return all;
  };
  for (int s = 0; s < count; ++s)
    multiply(arena, one(left, s), one(right, s).transposed(), 1.0, one(Stored::in(D, count, n), s));
  BOOST_TEST((download(D) == found));
  multiply(arena, Stored{A.data(), count, 0, k, 0}, right.transposed(), 0.0, Stored{C.data(), count, 0, n, 0});
  BOOST_TEST((download(C) == found));
}

/// Zeros at the end of the sums change nothing, wherever its blocks end.
BOOST_AUTO_TEST_CASE(zeros_at_the_end) {
  const auto product = [](int k, int padded) {
    Arena arena;
    Numbers a(size_t(padded) * 5), b(size_t(padded) * 7);
    const Numbers x = Stream(1, "A").normals(size_t(k) * 5), y = Stream(1, "B").normals(size_t(k) * 7);
    std::copy(x.begin(), x.end(), a.begin()), std::copy(y.begin(), y.end(), b.begin());
    const Array<double> A = upload<double>("A", a), B = upload<double>("B", b), C = upload<double>("C", Numbers(35));
    multiply(arena, Stored::in(A, 1, 5).transposed(), Stored::in(B, 1, 7), 1.0, Stored::in(C, 1, 7));
    return download(C);
  };
  for (int k : {1, 63, 250, 300})
    for (int padded : {301, 512, 513, 1000}) BOOST_TEST((product(k, padded) == product(k, k)));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
