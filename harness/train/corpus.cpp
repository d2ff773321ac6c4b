// SPDX-License-Identifier: Apache-2.0
#include "harness/train/corpus.hpp"
#include "harness/core/fnv.hpp"
#include "harness/system/files.hpp"
#include <cstdio>

namespace recollect::train {

std::string Corpus::identity() const {
  char text[48];
  std::snprintf(text, sizeof text, "%zu bytes, %016llx", bytes.size(), static_cast<unsigned long long>(fnv1a(bytes)));
  return text;
}

std::shared_ptr<const Corpus> load_corpus(const std::string &path) {
  return std::make_shared<const Corpus>(Corpus{read_regular_file(path)});
}

} // namespace recollect::train
