// SPDX-License-Identifier: Apache-2.0
// The order in which the ranks that share a plan take the plan's items.
#pragma once
#include "harness/system/ranks.hpp"
#include <optional>
#include <string>
#include <vector>

namespace recollect {

/// Items of one kind run the same kernels, and a process loads a kernel onto its GPU at the kernel's first use. To load
/// few kernels, a rank takes items of one kind until none is left. Then it begins another kind: of those that no rank
/// has begun, the one with the most work. When all kinds are begun, it helps with the kind that has the most work left.
/// The items of a kind are taken by decreasing work, so that all ranks finish at about the same time. A single process
/// takes all items in the order of the plan.
class HandOut {
public:
  /// `kinds` and `work` hold the kind and the work of each item, and are the same on every rank.
  HandOut(const std::vector<std::string> &kinds, const std::vector<double> &work, bool shared = ranks::size() > 1);
  /// Number of counters that next() needs.
  size_t counters() const { return kinds_.size() + 1; }
  /// The item that this rank takes next, if any is left. All ranks share `counters`, so every item goes to one rank
  /// only.
  std::optional<size_t> next(ranks::Counters &counters);

private:
  struct Kind {
    std::vector<size_t> items; // in the order in which they are taken
    std::vector<double> left;  // left[i]: work of items[i] and of all items after it
  };
  std::optional<size_t> most_left(const std::vector<size_t> &taken) const;
  std::vector<Kind> kinds_; // by decreasing work
  std::optional<size_t> current_;
  bool all_begun_ = false;
};

} // namespace recollect
