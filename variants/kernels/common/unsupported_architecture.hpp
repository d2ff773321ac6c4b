// SPDX-License-Identifier: Apache-2.0
// Called by kernels with matrix instructions in code for GPUs without them, in case the host starts that code.
#pragma once
#include <Kokkos_Core.hpp>

namespace recollect::variants {

/// Ends the program. If the kernel returned instead, unwritten outputs would look like results.
template <class... Unused> KOKKOS_FUNCTION void too_old(const Unused &...) {
  Kokkos::abort("recollect was compiled for GPUs before compute capability 8.0: build it for the one at hand\n");
}

} // namespace recollect::variants
