// SPDX-License-Identifier: Apache-2.0
// Device arrays that a layer makes for itself.
#pragma once
#include "harness/device/device.hpp"

namespace recollect::variants {

/// n numbers, not initialised.
template <class Real> Array<Real> allocate(const std::string &label, size_t n) {
  return Array<Real>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), n);
}

/// Fixed weights of a layer, computed on the host from its parameters and seed, the same for all heads.
template <class Real> Array<Real> constants(const std::string &label, const std::vector<double> &values) {
  const Array<Real> device = allocate<Real>(label, values.size());
  const auto host = Kokkos::create_mirror_view(device);
  for (size_t i = 0; i < values.size(); ++i) host(i) = static_cast<Real>(values[i]);
  Kokkos::deep_copy(device, host);
  return device;
}

} // namespace recollect::variants
