// SPDX-License-Identifier: Apache-2.0
// Softmax attention with the delta rule (000 Eq 94-95, the normalisers' indices corrected).
//
//   u_t = v_t - sum_{i<t} softmax_{i<t}(scale k_i . k_t / tau) u_i
//   o_t = sum_{i<=t} softmax_{i<=t}(scale k_i . q_t / tau) u_i
//
// This is DeltaFormer with kappa1 = kappa2 = softmax, w = k, alpha = beta = 1. From the second step on, the old values
// are subtracted with weights that add up to 1, however dissimilar their keys are. No finite state: every k and u is
// kept. Cost of token t: 4 t (Dk + Dv) flops. Eq 94 has no 1/sqrt(Dk) and Listing 1 does; scale is 1 by default.
#include "variants/kernels/attention/delta_former_backward.hpp"
#include "variants/kernels/attention/similarity.hpp"

namespace recollect::variants {
namespace {

template <class Real> FixedKernel<Real, Kind::softmax> kernel(const Call<Real> &call) {
  return {Real(call.params.real("scale")), Real(call.params.real("tau"))};
}

/// The call with w = k, alpha = 1 and beta = 1.
template <class Real> Call<Real> plain(Call<Real> call) {
  call.w = call.k;
  call.alpha = call.beta = filled(call, call.steps(), Real(1));
  return call;
}

template <class Real> void recurrent(const Call<Real> &call) {
  step_by_step("delta_softmax::recurrent", plain(call), kernel(call), kernel(call));
}

template <class Real> void by_chunks(const Call<Real> &call, Inverse inverse) {
  const std::string label = "delta_softmax::chunked";
  const Array<Real> u = empty_u(call);
  write_by_chunks(label, plain(call), kernel(call), inverse, u);
  read_back(label, call, kernel(call), u);
}
template <class Real> void chunked(const Call<Real> &call) { by_chunks(call, Inverse::substitution); }
template <class Real> void doubling(const Call<Real> &call) { by_chunks(call, Inverse::doubling); }

template <class Real> void backward(const BackwardCall<Real> &back) {
  const std::string label = "delta_softmax::backward";
  BackwardCall<Real> writes{plain(back.call), back.d}, reads = back; // `reads` is the second sum, whose values are u
  const Array<Real> u = empty_u(back.call), e = empty_u(back.call), d_k = back.d.k;
  write_by_chunks(label + "::u", writes.call, kernel(back.call), Inverse::substitution, u);
  reads.call.v = u, reads.d.v = e;
  attend_vjp(label + "::reads", reads, kernel(back.call));
  writes.d.alpha = allocate(back.call, back.call.steps()), writes.d.beta = allocate(back.call, back.call.steps());
  writes.d.w = allocate(back.call, d_k.extent(0));
  write_vjp(label, writes, kernel(back.call), u, e);
  add(writes.d.w, d_k); // w is the key
}

} // namespace

Variant delta_softmax() {
  Variant v = attention_variant();
  v.family = "delta + kernel";
  v.update = "$u_t = v_t - sum_{i<t} softmax(k_i . k_t) u_i$, $o_t = sum_{i<=t} softmax(k_i . q_t) u_i$";
  v.source = "000 Eq 94-100, Listing 1";
  v.cost = {4 * cost::t * (cost::Dk + cost::Dv), 2 * cost::t};
  v.params = {tuned(real_param("scale", 1, -no_limit, no_limit, "factor on the inner products"), {4, 16, 64}),
              real_param("tau", 1, std::numeric_limits<double>::min(), no_limit, "temperature")};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>).backward(backward<float>, backward<double>),
             fast("doubling", doubling<float>, doubling<double>)};
  v.traits.order_invariant = false;
  return v;
}

} // namespace recollect::variants
