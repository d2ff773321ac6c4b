// SPDX-License-Identifier: Apache-2.0
// For each step s, the sum of x(t,i) over the pairs (t,i) with i < s <= t. The gradient of step s's gate is such a sum,
// where x(t,i) is the gradient of the logit of query t and key i:
//
//   sum_s = sum_{t>=s} sum_{i<s} x(t,i)
//
// A recurrence from the sum at s - 1 to the sum at s would subtract terms, so that small sums would lose digits after
// large ones. Here terms are only added. Steps form a binary tree. The pair (t,i) belongs to the node whose later half
// contains t and whose earlier half contains i: level l, with halves of 2^l steps, if l is the highest bit in which t
// and i differ. A node contributes to sum_s
//
//   if s is in its later half:    the row sums of all t >= s in this half, each over the node's earlier half,
//   if s is in its earlier half:  the column sums of all i < s in this half, each over the node's later half.
//
// This needs one number per step and level: a row's sum for steps in the later half, a column's sum for steps in the
// earlier half. There are log2 T levels.
#pragma once
#include "variants/kernels/attention/online_softmax.hpp"
#include "variants/kernels/common/arrays.hpp"

namespace recollect::variants {

template <class Number> struct CrossingSums {
  using Real = Number;
  Array<Real> parts; // [heads,levels,T]
  int levels, T;

  KOKKOS_FUNCTION Real &part(size_t head, int level, int step) const {
    return parts[(head * levels + level) * T + step];
  }
  KOKKOS_FUNCTION Real total(size_t head, int step) const {
    Real sum = 0;
    for (int level = 0; level < levels; ++level) sum += part(head, level, step);
    return sum;
  }
  KOKKOS_FUNCTION static bool is_later(int step, int level) { return step >> level & 1; }
  /// At this level one node contains `step`. Returns the steps of `among` that lie in the half of this node that does
  /// not contain `step`.
  KOKKOS_FUNCTION static Range across(int step, int level, Range among) {
    const int begin = (step >> level ^ 1) << level, end = begin + (1 << level);
    return {begin > among.begin ? begin : among.begin, end < among.end ? end : among.end};
  }

  /// `count` zeroed copies of the sums, one per thread that adds concurrently. copy(i, heads) returns copy i.
  CrossingSums copies(const Call<Real> &call, int count) const {
    return {filled(call, count * parts.extent(0), Real(0)), levels, T};
  }
  KOKKOS_FUNCTION CrossingSums copy(int i, size_t heads) const {
    const size_t size = heads * levels * T;
    return {Array<Real>(parts.data() + i * size, size), levels, T};
  }

  /// Adds each row of x [rows,keys] to the sums of the row's query; rows of x are `ld` numbers apart. Call it once per
  /// block. No barrier.
  KOKKOS_FUNCTION void of_queries(const Team &team, size_t head, Range rows, Range keys, const Real *x,
                                  std::ptrdiff_t ld) const {
    each_row(team, rows.size(), [=, *this](int r, int lane, int lanes) {
      const int t = rows.begin + r;
      for (int level = 0; level < levels; ++level) {
        const Range met = across(t, level, keys);
        if (!is_later(t, level) || met.size() <= 0) continue;
        Real sum = 0;
        for (int i = met.begin + lane; i < met.end; i += lanes) sum += x[r * ld + i - keys.begin];
        sum = across_row(sum, [](Real a, Real b) { return a + b; });
        if (lane == 0) part(head, level, t) += sum;
      }
    });
  }
  /// Adds each column of x to the sums of the column's key.
  KOKKOS_FUNCTION void of_keys(const Team &team, size_t head, Range rows, Range keys, const Real *x,
                               std::ptrdiff_t ld) const {
    each(team, keys.size(), [=, *this](int j) {
      const int i = keys.begin + j;
      for (int level = 0; level < levels; ++level) {
        const Range met = across(i, level, rows);
        if (is_later(i, level) || met.size() <= 0) continue;
        Real sum = 0;
        for (int t = met.begin; t < met.end; ++t) sum += x[(t - rows.begin) * ld + j];
        part(head, level, i) += sum;
      }
    });
  }
};

template <class Real> CrossingSums<Real> crossing_sums(const Call<Real> &call) {
  int levels = 0;
  while ((call.shape.T - 1) >> levels) ++levels;
  return {filled(call, call.steps() * levels, Real(0)), levels, call.shape.T};
}

/// Replaces the row and column sums of a node by the node's contributions to sum_s. Each call handles the node of a
/// head whose later half begins at step unit % T.
template <class Real> struct AddUpNodes {
  CrossingSums<Real> sums;
  KOKKOS_FUNCTION void operator()(size_t unit) const {
    const int T = sums.T, middle = int(unit % T);
    const size_t head = unit / T;
    if (middle == 0) return;
    int level = 0;
    while (!sums.is_later(middle, level)) ++level;
    Real later = 0, earlier = 0;
    for (int t = sums.across(middle - 1, level, {0, T}).end; t-- > middle;) {
      Real &part = sums.part(head, level, t);
      part = later += part;
    }
    for (int s = middle - (1 << level); s < middle; ++s) {
      Real &part = sums.part(head, level, s);
      const Real own = part;
      part = earlier, earlier += own;
    }
  }
};

/// Call this after all blocks have been added. Then total(head, s) returns the sum over the pairs with i < s <= t.
template <class Real> void add_up(const std::string &label, const Call<Real> &call, const CrossingSums<Real> &sums) {
  parallel_loop(label, call.steps(), AddUpNodes<Real>{sums});
}

} // namespace recollect::variants
