// SPDX-License-Identifier: Apache-2.0
// The sum of outer products of n Gaussian keys and values of width d, read at each key and compared with every value:
// how often, and by how much, the right value has the largest score.
#pragma once
#include "theory/support/one_head.hpp"

namespace recollect::theory {

/// Means over memories, each averaged over its pairs.
struct Margins {
  Mean first;        // pairs whose value beats all others
  Mean ahead;        // share of the other values that score at least as high as the right one
  Mean mean, square; // of the margin between the right value and another one, over d^2 and d^4
};

/// Every step first multiplies the state by `kept`; 1 gives the plain sum.
inline Margins margins(int n, int d, int memories, std::uint64_t seed, double kept = 1) {
  Sequence s;
  s.shape = {memories, 1, 2 * n, d, d}; // all writes, then all reads
  const size_t size = s.shape.heads() * s.shape.T * d, half = size_t(n) * d;
  s.q.assign(size, 0), s.k.assign(size, 0), s.v.assign(size, 0);
  const Stream keys(seed, "capacity/keys", n), values(seed, "capacity/values", n);
  for (int m = 0; m < memories; ++m) {
    const std::vector<double> k = keys.normals(half, m * half), v = values.normals(half, m * half);
    std::copy(k.begin(), k.end(), s.k.begin() + 2 * m * half);
    std::copy(k.begin(), k.end(), s.q.begin() + (2 * m + 1) * half);
    std::copy(v.begin(), v.end(), s.v.begin() + 2 * m * half);
  }
  const Output out =
      kept == 1 ? run("linear", s, {}, "chunked") : run("retnet", s, {{"gamma", number(kept)}}, "chunked");
  std::vector<double> first, ahead, mean, square;
  for (int m = 0; m < memories; ++m) {
    double best = 0, beaten = 0, sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
      const double *read = &out.o[(2 * m + 1) * half + size_t(i) * d];
      const auto score = [&](int j) {
        const double *v = &s.v[2 * m * half + size_t(j) * d];
        double product = 0;
        for (int c = 0; c < d; ++c) product += v[c] * read[c];
        return product;
      };
      const double right = score(i);
      int losses = 0;
      for (int j = 0; j < n; ++j) {
        if (j == i) continue;
        const double margin = (right - score(j)) / (double(d) * d);
        losses += margin <= 0, sum += margin, squares += margin * margin;
      }
      best += losses == 0, beaten += losses;
    }
    const double others = double(n) * (n - 1);
    first.push_back(best / n), ahead.push_back(beaten / others);
    mean.push_back(sum / others), square.push_back(squares / others);
  }
  return {mean_of(first), mean_of(ahead), mean_of(mean), mean_of(square)};
}

/// The difference of two independent means.
inline Mean difference(const Mean &a, const Mean &b) {
  return {a.mean - b.mean, std::hypot(a.standard_error, b.standard_error)};
}

} // namespace recollect::theory
