// SPDX-License-Identifier: Apache-2.0
// The peak rates of the machine. They are measured in the same run as the times that are compared with them.
#pragma once
#include "harness/core/types.hpp"

namespace recollect {

/// A rate that one kernel reached at one size.
struct Ceiling {
  std::string of;        // "bytes", or the type of products: "f64", "f32", "tf32", "bf16"
  std::string kernel;    // "copy", "triad", "read", "gemm" ...
  std::string size;      // "512 MiB", "8192 x 8192"
  double per_second = 0; // bytes read and written, or floating-point operations
};

struct Ceilings {
  std::vector<Ceiling> all;
  /// The highest rate with this `of` (Ceiling::of); a rate of 0 if none was measured.
  Ceiling best(const std::string &of) const;
  double bytes_per_second() const { return best("bytes").per_second; }
  /// Rate of matrix products in this precision. An exact float32 product may be computed as three TF32 products
  /// (tile/mma_cuda.hpp), if that is faster. For bf16 and f16 arrays: the rate of bf16 products, which tensor cores
  /// compute as fast as f16 products; without tensor cores, the rate of float32 products.
  double flops_per_second(Real real, Math math) const;
  /// Takes over the rates of `others` that are higher, or that are missing here.
  void improve(const Ceilings &others);
};

/// Measures every kernel at every size. A rate is the best of several tries after a warm-up. Matrices hold random
/// numbers.
Ceilings measure_ceilings();

/// Evicts the contents of the caches. The first call allocates memory.
void flush_caches();

} // namespace recollect
