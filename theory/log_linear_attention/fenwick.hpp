// SPDX-License-Identifier: Apache-2.0
// The blocks of a Fenwick tree that make up a prefix (2506.04761 §3).
#pragma once
#include <utility>
#include <vector>

namespace recollect::theory {
/// The blocks of token t as [begin, end), latest first: the token's own block, then blocks of the tokens 0 ... t - 1.
/// Each block of tokens 0 ... t - 1 is as long as the largest power of two that divides its end.
inline std::vector<std::pair<int, int>> blocks_of(int t) {
  std::vector<std::pair<int, int>> blocks{{t, t + 1}};
  for (int end = t; end > 0;) {
    const int begin = end - (end & -end);
    blocks.push_back({begin, end});
    end = begin;
  }
  return blocks;
}
} // namespace recollect::theory
