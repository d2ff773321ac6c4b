// SPDX-License-Identifier: Apache-2.0
// The function f of Assumption 2 (000 Theorem 1), as implemented by the layer delta_former.
#pragma once
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"

namespace recollect::theory {

/// Points where Assumption 2 requires f(x) = x.
inline const std::vector<double> integers{-1, 0, 1, 2};

/// f at each x, as implemented by the layer delta_former: u_2 = -f(k_1 . w_2) for k_1 = 1, w_2 = x, v_1 = 1, v_2 = 0.
inline std::vector<double> similarity_of_layer(const std::vector<double> &x, const std::string &kappa1,
                                               const Assignments &more = {}) {
  Sequence s;
  const int heads = int(x.size());
  s.shape = {1, heads, 2, 2, 1};
  for (double of : x) {
    const double k[] = {1, 0, 0, 1}, w[] = {0, 0, of, 0}, q[] = {0, 0, 0, -1}, v[] = {1, 0};
    s.k.insert(s.k.end(), k, k + 4), s.w.insert(s.w.end(), w, w + 4), s.q.insert(s.q.end(), q, q + 4);
    s.v.insert(s.v.end(), v, v + 2);
  }
  DeltaFormerRun run{kappa1};
  run.more = more;
  const std::vector<double> o =
      forward(find_variant("delta_former"), s, {"recurrent", Real::f64, 1, layer_params(run)}).o;
  std::vector<double> f;
  for (int head = 0; head < heads; ++head) f.push_back(o[2 * head + 1]);
  return f;
}

} // namespace recollect::theory
