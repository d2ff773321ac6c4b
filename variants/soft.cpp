// SPDX-License-Identifier: Apache-2.0
// SOFT: softmax-free attention with a Gaussian kernel, approximated from pooled keys (Lu et al. 2021,
// arXiv:2110.11945).
//
//   o_t = sum_{i<=t} exp(-|q_t - k_i|^2 / bandwidth) v_i,   bandwidth = 2 sqrt(Dk)
//
// In SOFT, queries and keys are the same vectors; the caller must pass q = k. No finite state. Cost of token t:
// recurrent t (5 Dk + 2 Dv), parallel 2 t (Dk + Dv) flops, and t exponentials. The form `nystrom` approximates the
// kernel through m = `features` landmarks, means of consecutive keys (gaussian.hpp): 2 m (Dk + m + 2 Dv) flops per
// token. The landmarks come from the whole sequence, so the form is not causal. The exact form is the same layer as
// skyformer.
#include "variants/kernels/attention/gaussian_backward.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) { gaussian_recurrent("soft::recurrent", call); }
template <class Real> void parallel(const Call<Real> &call) { gaussian_parallel("soft::parallel", call); }
template <class Real> void backward(const BackwardCall<Real> &back) { gaussian_vjp("soft::backward", back); }

template <class Real> void through_landmarks(const Call<Real> &call) {
  const int T = call.shape.T, Dk = call.shape.Dk, m = std::min(call.params.integer("features"), T);
  const Array<Real> k = call.k, landmarks("landmarks", call.shape.heads() * m * Dk);
  parallel_loop(
      "soft::landmarks", landmarks.extent(0), KOKKOS_LAMBDA(size_t at) {
        const size_t head = at / (size_t(m) * Dk), c = at % Dk, pool = at / Dk % m, begin = pool * T / m,
                     end = (pool + 1) * T / m;
        Real sum = 0;
        for (size_t row = begin; row < end; ++row) sum += k((head * T + row) * Dk + c);
        landmarks(at) = sum / Real(end - begin);
      });
  nystrom("soft::nystrom", call, landmarks, m);
}

} // namespace

Variant soft() {
  Variant v = attention_variant();
  v.cost = {cost::t * (5 * cost::Dk + 2 * cost::Dv), cost::t};
  v.update = "$A_t = I$, $b_t = v_t$, $phi(x) . phi(y) = exp(-|x - y|^2 / bandwidth)$";
  v.objective = "$-<S phi(k), v>$";
  v.source = "003 Fig 1; Lu et al. 2021 (arXiv:2110.11945)";
  v.params = {bandwidth_spec(),
              integer_param("features", 64, 1, 1 << 20, "number of pooled keys in the form `nystrom`"),
              real_param("ridge", 1e-4, 0, no_limit, "ridge added to the kernel matrix of the landmarks")};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("parallel", parallel<float>, parallel<double>).backward(backward<float>, backward<double>),
             fast("nystrom", through_landmarks<float>, through_landmarks<double>).approximate().not_causal()};
  v.traits.repeats = Repeats::sum;
  return v;
}

} // namespace recollect::variants
