// SPDX-License-Identifier: Apache-2.0
// The forget gate of HGRN and HGRN2 and its complement, the write: f = lower + (1 - lower) gate, gate = lambda where it
// is given, sigmoid(-k) otherwise. The complement is formed by itself, so that it keeps its digits where f is near 1.
#pragma once
#include "decayed_sum.hpp"

namespace recollect::variants {

template <class Real> struct ForgetGate {
  Real lower;
  bool from_key;
  explicit ForgetGate(const Call<Real> &call) : lower(call.params.real("lower")), from_key(!call.has("lambda")) {}

  KOKKOS_FUNCTION Real keep(const Head<Real> &h, int t, int j) const {
    return lower + (1 - lower) * (from_key ? math::sigmoid(-h.k(t)[j]) : h.lambda(t)[j]);
  }
  KOKKOS_FUNCTION Real write(const Head<Real> &h, int t, int j) const {
    return (1 - lower) * (from_key ? math::sigmoid(h.k(t)[j]) : 1 - h.lambda(t)[j]);
  }
};

inline std::vector<ParamSpec> forget_gate_params() {
  return {real_param("lower", 0, 0, 1, "lower bound of the forget gate")};
}
inline std::vector<Input> forget_gate_inputs() {
  return {{"lambda", false, "forget gate of each channel; absent: sigmoid(-k)"}};
}

} // namespace recollect::variants
