// SPDX-License-Identifier: Apache-2.0
// Every chunk starts from S = 0.
#include "harness/check/remake.hpp"
#include "harness/numerics/inputs.hpp"
#include <algorithm>

namespace recollect::mistakes {
namespace {

void clear(Numbers &numbers, const std::string &) { std::fill(numbers.begin(), numbers.end(), 0.0); }
/// For a layer that keeps all keys: the queries of a chunk see only the keys of this chunk.
PartList own_chunk_only(const CheckCase &problem, int length) {
  Output whole;
  whole.o = outputs_from_states(problem, length, [](Numbers &) {});
  return as_results(problem, whole);
}

} // namespace

Mistake state_not_handed_over() {
  Mistake m;
  m.what = "the state is not handed over from chunk to chunk";
  m.shows = "o from the second chunk on, and the state";
  m.reports = {"sparkinfer #1071"};
  m.make = [](const CheckCase &problem, const PartList &) {
    std::vector<Made> all;
    for (int length : chunk_lengths(problem)) {
      const std::string what = "the state is not handed over between " + of_chunks(length);
      if (!has_state(problem)) {
        all.push_back({what, [&problem, length] { return own_chunk_only(problem, length); }, nullptr});
        continue;
      }
      const auto forward = [&problem, length] {
        return forward_in_chunks(problem, length, [](Numbers &state) { clear(state, ""); });
      };
      all.push_back({what, forward, [&problem, length] { return in_segments(problem, length, clear); }});
      if (problem.wants_gradient()) all.push_back({what + "; the backward pass is right", forward, nullptr});
    }
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
