// SPDX-License-Identifier: Apache-2.0
// Attention with the similarity of a two-layer network (000 Eq 14 with keys and values taken from the context).
//
//   o_t = sum_{i<=t} max(0, scale q_t . k_i) v_i
//
// The kernel is not positive definite, so it has no feature map. No finite state. Cost of token t: 2 t (Dk +
// Dv) flops.
#include "variants/kernels/attention/backward.hpp"
#include "variants/kernels/attention/similarity.hpp"

namespace recollect::variants {
namespace {

template <class Real> FixedKernel<Real, Kind::relu> kernel(const Call<Real> &call) {
  return {Real(call.params.real("scale")), Real(1)};
}
template <class Real> void recurrent(const Call<Real> &call) {
  attend_one_by_one("relu_kernel::recurrent", call, kernel(call));
}
template <class Real> void parallel(const Call<Real> &call) { attend("relu_kernel::parallel", call, kernel(call)); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  attend_vjp("relu_kernel::backward", back, kernel(back.call));
}

} // namespace

Variant relu_kernel() {
  Variant v = attention_variant();
  v.update = "$o_t = sum_{i<=t} max(0, scale q_t . k_i) v_i$";
  v.source = "000 Eq 14-15";
  v.cost = 2 * cost::t * (cost::Dk + cost::Dv);
  v.params = {tuned(real_param("scale", 1, -no_limit, no_limit, "factor on $q k^T$"), {0.2, 0.05})};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("parallel", parallel<float>, parallel<double>).backward(backward<float>, backward<double>)};
  v.traits.repeats = Repeats::sum;
  return v;
}

} // namespace recollect::variants
