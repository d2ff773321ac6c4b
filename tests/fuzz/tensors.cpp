// SPDX-License-Identifier: Apache-2.0
// Inputs of forward and check.
#include "harness/files/tensors.hpp"
#include "tests/fuzz/target.hpp"

using namespace recollect;

void recollect::fuzz(const std::string &bytes) {
  const TemporaryFile file(bytes);
  for (const auto &[name, array] : read_users(file.path(), {"q", "k", "v", "state", "cu_seqlens"}, {})) {
    std::uint64_t size = 1;
    for (std::uint64_t n : array.dims) size *= n;
    if (array.data.size() != size) std::abort();
  }
}
