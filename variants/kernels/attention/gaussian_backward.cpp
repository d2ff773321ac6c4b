// SPDX-License-Identifier: Apache-2.0
#include "variants/kernels/attention/gaussian_backward.hpp"
#include "variants/kernels/attention/backward.hpp"

namespace recollect::variants {

template <class Real> struct SlopedGaussian : GaussianByProduct<Real, false> {
  KOKKOS_FUNCTION Real slope(size_t, int, int, Real, Real returned) const { return 2 * returned / this->bandwidth; }
};

/// out = [x, first, second]: appends two channels to every row.
template <class Real> struct TwoChannelsMore {
  int D;
  Array<Real> x, out;
  Real first, second;
  KOKKOS_FUNCTION void operator()(size_t row) const {
    Real *const to = out.data() + row * (D + 2);
    for (int j = 0; j < D; ++j) to[j] = x(row * D + j);
    to[D] = first, to[D + 1] = second;
  }
};
/// Row by row: dx = d - d[sum] x, where d is d_wide without its two added channels, and d[sum] one of these two.
template <class Real> struct WithoutThem {
  int D, sum;
  Array<Real> x, d_wide, d_x;
  KOKKOS_FUNCTION void operator()(size_t row) const {
    const Real *from = d_wide.data() + row * (D + 2);
    for (int j = 0; j < D; ++j) d_x(row * D + j) = from[j] - from[sum] * x(row * D + j);
  }
};

template <class Real> void gaussian_vjp(const std::string &label, const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const int D = call.shape.Dk;
  const size_t n = call.steps() * (D + 2);
  const SlopedGaussian<Real> kernel{gaussian_by_product<Real, false>(call)};
  BackwardCall<Real> wide = back;
  wide.call.shape.Dk = wide.d.shape.Dk = D + 2;
  wide.call.q = allocate(call, n), wide.call.k = allocate(call, n);
  wide.d.q = allocate(call, n), wide.d.k = allocate(call, n);
  parallel_loop(label + "::wide_q", size_t(call.steps()), TwoChannelsMore<Real>{D, call.q, wide.call.q, 1, 0});
  parallel_loop(label + "::wide_k", size_t(call.steps()), TwoChannelsMore<Real>{D, call.k, wide.call.k, 0, 1});
  attend_vjp(label, wide, kernel);
  parallel_loop(label + "::q", size_t(call.steps()), WithoutThem<Real>{D, D + 1, call.q, wide.d.q, back.d.q});
  parallel_loop(label + "::k", size_t(call.steps()), WithoutThem<Real>{D, D, call.k, wide.d.k, back.d.k});
}

template void gaussian_vjp(const std::string &, const BackwardCall<float> &);
template void gaussian_vjp(const std::string &, const BackwardCall<double> &);

} // namespace recollect::variants
