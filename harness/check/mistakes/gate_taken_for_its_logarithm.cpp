// SPDX-License-Identifier: Apache-2.0
// The kernel expects the logarithm of the gate but gets the factor alpha_t, so it applies exp(alpha_t).
#include "harness/check/remake.hpp"
#include <cmath>

namespace recollect::mistakes {

Mistake gate_taken_for_its_logarithm() {
  Mistake m;
  m.what = "a gate is taken for its logarithm: exp(gate) is applied, which lets the state grow";
  m.shows = "all steps after the first; outputs grow with every step";
  m.reports = {"flashinfer #2490", "flashinfer #3680"};
  m.misread = [](const CheckCase &problem) {
    std::vector<Misread> all;
    for (Tensor gate : given_gates(problem)) {
      const std::string name = name_of(gate);
      all.push_back(elementwise(
          problem, gate, name + " is taken for its logarithm: exp(" + name + ") is applied",
          [](double x) { return std::exp(x); }, [](double x) { return std::exp(x); }));
    }
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
