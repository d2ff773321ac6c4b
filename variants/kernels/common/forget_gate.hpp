// SPDX-License-Identifier: Apache-2.0
// The forget gate of HGRN and HGRN2, f = lower + (1 - lower) lambda sigmoid(-k), and the write strength 1 - f. 1 - f is
// computed as a sum of positive terms, so that it keeps its digits where f is near 1.
#pragma once
#include "variants/kernels/common/arrays.hpp"

namespace recollect::variants {

template <class Real> struct ForgetGates {
  Array<Real> keep, write; // [B,H,T,Dk] keep: f; write: 1 - f
};

template <class Real> ForgetGates<Real> forget_gates(const Call<Real> &call) {
  const size_t n = call.k.extent(0);
  const Real lower = call.params.real("lower");
  const Array<Real> keep = allocate(call, n), write = allocate(call, n), k = call.k, lambda = call.lambda;
  parallel_loop(
      "forget_gates", n, KOKKOS_LAMBDA(const size_t i) {
        keep(i) = lower + (1 - lower) * lambda(i) * math::sigmoid(-k(i));
        write(i) = (1 - lower) * (math::sigmoid(k(i)) + (1 - lambda(i)) * math::sigmoid(-k(i)));
      });
  return {keep, write};
}

/// Gradients of k and lambda from the gradients of f and 1 - f; the derivative of the sigmoid s is s (1 - s).
template <class Real> void forget_gates_vjp(const BackwardCall<Real> &back, const ForgetGates<Real> &d) {
  const Real above = 1 - Real(back.call.params.real("lower"));
  const Array<Real> k = back.call.k, lambda = back.call.lambda, d_k = back.d.k, d_lambda = back.d.lambda;
  parallel_loop(
      "forget_gates::backward", k.extent(0), KOKKOS_LAMBDA(const size_t i) {
        const Real keep = math::sigmoid(-k(i)), d_f = above * (d.keep(i) - d.write(i));
        d_lambda(i) = d_f * keep;
        d_k(i) = -d_f * lambda(i) * keep * math::sigmoid(k(i));
      });
}

inline std::vector<ParamSpec> forget_gate_params() {
  return {real_param("lower", 0, 0, 1, "lower bound of the forget gate")};
}
inline std::vector<Input> forget_gate_inputs() {
  return {{"lambda", false, "decay of each channel, multiplies the forget gate $sigmoid(-k)$"}};
}

} // namespace recollect::variants
