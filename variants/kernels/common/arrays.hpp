// SPDX-License-Identifier: Apache-2.0
// Device arrays that a layer allocates from the call's arena. They live as long as the pass.
#pragma once
#include "harness/device/device.hpp"

namespace recollect::variants {

/// An uninitialised array of n numbers.
template <class Real> Array<Real> allocate(const Call<Real> &call, size_t n) {
  return call.arena->template take<Real>(n);
}

/// An array of n equal numbers.
template <class Real> Array<Real> filled(const Call<Real> &call, size_t n, Real value) {
  const Array<Real> array = allocate(call, n);
  fill(array, value);
  return array;
}

/// Fixed weights of a layer, computed on the host from its parameters and seed, the same for all heads.
template <class Real> Array<Real> constants(const std::string &label, const std::vector<double> &values) {
  return uploaded<Real>(label, values.size(), [&](size_t i) { return values[i]; });
}

template <class Real, class Step> struct StepMap {
  HeadArrays<Real> arrays;
  Array<Real> out;
  Step step;
  KOKKOS_FUNCTION void operator()(size_t i) const {
    out(i) = step(arrays.head(i / arrays.T), static_cast<int>(i % arrays.T));
  }
};

/// An array [B,H,T] with the values step(head, t).
template <class Real, class Step>
Array<Real> per_step(const std::string &label, const Call<Real> &call, const Step &step) {
  const Array<Real> out = allocate(call, call.steps());
  parallel_loop(label, call.steps(), StepMap<Real, Step>{HeadArrays<Real>(call), out, step});
  return out;
}

} // namespace recollect::variants
