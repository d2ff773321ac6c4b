// SPDX-License-Identifier: Apache-2.0
// Kernels with matrix instructions are also compiled for GPUs without these instructions. There they only call
// unsupported_architecture().
#pragma once
#include <Kokkos_Core.hpp>

namespace recollect::variants {

/// Ends the program. If the kernel returned instead, its unwritten outputs would look like results.
template <class... Unused> KOKKOS_FUNCTION void unsupported_architecture(const Unused &...) {
  Kokkos::abort("recollect was compiled for GPUs before compute capability 8.0: build it for the one at hand\n");
}

} // namespace recollect::variants
