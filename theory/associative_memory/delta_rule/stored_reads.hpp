// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "theory/support/stored.hpp"

namespace recollect::theory {
/// Stores the pairs and then reads the memory at `queries`: [queries,dv].
inline Dense reads_after(const std::string &variant, const Dense &keys, const Dense &values, const Dense &queries,
                         const Assignments &set = {}) {
  const int T = keys.rows + queries.rows;
  Sequence s = stored({1, 1, T, keys.columns, values.columns}, keys.data, values.data);
  s.q.assign(keys.data.size(), 0.0), s.q.insert(s.q.end(), queries.data.begin(), queries.data.end());
  s.k.resize(s.q.size(), 0.0), s.v.resize(size_t(T) * values.columns, 0.0);
  const Vector o = run(variant, s, set).o;
  return {queries.rows, values.columns, {o.begin() + values.data.size(), o.end()}};
}

/// The rounding units of a sum of n terms of this size.
inline double sum_units(int n, const Dense &keys, const Dense &values) {
  return 4.0 * n * std::max(1.0, max_abs(keys.data)) * max_abs(keys.data) * max_abs(values.data);
}
} // namespace recollect::theory
