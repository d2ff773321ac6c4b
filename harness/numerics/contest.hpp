// SPDX-License-Identifier: Apache-2.0
// Times several implementations so that none is favoured: they take turns, the order is turned round every time, and one
// rule says for all of them when there are enough samples. It reads no clock: tests let made-up implementations compete.
#pragma once
#include "harness/numerics/sampling.hpp"
#include <functional>

namespace recollect {

struct Contestant {
  /// So many samples, one after the other; fewer where it broke down, which ends its part.
  std::function<std::vector<Sample>(size_t count)> take;
};

/// The samples of each. All go on until the last has enough, after turns in both orders at least: on a machine that gets
/// slower, who stopped early would have been timed while it was fast. `rest` is called after a turn in which samples were
/// discarded for a slow clock, to let the processor cool.
std::vector<Sampling> contest(const std::vector<Contestant> &contestants, const SamplingRule &rule,
                              const std::function<void()> &rest);

} // namespace recollect
