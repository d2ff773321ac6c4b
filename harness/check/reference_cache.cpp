// SPDX-License-Identifier: Apache-2.0
#include "harness/check/reference_cache.hpp"
#include <algorithm>

namespace recollect {

std::shared_ptr<const Reference> ReferenceCache::get(const std::string &key, const std::function<Reference()> &make) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry &one) { return one.key == key; });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
    return found->reference;
  }
  entries_.push_front({key, std::make_shared<const Reference>(make())});
  held_ += key.size();
  while (entries_.size() > 1 && held_ > most_) {
    held_ -= entries_.back().key.size();
    entries_.pop_back();
  }
  return entries_.front().reference;
}

} // namespace recollect
