// SPDX-License-Identifier: Apache-2.0
// Softmax attention without its normaliser (000 Eq 3; 003 Eq 47): kernel regression with k(K,K) replaced by the
// identity.
//
//   o_t = sum_{i<=t} exp(scale q_t . k_i / tau) v_i,   scale = 1/sqrt(Dk)
//
// No finite state. Cost of token t: 2 t (Dk + Dv) flops and t exponentials.
#include "variants/kernels/attention/backward.hpp"
#include "variants/kernels/attention/similarity.hpp"
#include <cmath>

namespace recollect::variants {
namespace {

template <class Real> FixedKernel<Real, Kind::exp> kernel(const Call<Real> &call) {
  return {Real(call.params.real_or("scale", 1 / std::sqrt(double(call.shape.Dk)))), Real(call.params.real("tau"))};
}
template <class Real> void recurrent(const Call<Real> &call) {
  attend_one_by_one("exp_unnormalized::recurrent", call, kernel(call));
}
template <class Real> void parallel(const Call<Real> &call) {
  attend("exp_unnormalized::parallel", call, kernel(call));
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  attend_vjp("exp_unnormalized::backward", back, kernel(back.call));
}

} // namespace

Variant exp_unnormalized() {
  Variant v = attention_variant();
  v.update = "$A_t = I$, $b_t = v_t$, $phi(x) . phi(y) = exp(scale x . y / tau)$";
  v.objective = "$-<S phi(k), v>$";
  v.source = "000 Eq 3, Table 2; 003 Eq 44-47";
  v.params = {tuned(automatic_param("scale", "1/sqrt(Dk)", -no_limit, no_limit, "factor on $q k^T$"), {1, 4, 16, 64}),
              real_param("tau", 1, std::numeric_limits<double>::min(), no_limit, "temperature")};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("parallel", parallel<float>, parallel<double>).backward(backward<float>, backward<double>)};
  return v;
}

} // namespace recollect::variants
