// SPDX-License-Identifier: Apache-2.0
// Gated linear attention (Yang et al. 2023, arXiv:2312.06635): a data-dependent decay for each key channel. (000
// Table 2 gates the value side under this name; the layer's own paper gates the keys.)
//
//   S_t = S_{t-1} diag(lambda_t) + v_t k_t^T
//   o_t = S_t (scale q_t)
//
// Where lambda is absent, alpha_t stands in on every channel; where both are given the decay is their product. State:
// Dv x Dk. Cost a token: recurrent 5 Dv Dk; chunked 4 Dv Dk + 2 C (Dk + Dv) flops, as matrix products, and 3 * 16 Dk
// inside secondary chunks.
#include "variants/kernels/decayed_sum.hpp"
#include "variants/kernels/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const Real scale = call.params.real("scale");
  recurrent_rows(
      "gla::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        for (int j = 0; j < h.Dk; ++j) s[j] = h.alpha[t] * h.lambda(t)[j] * s[j] + h.v(t)[i] * h.k(t)[j];
        return scale * dot(s, h.q(t), h.Dk);
      });
}

template <class Real> void chunked(const Call<Real> &call) {
  const Array<Real> alpha = call.has("alpha") ? call.alpha : Array<Real>();
  decayed_sum("gla::chunked", call,
              {call.shape.Dk, call.q, call.k, alpha, call.lambda, Real(call.params.real("scale"))});
}

} // namespace

Variant gla() {
  Variant v;
  v.family = "gated";
  v.update = "A_t = diag(lambda_t), b_t = v_t, phi = identity";
  v.objective = "-<S k, v> + 1/2 |S diag(1 - lambda)^(1/2)|^2";
  v.source = "Yang et al. 2023 (arXiv:2312.06635); 003 Eq 16; 000 Table 2";
  v.cost = "5 Dv Dk flops";
  v.params = {real_param("scale", 1, -no_limit, no_limit, "factor on q k^T")};
  v.inputs = {{"alpha", false, "one decay for all channels; multiplies lambda"},
              {"lambda", false, "decay of each key channel"}};
  v.needs_one_of = {"alpha", "lambda"};
  v.forms = {{"recurrent", recurrent<float>, recurrent<double>}, {"chunked", chunked<float>, chunked<double>}};
  return v;
}

} // namespace recollect::variants
