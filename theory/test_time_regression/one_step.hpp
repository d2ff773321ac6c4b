// SPDX-License-Identifier: Apache-2.0
// One step of an online learner (003 Eq 30-33) from a random memory.
#pragma once
#include "theory/test_time_regression/pairs.hpp"

namespace recollect::theory {

/// One step from a random memory at a key of the given length.
struct Step {
  Sequence s;
  Dense M, k, v;
  Step(const Params &p, std::uint64_t seed) {
    s = random_sequence({1, 1, 1, p.integer("Dk"), p.integer("Dv")}, seed);
    for (double &x : s.k) x *= p.real("norm");
    M = normal_matrix(s.shape.Dv, s.shape.Dk, seed, "003/memory");
    s.state = M.data;
    k = column(s.k, 0, s.shape.Dk), v = column(s.v, 0, s.shape.Dv);
  }
  Dense error() const { return v - M * k; }
  double kk() const { return square(k); }
  /// M + beta (v - M k) k^T.
  Dense moved(double beta) const { return M + beta * write(error(), k); }
  Dense after(const std::string &variant, const Assignments &set = {}) const {
    return memory(run(variant, s, set), s.shape);
  }
  Dense after_longhorn(double delta) const {
    Sequence weighed = s;
    weighed.beta.clear(); // delta alone is the weight
    return memory(run("longhorn", weighed, {{"delta", number(delta)}}), s.shape);
  }
  /// Rounding units of a step of relative size beta |k|^2, relative to the size of what it changes.
  double units(double beta) const {
    return 8.0 * s.shape.Dk * (1 + beta * kk()) * (max_abs(M.data) + max_abs(v.data)) * (1 + max_abs(k.data)) * 4;
  }
};
inline std::vector<ParamSpec> step_params(std::vector<ParamSpec> more = {}) {
  more.push_back(integer_param("Dk", 5, 2, 64, "key width")),
      more.push_back(integer_param("Dv", 3, 1, 64, "value width"));
  more.push_back(real_param("norm", 1.5, 0.1, 10, "length of the key"));
  return more;
}
inline ParamSpec delta_param(double own) { return real_param("delta", own, 1e-3, 1e3, "weight of the new pair"); }

} // namespace recollect::theory
