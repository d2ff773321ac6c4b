// SPDX-License-Identifier: Apache-2.0
// The two-layer ReLU network as an associative memory (000 Eq 14).
//
//   o_t = W_V^T relu(W_K q_t) = sum_i v_i max(0, k_i . q_t)   over all T rows i
//
// Not causal: k and v are weights, not context. There is no other state. Cost per token: 2 T (Dk + Dv) flops.
#include "variants/kernels/attention/persistent.hpp"
#include "variants/kernels/attention/similarity.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  attend_one_by_one("ffn_relu::recurrent", call, FixedKernel<Real, Kind::relu>{1, 1}, CausalMask::everything);
}
template <class Real> void parallel(const Call<Real> &call) {
  attend("ffn_relu::parallel", call, FixedKernel<Real, Kind::relu>{1, 1}, CausalMask::everything);
}

template <class Real> void backward(const BackwardCall<Real> &back) {
  attend_vjp("ffn_relu::backward", back, FixedKernel<Real, Kind::relu>{1, 1}, CausalMask::everything);
}

} // namespace

Variant ffn_relu() {
  Variant v = persistent_variant();
  v.update = "$o_t = sum_i max(0, k_i . q_t) v_i$ over all rows";
  v.source = "000 Eq 14-15";
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("parallel", parallel<float>, parallel<double>).backward(backward<float>, backward<double>)};
  return v;
}

} // namespace recollect::variants
