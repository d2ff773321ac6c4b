// SPDX-License-Identifier: Apache-2.0
// A text file whose bytes are tokens.
#pragma once
#include <memory>
#include <string>

namespace recollect::train {

struct Corpus {
  std::string bytes;
  size_t held_out() const { return bytes.size() - bytes.size() / 10; } // where the held-out last tenth begins
  /// The corpus's size and hash (FNV-1a, 64 bits), which distinguish corpora.
  std::string identity() const;
};

/// Input error if there is no such file.
std::shared_ptr<const Corpus> load_corpus(const std::string &path);

} // namespace recollect::train
