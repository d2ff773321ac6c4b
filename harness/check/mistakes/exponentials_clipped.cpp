// SPDX-License-Identifier: Apache-2.0
// G is the sum of log gates since the start of the chunk. The kernel computes exp(G_i - G_j) as exp(G_i) exp(-G_j) with
// both factors in float32: the first factor is 0 below exp(-103), the second is clipped at exp(88).
#include "harness/check/remake.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::mistakes {
namespace {

/// Outputs of all steps. An output is the sum of two parts: reads of pairs within the chunk, with clipped queries and
/// keys, and the read of the state at the start of the chunk.
Numbers clipped_outputs(const CheckCase &problem, int length) {
  const Shape &n = problem.given.shape;
  const size_t T = size_t(n.T), D = size_t(n.Dk);
  const Numbers alpha = problem.given.or_neutral(Tensor::alpha), lambda = problem.given.or_neutral(Tensor::lambda);
  CheckCase pairs = problem, carried = problem;
  pairs.given.state.clear();
  std::fill(carried.given.v.begin(), carried.given.v.end(), 0.0);
  for (size_t lane = 0; lane < n.heads() * D; ++lane) {
    double G = 0;
    for (size_t t = 0; t < T; ++t) {
      const size_t step = lane / D * T + t, i = step * D + lane % D;
      G = (t % size_t(length) ? G : 0) - std::log(alpha[step] * lambda[i]);
      if (G > 103) pairs.given.q[i] = 0;
      if (G > 88) pairs.given.k[i] *= std::exp(88 - G);
    }
  }
  const StateShape size = problem.variant.state_shape(n, problem.params);
  Numbers o = outputs_from_states(pairs, length, [&](Numbers &state) { state.assign(n.heads() * size.size(), 0.0); });
  const std::vector<Numbers> states = chunk_states(problem, length);
  size_t at = 0;
  for (const Steps &steps : chunks(n.T, length)) {
    const Numbers part = outputs_of_steps(carried, steps, states[at++]).o;
    const size_t count = size_t(steps.end - steps.begin) * size_t(n.Dv);
    for (size_t head = 0; head < n.heads(); ++head)
      for (size_t i = 0; i < count; ++i)
        o[(head * T + size_t(steps.begin)) * size_t(n.Dv) + i] += part[head * count + i];
  }
  return o;
}

} // namespace

Mistake exponentials_clipped() {
  Mistake m;
  m.what =
      "a chunk's decays are split into two exponentials, which are clipped to float32's range: wrong, but without NaN";
  m.shows = "chunks whose log gates sum to less than -88";
  m.reports = {"cudnn-frontend #1017"};
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    if (given_gates(problem).empty() || is_delta_rule(problem) || problem.variant.layout != "S [Dv,Dk]") return all;
    for (int length : chunk_lengths(problem))
      all.push_back({"exponentials are clipped at 88 within " + of_chunks(length),
                     [&problem, &right, length] {
                       return changed(right, {"o"}, [&](Part &o) { o.values = clipped_outputs(problem, length); });
                     },
                     nullptr});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
