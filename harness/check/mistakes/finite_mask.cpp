// SPDX-License-Identifier: Apache-2.0
// Masked scores are -5e4 instead of -inf.
#include "harness/check/remake.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::mistakes {

Mistake finite_mask() {
  Mistake m;
  m.what = "masked scores are -5e4, not -inf: true scores near or below -5e4 lose to the mask";
  m.shows = "rows whose scores all lie near -5e4 or below";
  m.reports = {"flashinfer #4451", "flashinfer #4452", "flash-attention #443"};
  m.make = [](const CheckCase &problem, const PartList &right) -> std::vector<Made> {
    if (problem.variant.name != "softmax") return {};
    return {{"masked scores are -5e4, not -inf",
             [&problem, &right] {
               const Shape &n = problem.given.shape;
               const double scale = problem.params.real_or("scale", 1 / std::sqrt(double(n.Dk)));
               const Sequence &s = problem.given;
               return changed(right, {"o"}, [&](Part &o) {
                 for (size_t row = 0; row < o.heads * o.rows; ++row) {
                   const size_t first = row / o.rows * o.rows;
                   Numbers scores(o.rows, -5e4);
                   for (size_t i = first; i <= row; ++i) {
                     scores[i - first] = 0;
                     for (size_t j = 0; j < size_t(n.Dk); ++j)
                       scores[i - first] += scale * s.q[row * size_t(n.Dk) + j] * s.k[i * size_t(n.Dk) + j];
                   }
                   const double largest = *std::max_element(scores.begin(), scores.end());
                   double sum = 0;
                   std::fill(row_of(o, 0, row), row_of(o, 0, row) + o.columns, 0.0);
                   for (size_t i = 0; i < o.rows; ++i) {
                     const double weight = std::exp(scores[i] - largest);
                     sum += weight;
                     for (size_t j = 0; j < o.columns; ++j)
                       row_of(o, 0, row)[j] += weight * s.v[(first + i) * o.columns + j];
                   }
                   for (size_t j = 0; j < o.columns; ++j) row_of(o, 0, row)[j] /= sum;
                 }
               });
             },
             nullptr}};
  };
  return m;
}

} // namespace recollect::mistakes
