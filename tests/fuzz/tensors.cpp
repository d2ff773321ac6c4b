// SPDX-License-Identifier: Apache-2.0
// forward's and check's input.
#include "harness/pipeline/tensors.hpp"
#include "tests/fuzz/target.hpp"

using namespace recollect;

FUZZ_TARGET(bytes) {
  const MemoryFile file(bytes);
  const Sequence s = read_sequence(file.path(), {});
  if (s.q.size() != s.k.size() || s.q.size() != std::size_t(s.shape.heads()) * s.shape.T * s.shape.Dk) std::abort();
}
