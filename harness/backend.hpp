// SPDX-License-Identifier: Apache-2.0
// The parallel backend's life and name, without its headers.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace recollect {

/// Starts Kokkos; finishes it on destruction. One per process, alive while anything is computed.
class Backend {
public:
  Backend();
  ~Backend();
  Backend(const Backend &) = delete;
  Backend &operator=(const Backend &) = delete;
};

/// Kokkos and Kokkos Kernels versions, execution space, device, concurrency: (name, value) pairs for /meta and `info`.
std::vector<std::pair<std::string, std::string>> backend_facts();

} // namespace recollect
