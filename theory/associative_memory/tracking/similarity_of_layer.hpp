// SPDX-License-Identifier: Apache-2.0
// The function f of Assumption 2 (000 Theorem 1), measured on the layer delta_former.
#pragma once
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"

namespace recollect::theory {
/// Points where Assumption 2 requires f(x) = x.
inline const Vector integers{-1, 0, 1, 2};

/// The layer's f at each x: with k_1 = 1, w_2 = x, v_1 = 1 and v_2 = 0 it has u_2 = -f(k_1 . w_2).
inline Vector similarity_of_layer(const Vector &x, const std::string &kappa1, Assignments more = {}) {
  Sequence s = of_shape({1, int(x.size()), 2, 2, 1});
  for (double of : x) {
    const double k[] = {1, 0, 0, 1}, w[] = {0, 0, of, 0}, q[] = {0, 0, 0, -1}, v[] = {1, 0};
    s.k.insert(s.k.end(), k, k + 4), s.w.insert(s.w.end(), w, w + 4), s.q.insert(s.q.end(), q, q + 4);
    s.v.insert(s.v.end(), v, v + 2);
  }
  more["kappa1"] = kappa1, more["kappa2"] = "linear";
  const Vector o = run("delta_former", s, more).o;
  Vector f;
  for (size_t head = 0; head < x.size(); ++head) f.push_back(o[2 * head + 1]);
  return f;
}
} // namespace recollect::theory
