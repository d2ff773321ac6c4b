// SPDX-License-Identifier: Apache-2.0
// Online softmax: when the running maximum m grows, the kernel does not multiply the sum of values, or the normaliser,
// by exp(m_old - m_new).
#include "harness/check/remake.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::mistakes {
namespace {

/// Computes row t of o from keys 0 ... t, tile by tile. `values` and `norm` say whether the sum of values and the
/// normaliser are rescaled.
void attend(const double *q, const double *k, const double *v, int t, const Shape &n, double scale, int tile,
            bool values, bool norm, double *o) {
  double largest = -HUGE_VAL, sum = 0;
  std::fill(o, o + n.Dv, 0.0);
  for (int begin = 0; begin <= t; begin += tile) {
    const int end = std::min(begin + tile, t + 1);
    Numbers scores;
    for (int i = begin; i < end; ++i) {
      double score = 0;
      for (int j = 0; j < n.Dk; ++j) score += scale * q[j] * k[i * n.Dk + j];
      scores.push_back(score);
    }
    const double now = std::max(largest, *std::max_element(scores.begin(), scores.end())),
                 shrink = std::exp(largest - now);
    if (norm || begin == 0) sum *= shrink;
    if (values || begin == 0)
      for (int j = 0; j < n.Dv; ++j) o[j] *= shrink;
    for (int i = begin; i < end; ++i) {
      const double weight = std::exp(scores[size_t(i - begin)] - now);
      sum += weight;
      for (int j = 0; j < n.Dv; ++j) o[j] += weight * v[i * n.Dv + j];
    }
    largest = now;
  }
  for (int j = 0; j < n.Dv; ++j) o[j] /= sum;
}

} // namespace

Mistake softmax_not_rescaled() {
  Mistake m;
  m.what = "the online softmax does not rescale one of its sums when the running maximum grows";
  m.shows = "rows with more keys than a tile";
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    if (problem.variant.name != "softmax") return all;
    const Shape &n = problem.given.shape;
    const double scale = problem.params.real_or("scale", 1 / std::sqrt(double(n.Dk)));
    for (int tile : chunk_lengths(problem))
      for (bool values : {false, true})
        all.push_back({std::string(values ? "the normaliser" : "the sum of values") +
                           " is not rescaled from tile to tile of " + std::to_string(tile) + " keys",
                       [&problem, &right, &n, scale, tile, values] {
                         return changed(right, {"o"}, [&](Part &o) {
                           for (size_t row = 0; row < o.heads * o.rows; ++row) {
                             const size_t first = row / o.rows * o.rows;
                             attend(&problem.given.q[row * size_t(n.Dk)], &problem.given.k[first * size_t(n.Dk)],
                                    &problem.given.v[first * size_t(n.Dv)], int(row % o.rows), n, scale, tile, values,
                                    !values, &o.values[row * o.columns]);
                           }
                         });
                       },
                       nullptr});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
