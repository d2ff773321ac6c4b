// SPDX-License-Identifier: Apache-2.0
// The accuracy of answers that ignore the key and name a value of the context. The n values of a context are drawn with
// replacement from V values.
#pragma once
#include "theory/support/measure.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::theory {
/// The accuracy of answering with a random one of the values.
inline double random_law(double n, double V) { return 1 / n + (1 - 1 / n) / V; }

/// The accuracy of answering with the most frequent of the n values: the mean of the largest count, divided by n. It
/// follows from P(no count exceeds m) = n! / V^n [x^n] (sum_{j <= m} x^j / j!)^V, where [x^n] takes the coefficient of
/// x^n.
inline double frequent_law(int n, int V) {
  double mean = 0;
  for (int m = 0; m < n; ++m) {
    Vector power(n + 1, 0.0); // [j]: coefficient of x^j in the product of the factors so far
    power[0] = 1;
    Vector factorial(n + 1, 1.0);
    for (int j = 1; j <= n; ++j) factorial[j] = factorial[j - 1] * j;
    for (int value = 0; value < V; ++value) {
      Vector next(n + 1, 0.0);
      for (int filled = 0; filled <= n; ++filled)
        for (int j = 0; j <= std::min(m, n - filled); ++j) next[filled + j] += power[filled] / factorial[j];
      power = next;
    }
    mean += 1 - power[n] * factorial[n] / std::pow(V, n);
  }
  return mean / n;
}
} // namespace recollect::theory
