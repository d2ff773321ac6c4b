// SPDX-License-Identifier: Apache-2.0
// The kernel returns S_T after one more decay: by alpha_T, or by all gates of the last chunk.
#include "harness/check/remake.hpp"
#include <cmath>

namespace recollect::mistakes {
namespace {

/// Multiplies the final state again by the decays of steps [begin, T).
void decay_since(Part &state, const CheckCase &problem, int begin) {
  const Shape &n = problem.given.shape;
  const Numbers alpha = problem.given.or_neutral(Tensor::alpha), lambda = problem.given.or_neutral(Tensor::lambda);
  for (size_t i = 0; i < state.values.size(); ++i) {
    const size_t head = i / (state.rows * state.columns), channel = i % state.columns;
    for (size_t t = size_t(begin); t < size_t(n.T); ++t) {
      const size_t step = head * size_t(n.T) + t;
      state.values[i] *= alpha[step] * lambda[step * size_t(n.Dk) + channel];
    }
  }
}

} // namespace

Mistake state_decayed_twice() {
  Mistake m;
  m.what = "the final state decays once more, by the last step's gate or by those of the last chunk";
  m.shows = "the state alone, where gates are not 1";
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    const int T = problem.given.shape.T;
    if (!has_state(problem) || given_gates(problem).empty() || problem.variant.layout != "S [Dv,Dk]") return all;
    const auto add = [&](const std::string &what, int begin) {
      all.push_back({what,
                     [&problem, &right, begin] {
                       return changed(right, {"state"}, [&](Part &state) { decay_since(state, problem, begin); });
                     },
                     nullptr});
    };
    add("the final state decays once more by the gate of the last step", T - 1);
    for (int length : chunk_lengths(problem))
      add("the final state decays once more by the gates of the last of the " + of_chunks(length),
          (T - 1) / length * length);
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
