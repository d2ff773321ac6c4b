// SPDX-License-Identifier: Apache-2.0
// Gates that a task sets to one value for all steps. Variants that need gates can then run, and the user can choose
// their values.
#pragma once
#include "harness/core/types.hpp"

namespace recollect::tasks {

/// Adds the parameters beta, alpha and lambda with these defaults to `params`. 1 is the neutral value of each.
inline std::vector<ParamSpec> with_gates(std::vector<ParamSpec> params, double beta = 1, double alpha = 1) {
  params.push_back(tuned(real_param("beta", beta, -2, 2, "write strength at every step"), {1, 0.5, 0.2, 0.1}));
  params.push_back(tuned(real_param("alpha", alpha, 0, 1, "decay at every step"), {1, 0.99, 0.9}));
  params.push_back(tuned(real_param("lambda", 1, 0, 1, "decay of every key channel at every step"), {0.99, 0.9}));
  return params;
}

inline void fill_gates(Sequence &s, const Params &p) {
  const size_t steps = s.shape.heads() * s.shape.T;
  s.beta.assign(steps, p.real("beta"));
  s.alpha.assign(steps, p.real("alpha"));
  s.lambda.assign(steps * s.shape.Dk, p.real("lambda"));
}

} // namespace recollect::tasks
