// SPDX-License-Identifier: Apache-2.0
// The kernel clamps log alpha_t to at least -5 (or -1), although gates may be smaller.
#include "harness/check/remake.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::mistakes {

Mistake gate_clamped() {
  Mistake m;
  m.what = "the logarithm of a gate is clamped from below, at -5 or at -1";
  m.shows = "steps with a gate below exp(-5) = .0067, or below exp(-1)";
  m.reports = {"cudnn-frontend #1017", "fla-npu #448"};
  m.misread = [](const CheckCase &problem) {
    std::vector<Misread> all;
    for (Tensor gate : given_gates(problem))
      for (int bound : {-5, -1}) {
        const double least = std::exp(bound);
        all.push_back(elementwise(
            problem, gate, "the logarithm of " + std::string(name_of(gate)) + " is clamped at " + std::to_string(bound),
            [=](double x) { return std::max(x, least); }, [=](double x) { return x < least ? 0 : 1; }));
      }
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
