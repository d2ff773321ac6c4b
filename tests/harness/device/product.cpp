// SPDX-License-Identifier: Apache-2.0
#include "harness/device/product.hpp"
#include "harness/call/make_call.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(products)

using Numbers = std::vector<double>;

BOOST_AUTO_TEST_CASE(by_hand) {
  const Array<double> A = upload<double>("A", {1, 2, 3, 4}), B = upload<double>("B", {5, 6}),
                      C = upload<double>("C", {100, 200});
  product(2, 1, 2, tile::rows<double>(A.data(), 2), tile::rows<double>(B.data(), 1), 0.0, C.data());
  BOOST_TEST((download(C) == Numbers{17, 39}));
  product(2, 1, 2, tile::transposed<double>(A.data(), 2), tile::rows<double>(B.data(), 1), 2.0, C.data());
  BOOST_TEST((download(C) == Numbers{5 + 18 + 2 * 17, 10 + 24 + 2 * 39}));
}

/// More rows than a block has. Each row has the same result as in a product with that row alone.
BOOST_AUTO_TEST_CASE(of_many_rows_and_none) {
  const int m = 150, n = 7, k = 11;
  const Numbers a = Stream(1, "A").normals(m * k), b = Stream(1, "B").normals(n * k);
  const Array<double> A = upload<double>("A", a), B = upload<double>("B", b), C = upload<double>("C", Numbers(m * n));
  product(m, n, k, tile::rows<double>(A.data(), k), tile::transposed<double>(B.data(), k), 0.0, C.data());
  const Numbers found = download(C);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (int c = 0; c < k; ++c) {
        const double term = a[size_t(i * k + c)] * b[size_t(j * k + c)];
        sum += term, size += std::fabs(term);
      }
      BOOST_TEST(std::fabs(found[size_t(i * n + j)] - sum) <= k * epsilon_of(Real::f64) * size);
    }
  product(0, n, k, tile::rows<double>(A.data(), k), tile::transposed<double>(B.data(), k), 0.0, C.data());
  BOOST_TEST((download(C) == found));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
