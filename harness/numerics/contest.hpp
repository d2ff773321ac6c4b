// SPDX-License-Identifier: Apache-2.0
// Times several implementations fairly: they take turns in an order that is reversed after every round, and one rule
// decides for all when there are enough samples. Reads no clock, so tests can simulate implementations.
#pragma once
#include "harness/numerics/sampling.hpp"
#include <functional>

namespace recollect {

struct Contestant {
  /// Takes `count` samples in a row. If the implementation fails, returns fewer; then take() is not called again.
  std::function<std::vector<Sample>(size_t count)> take;
};

/// The samples of each contestant. All contestants continue until each of them has enough samples and has had a turn in
/// both orders. If a contestant stopped early and the machine became slower, it would be timed only while the machine
/// was fast. rest() is called after a turn in which samples were discarded because of a slow clock. It lets the
/// processor cool.
std::vector<Sampling> contest(const std::vector<Contestant> &contestants, const SamplingRule &rule,
                              const std::function<void()> &rest);

} // namespace recollect
