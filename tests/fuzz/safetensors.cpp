// SPDX-License-Identifier: Apache-2.0
// As tensor_file.hpp reads them, which is in its own process.
#include "harness/files/safetensors.hpp"
#include "tests/fuzz/target.hpp"

using namespace recollect;

FUZZ_TARGET(bytes) {
  const Safetensors file(bytes, "input");
  for (const std::string &name : file.names()) file.array(name);
}
