// SPDX-License-Identifier: Apache-2.0
// The machine's peak rates, measured in the same run as the times that are compared with them.
#pragma once
#include "harness/core/types.hpp"

namespace recollect {

/// A rate that one kernel reached at one size.
struct Ceiling {
  std::string of;        // "bytes", or the type of products: "f64", "f32", "tf32", "bf16"
  std::string kernel;    // "copy", "triad", "read", "gemm" ...
  std::string size;      // "512 MB", "8192 x 8192"
  double per_second = 0; // bytes, read and written; or floating-point operations
};

struct Ceilings {
  std::vector<Ceiling> all;
  /// The best of what there is of it; a rate of 0 where nothing was measured.
  Ceiling best(const std::string &of) const;
  double bytes_per_second() const { return best("bytes").per_second; }
  /// Of matrix products in this arithmetic. Exact float32 may also go through TF32 three times (tile/cuda.hpp), if that
  /// is faster. Of arrays in bf16 and f16: of products in bf16, which tensor cores make at one rate, else of float32.
  double flops_per_second(Real real, Math math) const;
  /// Keeps the better rate of each kernel and size.
  void improve(const Ceilings &others);
};

/// Every kernel at every size, the best of several tries after a warm-up. Matrices hold random numbers.
Ceilings measure_ceilings();

/// Evicts the contents of the caches. The first call allocates the memory for it.
void flush_caches();

} // namespace recollect
