// SPDX-License-Identifier: Apache-2.0
// Causal softmax attention (000 Eq 2; 003 Eq 1).
//
//   o_t = sum_{i<=t} p(t,i) v_i,   p(t,i) = exp(scale q_t . k_i) / sum_{j<=t} exp(scale q_t . k_j)
//   scale = 1/sqrt(Dk)
//
// State: none that is finite; every key and value is kept. Cost of token t: 2 t (Dk + Dv) flops and t exponentials.
// Parallel form: tiles of queries x keys with an online normaliser, never a T x T matrix.
#include "variants/kernels/attention_vjp.hpp"
#include "variants/kernels/similarity.hpp"
#include <cmath>

namespace recollect::variants {
namespace {

template <class Real> FixedKernel<Real, Kind::softmax> kernel(const Call<Real> &call) {
  return {Real(call.params.real_or("scale", 1 / std::sqrt(double(call.shape.Dk)))), Real(1)};
}
template <class Real> void recurrent(const Call<Real> &call) {
  attend_one_by_one("softmax::recurrent", call, kernel(call));
}
template <class Real> void parallel(const Call<Real> &call) { attend("softmax::parallel", call, kernel(call)); }
template <class Real> void backward(const Pullback<Real> &back) {
  attend_vjp("softmax::backward", back, kernel(back.call));
}

} // namespace

Variant softmax() {
  Variant v = attention_variant();
  v.aliases = {"attention", "sdpa", "mha"};
  v.update = "o_t = sum_{i<=t} softmax_i(scale q_t . k_i) v_i";
  v.objective = "sum_{i<=t} exp(scale q_t . k_i) |M - v_i|^2 over a constant M, at each query";
  v.source = "000 Eq 2; 003 Eq 1";
  v.params = {tuned(automatic_param("scale", "1/sqrt(Dk)", -no_limit, no_limit, "factor on q k^T"), {1, 4, 16, 64})};
  v.forms = {definition([](const auto &call) { recurrent(call); }), {"parallel", parallel<float>, parallel<double>}};
  v.forms.back().vjp = {backward<float>, backward<double>};
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
