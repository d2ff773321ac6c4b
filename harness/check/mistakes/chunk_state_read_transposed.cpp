// SPDX-License-Identifier: Apache-2.0
// S is the state at the start of a chunk. The queries of the chunk read S^T instead of S; the states themselves are
// right.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {
namespace {

/// Adds (S^T - S) x_t to o_t. S is the state at the start of the chunk; x_t is q_t times the decays since then.
void exchange_inter_chunk_part(Part &o, const CheckCase &problem, int length) {
  const Shape &n = problem.given.shape;
  const size_t T = size_t(n.T), D = size_t(n.Dk), H = n.heads();
  const Numbers alpha = problem.given.or_neutral(Tensor::alpha), lambda = problem.given.or_neutral(Tensor::lambda);
  const std::vector<Numbers> states = chunk_states(problem, length);
  size_t at = 0;
  for (const Steps &steps : chunks(n.T, length)) {
    const Numbers &S = states[at++];
    for (size_t head = 0; head < H; ++head) {
      Numbers decay(D, 1.0);
      for (size_t t = size_t(steps.begin); t < size_t(steps.end); ++t)
        for (size_t j = 0; j < D; ++j) {
          const size_t step = head * T + t;
          decay[j] *= alpha[step] * lambda[step * D + j];
          const double read = decay[j] * problem.given.q[step * D + j];
          for (size_t i = 0; i < D; ++i)
            o.values[step * D + i] += (S[(head * D + j) * D + i] - S[(head * D + i) * D + j]) * read;
        }
    }
  }
}

} // namespace

Mistake chunk_state_read_transposed() {
  Mistake m;
  m.what = "outputs read the state at the chunk's start transposed; the state itself is right";
  m.shows = "o from the second chunk on, or with an initial state, where Dk = Dv";
  m.reports = {"vllm #40956", "vllm #41292"};
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    if (!has_square_state(problem)) return all;
    for (int length : chunk_lengths(problem)) {
      all.push_back({"outputs read the state at the start of " + of_chunks(length) + " transposed",
                     [&problem, &right, length] {
                       return changed(right, {"o"}, [&](Part &o) {
                         o.values = outputs_from_states(problem, length, [&](Numbers &state) {
                           state = transposed(state, problem.given.shape.Dk);
                         });
                       });
                     },
                     nullptr});
      if (is_delta_rule(problem))
        all.push_back({"the inter-chunk part of o reads the state at the start of " + of_chunks(length) + " transposed",
                       [&problem, &right, length] {
                         return changed(right, {"o"}, [&](Part &o) { exchange_inter_chunk_part(o, problem, length); });
                       },
                       nullptr});
    }
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
