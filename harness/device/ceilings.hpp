// SPDX-License-Identifier: Apache-2.0
// What the machine can do at most, measured in the same run as what is held against it.
#pragma once
#include "harness/core/types.hpp"

namespace recollect {

struct Ceilings {
  double flops_per_second_f32 = 0, flops_per_second_f64 = 0; // Kokkos Kernels' gemm on square matrices
  double bytes_per_second = 0; // copying an array larger than the caches, both ways counted
};

/// The best of several tries, after a warm-up.
Ceilings measure_ceilings();

/// Makes the caches forget what they held. The first call takes the memory that it needs.
void flush_caches();

} // namespace recollect
