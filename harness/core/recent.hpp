// SPDX-License-Identifier: Apache-2.0
// A cache for values that take long to compute.
#pragma once
#include <algorithm>
#include <functional>
#include <list>
#include <memory>
#include <string>

namespace recollect {

/// Keeps the most recently requested values, at least one. The keys of the kept values have at most `most` bytes in
/// total.
template <class Value> class Recent {
public:
  explicit Recent(size_t most) : most_(most) {}

  /// The cached value of `key`, or make(), which is then cached. The result stays valid when the cache drops it.
  std::shared_ptr<const Value> get(const std::string &key, const std::function<Value()> &make) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry &one) { return one.key == key; });
    if (found != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, found);
      return found->value;
    }
    entries_.push_front({key, std::make_shared<const Value>(make())});
    held_ += key.size();
    while (entries_.size() > 1 && held_ > most_) {
      held_ -= entries_.back().key.size();
      entries_.pop_back();
    }
    return entries_.front().value;
  }
  size_t size() const { return entries_.size(); }

private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Value> value;
  };
  size_t most_, held_ = 0;   // bytes of keys
  std::list<Entry> entries_; // most recent first
};

} // namespace recollect
