// SPDX-License-Identifier: Apache-2.0
// The number of elements of the keys and values that influence the last read of a layer, measured on the layer.
#pragma once
#include "theory/support/layer_points.hpp"

namespace recollect::theory {
/// The number of elements of the keys and values on which the last read depends. Each element is changed alone; it
/// counts if the last read changes.
inline double numbers_read(const std::string &variant, const Sequence &s, const Assignments &set = {}) {
  const auto last = [&](const Sequence &x) {
    const Vector o = run(variant, x, set).o;
    return Vector(o.end() - s.shape.Dv, o.end());
  };
  const Vector before = last(s);
  double moved = 0;
  for (auto part : {&Sequence::k, &Sequence::v})
    for (size_t i = 0; i < (s.*part).size(); ++i) {
      Sequence changed = s;
      (changed.*part)[i] += 0.5;
      moved += last(changed) != before;
    }
  return moved;
}
} // namespace recollect::theory
