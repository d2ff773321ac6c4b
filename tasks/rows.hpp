// SPDX-License-Identifier: Apache-2.0
// Row handling that most tasks share.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace recollect::tasks {

/// Copies row `row` of `from` to row `target` of `to`; both have `width` numbers per row.
inline void copy_row(const std::vector<double> &from, size_t row, std::vector<double> &to, size_t target,
                     size_t width) {
  std::copy_n(from.begin() + row * width, width, to.begin() + target * width);
}

/// Appends `copies` copies of `part`, for candidates that several heads share.
inline void append(std::vector<double> &to, const std::vector<double> &part, int copies = 1) {
  for (int i = 0; i < copies; ++i) to.insert(to.end(), part.begin(), part.end());
}

inline double mean_of_range(const std::vector<double> &values, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += values[i];
  return sum / double(end - begin);
}

/// Means over [first, 2 first), [2 first, 4 first), ... of a curve over steps; the last interval may be shorter.
inline std::vector<double> octave_means(const std::vector<double> &values, size_t first) {
  std::vector<double> means;
  for (size_t begin = first; begin < values.size(); begin *= 2)
    means.push_back(mean_of_range(values, begin, std::min(2 * begin, values.size())));
  return means;
}

/// The i-th of `count` angles in equal steps from `begin` to `end`, in radians.
inline double angle_at(int i, int count, double begin_degrees, double end_degrees) {
  const double share = count > 1 ? double(i) / (count - 1) : 0;
  return (begin_degrees + share * (end_degrees - begin_degrees)) * std::acos(-1.0) / 180;
}

} // namespace recollect::tasks
