// SPDX-License-Identifier: Apache-2.0
// info, diff, merge and resume on a results file: HDF5 reads it in a child process; this process uses the contents.
#include "harness/files/diff.hpp"
#include "tests/fuzz/target.hpp"

using namespace recollect;

void recollect::fuzz(const std::string &bytes) {
  const TemporaryFile file(bytes);
  const Results read = Results::read(file.path());
  as_markdown(diff(read, read));
  read.missing();
  Results::merged({read}, {"input"});
}
