// SPDX-License-Identifier: Apache-2.0
#include "harness/files/suite.hpp"
#include "tests/fuzz/target.hpp"

using namespace recollect;

void recollect::fuzz(const std::string &bytes) {
  const TemporaryFile file(bytes);
  for (const auto &point : load_suite(file.path()).points)
    if (point.claim.empty()) std::abort();
}
