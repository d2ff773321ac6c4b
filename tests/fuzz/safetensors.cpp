// SPDX-License-Identifier: Apache-2.0
// Like tensor_file.hpp, which reads this format in its own process.
#include "harness/files/safetensors.hpp"
#include "tests/fuzz/target.hpp"

using namespace recollect;

void recollect::fuzz(const std::string &bytes) {
  const Safetensors file(bytes, "input");
  for (const std::string &name : file.names()) file.array(name);
}
