// SPDX-License-Identifier: Apache-2.0
// The order in which ranks that share a plan take its items.
#pragma once
#include "harness/system/ranks.hpp"
#include <optional>
#include <string>
#include <vector>

namespace recollect {

/// Items of one kind run the same kernels, and a process loads each kernel onto its GPU at the first use. So a rank stays
/// with a kind until all its items are taken, then begins the kind with the most work that no rank has begun, and at last
/// helps with the kind that has the most work left. A kind's items are taken by decreasing work, so that all ranks
/// finish together. A single process takes all items in the plan's order.
class HandOut {
public:
  /// The kind and the work of each item. The same on every rank.
  HandOut(const std::vector<std::string> &kinds, const std::vector<double> &work, bool shared = ranks::size() > 1);
  /// Number of counters that next() needs.
  size_t counters() const { return kinds_.size() + 1; }
  /// The item that this rank takes next, if any is left; every item goes to exactly one rank. All ranks share `counters`.
  std::optional<size_t> next(ranks::Counters &counters);

private:
  struct Kind {
    std::vector<size_t> items; // in the order in which they are taken
    std::vector<double> left;  // work of items[i] and those after it
  };
  std::optional<size_t> most_left(const std::vector<size_t> &taken) const;
  std::vector<Kind> kinds_; // by decreasing work
  std::optional<size_t> current_;
  bool all_begun_ = false;
};

} // namespace recollect
