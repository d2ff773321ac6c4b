// SPDX-License-Identifier: Apache-2.0
#include "harness/run/hand_out.hpp"
#include "harness/run/plan.hpp"
#include <map>

namespace recollect {

HandOut::HandOut(const std::vector<std::string> &kinds, const std::vector<double> &work, bool shared) {
  std::map<std::string, std::vector<size_t>> items; // kind -> its items, by decreasing work
  for (size_t i : longest_first(shared ? work : std::vector<double>(work.size())))
    items[shared ? kinds.at(i) : ""].push_back(i);
  std::vector<Kind> all;
  std::vector<double> total;
  for (auto &[name, own] : items) {
    std::vector<double> left(own.size());
    double sum = 0;
    for (size_t i = own.size(); i-- > 0;) left[i] = sum += work[own[i]];
    all.push_back({std::move(own), std::move(left)}), total.push_back(sum);
  }
  for (size_t k : longest_first(total)) kinds_.push_back(std::move(all[k]));
}

std::optional<size_t> HandOut::next(ranks::Counters &counters) {
  while (true) {
    if (current_)
      if (const size_t taken = counters.next(*current_); taken < kinds_[*current_].items.size())
        return kinds_[*current_].items[taken];
    if (!all_begun_) {
      current_ = counters.next(kinds_.size());
      all_begun_ = *current_ >= kinds_.size();
    }
    if (all_begun_) current_ = most_left(counters.values());
    if (!current_) return std::nullopt;
  }
}

/// The kind with the most work left, if any item is left.
std::optional<size_t> HandOut::most_left(const std::vector<size_t> &taken) const {
  std::optional<size_t> most;
  const auto left = [&](size_t kind) { return kinds_[kind].left[taken[kind]]; };
  for (size_t kind = 0; kind < kinds_.size(); ++kind)
    if (taken[kind] < kinds_[kind].items.size() && (!most || left(kind) > left(*most))) most = kind;
  return most;
}

} // namespace recollect
