// SPDX-License-Identifier: Apache-2.0
// Like tensor_file.hpp, but in this process: errors that the child process would contain are found here.
#include "harness/files/tensor_file.hpp"
#include "tests/fuzz/target.hpp"

using namespace recollect;

void recollect::fuzz(const std::string &bytes) {
  const TemporaryFile file(bytes);
  read_npz(file.path(), {{"q", 4, "[B,H,T,Dk]"}, {"beta", 3, "[B,H,T]"}});
}
