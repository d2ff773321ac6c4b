// SPDX-License-Identifier: Apache-2.0
// The steps of a state exchange (000 Theorem 1). Shared by the tasks swap and stress.
#pragma once
#include "harness/core/task.hpp"
#include "harness/numerics/random.hpp"
#include <algorithm>
#include <numeric>

namespace recollect::tasks {

struct Swaps {
  int n;                // number of keys in use
  const double *keys;   // [n,d]
  const double *values; // [n,dv]
  bool ordered;         // swaps write k_i - k_j with j < i only
};

/// Fills q, k, v, target and answer of batch element b: n writes, then swaps up to T. The arrays must have their sizes,
/// and v and target must be zero. With n heads, head h asks for key h; a single head asks for a random key at every
/// step.
inline void fill_swaps(Problem &problem, int b, const Swaps &swaps, std::uint64_t seed) {
  Sequence &s = problem.sequence;
  const int T = s.shape.T, H = s.shape.H, n = swaps.n;
  const size_t d = s.shape.Dk, dv = s.shape.Dv;
  const Stream first(seed, "swaps/first"), second(seed, "swaps/second"), ask(seed, "swaps/ask"),
      turn(seed, "swaps/turn");
  std::vector<int> held(n); // held[i]: which value key i holds
  std::iota(held.begin(), held.end(), 0);
  for (int t = 0; t < T; ++t) {
    const size_t draw = size_t(b) * T + t;
    int i = t, j = -1; // the step writes key i, or key i - key j
    if (t >= n) {
      i = int(first.below(draw, n)), j = int(second.below(draw, n - 1));
      if (j >= i) ++j;
      if (swaps.ordered ? i < j : turn.below(draw, 2) == 0) std::swap(i, j);
      std::swap(held[i], held[j]);
    }
    const int random_key = int(ask.below(draw, n));
    for (int h = 0; h < H; ++h) {
      const size_t step = (size_t(b) * H + h) * T + t;
      const int asked = H > 1 ? h : random_key;
      for (size_t c = 0; c < d; ++c) {
        s.k[step * d + c] = swaps.keys[i * d + c] - (j < 0 ? 0 : swaps.keys[j * d + c]);
        s.q[step * d + c] = swaps.keys[asked * d + c];
      }
      if (j < 0) std::copy_n(swaps.values + i * dv, dv, &s.v[step * dv]);
      problem.answer[step] = held[asked];
      std::copy_n(swaps.values + held[asked] * dv, dv, &problem.target[step * dv]);
    }
  }
}

} // namespace recollect::tasks
