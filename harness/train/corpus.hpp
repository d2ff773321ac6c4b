// SPDX-License-Identifier: Apache-2.0
// A text file whose bytes are tokens.
#pragma once
#include <memory>
#include <string>

namespace recollect::train {

struct Corpus {
  std::string bytes;
  size_t held_out() const { return bytes.size() - bytes.size() / 10; } // index at which the held-out last tenth begins
  /// Size and hash (FNV-1a, 64 bits) of the bytes, which tell one corpus from another.
  std::string identity() const;
};

/// Input error if there is no such file.
std::shared_ptr<const Corpus> load_corpus(const std::string &path);

} // namespace recollect::train
