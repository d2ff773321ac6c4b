// SPDX-License-Identifier: Apache-2.0
// One step of an online learner (003 Eq 30-33) from a random memory.
#pragma once
#include "theory/test_time_regression/pairs.hpp"

namespace recollect::theory {
/// One step from a random memory at a key of the given length.
struct Step {
  Sequence s;
  Dense M, k, v;
  Step(Seed seed, int Dk, int Dv, double norm) : s(random_sequence({1, 1, 1, Dk, Dv}, seed)) {
    for (double &x : s.k) x *= norm;
    M = normal_matrix(Dv, Dk, seed, "003/memory"), s.state = M.data;
    k = column(s.k, 0, Dk), v = column(s.v, 0, Dv);
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
    weighed.beta.clear(); // the weight of the pair is then delta
    return memory(run("longhorn", weighed, {{"delta", number(delta)}}), s.shape);
  }
  /// Bound on the rounding error of a step of size beta, in units of eps. Its residual and memory have the sizes of v
  /// and M.
  double units(double beta) const {
    return 8.0 * s.shape.Dk * (1 + beta * kk()) * (max_abs(M.data) + max_abs(v.data)) * (1 + max_abs(k.data)) * 4;
  }
};
inline std::vector<ParamSpec> step_params(std::vector<ParamSpec> more = {}) {
  for (const ParamSpec &own : {integer_param("Dk", 5, 2, 64, "key width"), integer_param("Dv", 3, 1, 64, "value width"),
                               real_param("norm", 1.5, 0.1, 10, "length of the key")})
    more.push_back(own);
  return more;
}
inline ParamSpec delta_param(double own) { return real_param("delta", own, 1e-3, 1e3, "weight of the new pair"); }
} // namespace recollect::theory
