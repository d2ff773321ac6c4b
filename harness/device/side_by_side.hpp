// SPDX-License-Identifier: Apache-2.0
// Runs whole calls side by side on the host's threads.
#pragma once
#include <cstddef>
#include <functional>

namespace recollect {

/// Whether side_by_side(n, ...) runs calls concurrently. It does on a CPU with Kokkos before version 4, where a kernel
/// may launch kernels, which run on the same thread. From Kokkos 4 on, a launch waits until the current kernel has
/// ended, so that a launch inside a kernel would never return.
bool runs_side_by_side();

/// Calls call(i) for i < n, each on one thread. Kernels that a call launches run on the call's thread, without waiting
/// for other threads. If runs_side_by_side() is false or n is 1, the calls run one after another, each with all
/// threads. Rethrows the first exception once the running calls have ended. `call` must allocate arrays with
/// allocated() (transfer.hpp), because on other threads Kokkos cannot fill new arrays with zeros.
void side_by_side(size_t n, const std::function<void(size_t)> &call);

} // namespace recollect
