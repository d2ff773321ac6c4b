// SPDX-License-Identifier: Apache-2.0
#include "harness/files/npy.hpp"
#include "harness/system/memory.hpp"
#include "tests/fuzz/target.hpp"

using namespace recollect;

/// A parsed array has the size that it declares, and writing it gives bytes that parse to the same array.
void recollect::fuzz(const std::string &bytes) {
  const NumericArray read = parse_npy(bytes, "input");
  std::uint64_t count = 1;
  for (std::uint64_t n : read.dims) count = saturating_product(count, n);
  if (read.data.size() != count || count > bytes.size()) std::abort();
  const NumericArray again = parse_npy(npy_bytes(read, Real::f64), "written");
  if (again.dims != read.dims || npy_bytes(again, Real::f64) != npy_bytes(read, Real::f64)) std::abort();
}
