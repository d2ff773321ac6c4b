// SPDX-License-Identifier: Apache-2.0
#include "harness/device/stream.hpp"
#include <vector>

namespace recollect {
namespace {

// taken[n]: whether a stream has the number n. A new stream that gets a freed number reuses the memory that is cached
// under this number (transfer.hpp).
std::vector<char> taken{1};

size_t free_number() {
  size_t number = 0;
  while (number < taken.size() && taken[number]) ++number;
  taken.resize(std::max(taken.size(), number + 1));
  return number;
}

Execution another() {
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
  return Kokkos::Experimental::partition_space(Execution(), 1)[0];
#else
  return Execution();
#endif
}

} // namespace

DeviceStream::DeviceStream() : queue_{another(), free_number()} { taken[queue_.number] = 1; }
DeviceStream::~DeviceStream() {
  queue_.execution.fence();
  taken[queue_.number] = 0;
}

} // namespace recollect
