// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/contest.hpp"
#include <algorithm>

namespace recollect {
namespace {

constexpr double seconds_of_a_turn = 0.05;

struct Entry {
  const Contestant &contestant;
  Sampling samples;
  int turns = 0;
  bool out = false;

  bool waits() const { return !out && !(samples.done() && turns >= 2); }

  /// Number of samples in the next turn. The first turn has one sample, whose time shows how many fit into later turns.
  size_t count() const {
    if (turns == 0) return 1;
    return size_t(std::clamp(seconds_of_a_turn / std::max(samples.taken_each(), 1e-9), 1.0, 50.0));
  }

  bool take_turn() {
    const size_t wanted = count(), discarded = samples.discarded();
    const std::vector<Sample> taken = contestant.take(wanted);
    for (const Sample &sample : taken) samples.add(sample);
    ++turns, out = taken.size() < wanted;
    return samples.discarded() > discarded;
  }
};

} // namespace

std::vector<Sampling> contest(const std::vector<Contestant> &contestants, const SamplingRule &rule,
                              const std::function<void()> &rest) {
  std::vector<Entry> entries;
  for (const Contestant &one : contestants) entries.push_back({one, Sampling(rule)});
  const auto waits = [](const Entry &entry) { return entry.waits(); };
  for (bool turned = false; std::any_of(entries.begin(), entries.end(), waits); turned = !turned)
    for (size_t i = 0; i < entries.size(); ++i) {
      Entry &entry = entries[turned ? entries.size() - 1 - i : i];
      if (!entry.out && entry.take_turn()) rest();
    }
  std::vector<Sampling> found;
  for (const Entry &entry : entries) found.push_back(entry.samples);
  return found;
}

} // namespace recollect
