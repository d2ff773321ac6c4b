// SPDX-License-Identifier: Apache-2.0
// Skyformer: a Gaussian kernel replaces the softmax, and landmarks approximate it for long sequences (Chen et al. 2021,
// arXiv:2111.00035).
//
//   o_t = sum_{i<=t} exp(-|q_t - k_i|^2 / bandwidth) v_i,   bandwidth = 2 sqrt(Dk)
//
// No finite state. Cost of token t: recurrent t (5 Dk + 2 Dv), parallel 2 t (Dk + Dv) flops, and t exponentials. The
// form `nystrom` approximates the kernel through m = `features` landmarks, rows drawn without replacement from all
// queries and keys (gaussian.hpp): 2 m (Dk + m + 2 Dv) flops per token. Its landmarks come from the whole sequence, so
// the form is not causal. It is exact if every row is a landmark.
#include "harness/numerics/random.hpp"
#include "variants/kernels/attention/gaussian_backward.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) { gaussian_recurrent("skyformer::recurrent", call); }
template <class Real> void parallel(const Call<Real> &call) { gaussian_parallel("skyformer::parallel", call); }
template <class Real> void backward(const BackwardCall<Real> &back) { gaussian_vjp("skyformer::backward", back); }

template <class Real> void through_landmarks(const Call<Real> &call) {
  const int T = call.shape.T, Dk = call.shape.Dk, m = std::min(call.params.integer("features"), 2 * T);
  const Stream stream(call.params.integer("seed"), "skyformer/landmarks");
  std::vector<int> order = stream.permutation(2 * T); // rows of [q; k]
  const Array<int> rows = uploaded<int>("rows", m, [&](size_t i) { return order[i]; });
  const Array<Real> q = call.q, k = call.k, landmarks = allocate(call, call.shape.heads() * m * Dk);
  parallel_loop(
      "skyformer::landmarks", landmarks.extent(0), KOKKOS_LAMBDA(size_t at) {
        const size_t head = at / (size_t(m) * Dk), c = at % Dk;
        const int row = rows(at / Dk % m);
        landmarks(at) = row < T ? q((head * T + row) * Dk + c) : k((head * T + row - T) * Dk + c);
      });
  nystrom("skyformer::nystrom", call, landmarks, m);
}

} // namespace

Variant skyformer() {
  Variant v = attention_variant();
  v.cost = {cost::t * (5 * cost::Dk + 2 * cost::Dv), cost::t};
  v.update = "$A_t = I$, $b_t = v_t$, $phi(x) . phi(y) = exp(-|x - y|^2 / bandwidth)$";
  v.objective = "$-<S phi(k), v>$";
  v.source = "003 Fig 1; Chen et al. 2021 (arXiv:2111.00035)";
  v.params = {bandwidth_spec(), integer_param("features", 64, 1, 1 << 20, "number of landmarks in the form `nystrom`"),
              integer_param("seed", 1, 0, 1 << 30, "random seed that picks the landmarks"),
              real_param("ridge", 1e-4, 0, no_limit, "ridge added to the kernel matrix of the landmarks")};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("parallel", parallel<float>, parallel<double>).backward(backward<float>, backward<double>),
             fast("nystrom", through_landmarks<float>, through_landmarks<double>).approximate().not_causal()};
  v.traits.repeats = Repeats::sum;
  return v;
}

} // namespace recollect::variants
