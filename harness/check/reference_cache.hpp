// SPDX-License-Identifier: Apache-2.0
// References that several checks share: candidates for the same inputs, judged one after the other.
#pragma once
#include "harness/check/check.hpp"
#include <functional>
#include <list>
#include <memory>
#include <string>

namespace recollect {

/// The references asked for last, as many as fit `most` bytes of inputs, and at least one.
class ReferenceCache {
public:
  explicit ReferenceCache(size_t most) : most_(most) {}
  /// The reference of `key`, which is all that decides it: the options and the bytes of the inputs. Made where it is new.
  std::shared_ptr<const Reference> get(const std::string &key, const std::function<Reference()> &make);
  size_t size() const { return entries_.size(); }

private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Reference> reference;
  };
  size_t most_, held_ = 0;   // bytes of keys
  std::list<Entry> entries_; // the latest first
};

} // namespace recollect
