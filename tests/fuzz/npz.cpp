// SPDX-License-Identifier: Apache-2.0
// As tensor_file.hpp reads them, but in this process: what the child would contain is a finding here.
#include "harness/files/tensor_file.hpp"
#include "tests/fuzz/target.hpp"

using namespace recollect;

FUZZ_TARGET(bytes) {
  const MemoryFile file(bytes);
  read_npz(file.path(), {{"q", 4, "[B,H,T,Dk]"}, {"beta", 3, "[B,H,T]"}});
}
