// SPDX-License-Identifier: Apache-2.0
// Kernelised attention by a finite feature map phi (Katharopoulos et al. 2020, arXiv:2006.16236, causal form; 003 Eq
// 3):
//
//   S_t = S_{t-1} + v_t phi(k_t)^T,   z_t = z_{t-1} + phi(k_t),   o_t = S_t phi(q_t) / (z_t . phi(q_t))
//
// State: Dv + 1 rows of F columns, S over z. A variant supplies phi alone; both of its forms are here. phi is taken for
// all steps first, 2 T F numbers a head.
#pragma once
#include "variants/kernels/normalised.hpp"

namespace recollect::variants {

template <class Real> struct Features {
  int width;        // F
  Array<Real> q, k; // [B,H,T,F]
};

template <class Real, class Map> struct RowMap {
  Array<Real> x, y;
  int D, width;
  Map phi;
  KOKKOS_FUNCTION void operator()(size_t row) const { phi(x.data() + row * D, D, y.data() + row * width); }
};

/// phi of every row of x [rows,D]; phi(row, D, out) writes `width` features.
template <class Real, class Map>
Array<Real> map_rows(const std::string &label, const Call<Real> &call, const Array<Real> &x, int D, int width,
                     const Map &phi) {
  const size_t rows = x.extent(0) / D;
  const Array<Real> y = allocate(call, rows * width);
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Execution>(0, rows), RowMap<Real, Map>{x, y, D, width, phi});
  return y;
}

template <class Real, class Map> Features<Real> map_features(const Call<Real> &call, int width, const Map &phi) {
  const int D = call.shape.Dk;
  return {width, map_rows("phi(q)", call, call.q, D, width, phi), map_rows("phi(k)", call, call.k, D, width, phi)};
}

template <class Real>
void feature_recurrent(const std::string &label, const Call<Real> &call, const Features<Real> &phi) {
  const int F = phi.width;
  const Array<Real> phi_q = phi.q, phi_k = phi.k;
  normalised_rows(
      label, call, KOKKOS_LAMBDA(const Head<Real> &h, int t, Real v, Real *s)->Real {
        const size_t at = (h.index * h.T + t) * F;
        for (int j = 0; j < F; ++j) s[j] += v * phi_k(at + j);
        return dot(s, phi_q.data() + at, F);
      });
}

template <class Real>
void feature_chunked(const std::string &label, const Call<Real> &call, const Features<Real> &phi) {
  decayed_sum(label, call, {phi.width, phi.q, phi.k, {}, {}, Real(1), {}, true});
}

/// The descriptor that all of them share; `width` is F for a shape and parameters.
inline Variant feature_variant(std::function<int(const Shape &, const Params &)> width) {
  Variant v;
  v.family = "additive";
  v.objective = "-<S phi(k), v>";
  v.layout = "S [Dv,F], z [1,F], F features";
  v.state_shape = [width](const Shape &s, const Params &p) { return StateShape{s.Dv + 1, width(s, p)}; };
  v.traits.order_invariant = true;
  return v;
}

} // namespace recollect::variants
