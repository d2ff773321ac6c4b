// SPDX-License-Identifier: Apache-2.0
#include "harness/train/corpus.hpp"
#include "harness/core/files.hpp"
#include <cstdint>
#include <cstdio>

namespace recollect::train {

std::string Corpus::identity() const {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  char text[48];
  std::snprintf(text, sizeof text, "%zu bytes, %016llx", bytes.size(), static_cast<unsigned long long>(hash));
  return text;
}

std::shared_ptr<const Corpus> load_corpus(const std::string &path) {
  return std::make_shared<const Corpus>(Corpus{read_regular_file(path)});
}

} // namespace recollect::train
