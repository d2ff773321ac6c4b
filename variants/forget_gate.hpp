// SPDX-License-Identifier: Apache-2.0
// The forget gate of HGRN and HGRN2, f = lower + (1 - lower) lambda sigmoid(-k), and its complement, the write. The
// complement is summed from positive terms, so that it keeps its digits where f is near 1.
#pragma once
#include "../harness/device.hpp"

namespace recollect::variants {

template <class Real> struct ForgetGate {
  Real lower;
  explicit ForgetGate(const Call<Real> &call) : lower(call.params.real("lower")) {}

  KOKKOS_FUNCTION Real keep(const Head<Real> &h, int t, int j) const {
    return lower + (1 - lower) * h.lambda(t)[j] * math::sigmoid(-h.k(t)[j]);
  }
  KOKKOS_FUNCTION Real write(const Head<Real> &h, int t, int j) const {
    return (1 - lower) * (math::sigmoid(h.k(t)[j]) + (1 - h.lambda(t)[j]) * math::sigmoid(-h.k(t)[j]));
  }
};

inline std::vector<ParamSpec> forget_gate_params() {
  return {real_param("lower", 0, 0, 1, "lower bound of the forget gate")};
}
inline std::vector<Input> forget_gate_inputs() {
  return {{"lambda", false, "decay of each channel, multiplies the forget gate sigmoid(-k)"}};
}

} // namespace recollect::variants
