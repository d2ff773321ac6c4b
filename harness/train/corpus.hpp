// SPDX-License-Identifier: Apache-2.0
// A text file for task=text. Each byte of the file is a token.
#pragma once
#include <memory>
#include <string>

namespace recollect::train {

struct Corpus {
  std::string bytes;
  size_t held_out() const { return bytes.size() - bytes.size() / 10; } // index of the first byte of the held-out tenth
  /// Size and hash (FNV-1a, 64 bits) of the bytes, which tell one corpus from another.
  std::string identity() const;
};

/// Reads the file. Input error if it does not exist.
std::shared_ptr<const Corpus> load_corpus(const std::string &path);

} // namespace recollect::train
