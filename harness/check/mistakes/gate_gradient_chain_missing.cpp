// SPDX-License-Identifier: Apache-2.0
// dL/d log alpha = alpha dL/dalpha. The kernel omits the factor alpha, or applies it although dL/dalpha is asked for.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake gate_gradient_chain_missing() {
  Mistake m;
  m.what = "the gradient in a gate is returned as the gradient in its logarithm, or the other way round";
  m.shows = "the gate's gradient, where the gate is not 1";
  m.reports = {"fla #360", "mamba a6a1dae"};
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    for (Tensor gate : given_gates(problem)) {
      const std::string name = std::string("d") + name_of(gate);
      const Numbers &x = problem.given[gate];
      const bool logs = problem.log_gates;
      all.push_back({name + (logs ? " is the gradient in the gate, not in its logarithm"
                                  : " is the gradient in the gate's logarithm, not in the gate"),
                     nullptr, [&right, &x, name, logs] {
                       return changed(right, {name}, [&](Part &part) {
                         for (size_t i = 0; i < x.size(); ++i) part.values[i] *= !logs ? x[i] : x[i] > 0 ? 1 / x[i] : 0;
                       });
                     }});
    }
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
