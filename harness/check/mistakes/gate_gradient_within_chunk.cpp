// SPDX-License-Identifier: Apache-2.0
// The gradient with respect to the logarithm of a gate is a sum over later steps. The kernel restarts the sum in every
// chunk.
#include "harness/check/remake.hpp"
#include <algorithm>

namespace recollect::mistakes {
namespace {

/// alpha_t dalpha_t is a sum over step t and all later steps. Subtracts the terms of all steps after the chunk of t.
void cut(Part &part, const Numbers &gate, size_t length, bool logs) {
  const size_t width = part.columns, T = part.rows;
  for (size_t lane = 0; lane < part.heads * width; ++lane)
    for (size_t begin = 0; begin + length < T; begin += length) {
      const auto at = [&](size_t t) { return (lane / width * T + t) * width + lane % width; };
      const size_t next = at(begin + length);
      const double later = part.values[next] * (logs ? 1 : gate[next]);
      for (size_t t = begin; t < begin + length; ++t)
        if (logs || gate[at(t)] > 0) part.values[at(t)] -= later / (logs ? 1 : gate[at(t)]);
    }
}

} // namespace

Mistake gate_gradient_within_chunk() {
  Mistake m;
  m.what = "the gradient of a gate sums over its own chunk only: the share of later chunks is missing";
  m.shows = "the gate's gradient, before the last chunk";
  m.reports = {"fla 0dfd7f5f"};
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    if (!problem.wants_gradient()) return all;
    for (Tensor gate : given_gates(problem))
      for (int length : chunk_lengths(problem)) {
        const std::string name = std::string("d") + name_of(gate);
        all.push_back({name + " sums over its own chunk of " + std::to_string(length) + " only", nullptr,
                       [&problem, &right, gate, name, length] {
                         return changed(right, {name}, [&](Part &part) {
                           cut(part, problem.given[gate], size_t(length), problem.log_gates);
                         });
                       }});
      }
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
