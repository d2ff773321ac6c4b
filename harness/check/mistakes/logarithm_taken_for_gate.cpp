// SPDX-License-Identifier: Apache-2.0
// The kernel expects the factor alpha_t but gets log(alpha_t), and applies it as the factor.
#include "harness/check/remake.hpp"
#include <cmath>

namespace recollect::mistakes {

Mistake logarithm_taken_for_gate() {
  Mistake m;
  m.what = "the logarithm of a gate is applied in place of the gate";
  m.shows = "all steps after the first: the state is all but lost, or alternates in sign";
  m.reports = {"flashinfer #2490", "vllm #32846"};
  m.misread = [](const CheckCase &problem) {
    std::vector<Misread> all;
    for (Tensor gate : given_gates(problem)) {
      const std::string name = name_of(gate);
      all.push_back(elementwise(
          problem, gate, "the logarithm of " + name + " is applied in its place",
          [](double x) { return x > 0 ? std::log(x) : -88; }, [](double x) { return x > 0 ? 1 / x : 0; }));
    }
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
