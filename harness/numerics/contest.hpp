// SPDX-License-Identifier: Apache-2.0
// Times several implementations fairly: they take turns in an order that is reversed after every round, and one rule
// decides for all when there are enough samples. Reads no clock, so tests can simulate implementations.
#pragma once
#include "harness/numerics/sampling.hpp"
#include <functional>

namespace recollect {

struct Contestant {
  /// Takes `count` samples in a row. Returns fewer if it failed, and then is not called again.
  std::function<std::vector<Sample>(size_t count)> take;
};

/// The samples of each contestant. All continue until the last has enough, and for at least one turn in each order: if
/// the machine becomes slower, a contestant that stopped early would only have been timed while it was fast. `rest` is
/// called after a turn in which samples were discarded because of a slow clock, to let the processor cool.
std::vector<Sampling> contest(const std::vector<Contestant> &contestants, const SamplingRule &rule,
                              const std::function<void()> &rest);

} // namespace recollect
