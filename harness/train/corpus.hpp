// SPDX-License-Identifier: Apache-2.0
// A text file whose bytes are tokens.
#pragma once
#include <memory>
#include <string>

namespace recollect::train {

struct Corpus {
  std::string bytes;
  size_t held_out() const {
    return bytes.size() - bytes.size() / 10;
  } // where its last tenth begins, which none trains on
  /// Its size and a hash (FNV-1a, 64 bits): what tells it from another.
  std::string identity() const;
};

/// Input error where there is no such file.
std::shared_ptr<const Corpus> load_corpus(const std::string &path);

} // namespace recollect::train
