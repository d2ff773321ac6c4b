// SPDX-License-Identifier: Apache-2.0
// Starts, ends and describes the parallel backend, Kokkos, without including its headers.
#pragma once
#include "harness/core/types.hpp"
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace recollect {

/// Lets idle OpenMP threads sleep instead of spin, unless the user set OMP_WAIT_POLICY. On a machine that runs other
/// work too, a team of spinning threads waits whole time slices at every barrier. The OpenMP runtime reads its settings
/// before main, so this function sets the variable and starts the program again. It returns if there is nothing to do
/// or if the restart fails. It must be called first in main.
void let_idle_threads_sleep(char **argv);

/// Starts Kokkos and finalises it on destruction; must live while anything is computed. Kokkos starts once per process,
/// so a second object does nothing while the first lives.
class Backend {
public:
  Backend();
  ~Backend();
  Backend(const Backend &) = delete;
  Backend &operator=(const Backend &) = delete;

private:
  const bool first_;
};

/// Kokkos and Kokkos Kernels versions, execution space, device, concurrency: (name, value) pairs for /meta and `info`.
std::vector<std::pair<std::string, std::string>> backend_facts();

/// Whether the device can round the operands of products in this way.
bool has_math(Math math);

/// Free bytes on the device; no value if kernels run in host memory, which --memory limits.
std::optional<std::uint64_t> device_memory_free();
/// "needs B bytes on the device, which has M free" if `bytes` exceeds `free`, else "".
std::string over_device_memory(std::uint64_t bytes, std::optional<std::uint64_t> free = device_memory_free());

/// Peak of the bytes held by kernels and arrays while `work` ran, minus the bytes held before.
std::int64_t peak_bytes(const std::function<void()> &work);

} // namespace recollect
