// SPDX-License-Identifier: Apache-2.0
// Kernelised attention by a finite feature map phi (Katharopoulos et al. 2020, arXiv:2006.16236, causal form; 003 Eq
// 3):
//
//   S_t = S_{t-1} + v_t phi(k_t)^T,   z_t = z_{t-1} + phi(k_t),   o_t = S_t phi(q_t) / (z_t . phi(q_t))
//
// State: Dv + 1 rows of F columns, first S, then z. A variant supplies only phi; the recurrent and the chunked form are
// here. The features phi are computed for all steps first, which takes 2 T F numbers per head.
#pragma once
#include "harness/device/tile/tile.hpp"
#include "variants/kernels/chunked/gated_recurrence_backward.hpp"
#include "variants/kernels/chunked/normalised.hpp"
#include <type_traits>

namespace recollect::variants {

template <class Real> struct Features {
  int width;        // F
  Array<Real> q, k; // [B,H,T,F]
};

/// Arguments of a map: y [rows,width] is computed from x [rows,D] and, for some maps, from given [rows,G].
template <class Real> struct Mapped { Array<Real> x, given, y; };

/// Computes y = map(x) or y = map(x, given) for one array, or for two arrays of equal shape. A map takes a whole row or
/// a single number; a work unit of the launch computes several rows. On a GPU these rows are first copied to the team's
/// memory: global accesses are then coalesced, although each thread maps one row. In this memory the pitch of rows is
/// odd, which avoids bank conflicts. Rows that are too wide for this memory are read directly.
template <class Real, class Map> struct RowMap {
  static constexpr bool alone = std::is_invocable_v<const Map &, Real>,
                        by_number = alone || std::is_invocable_v<const Map &, Real, Real>;
  static constexpr int bundle = by_number && !on_host ? 32 : 128;
  static constexpr size_t on_chip = (size_t(160) << 10) / sizeof(Real);
  Mapped<Real> first, second;
  size_t rows, units; // per array
  int D, G, width;
  Map map;

  KOKKOS_FUNCTION static int odd(int n) { return n > 0 ? n | 1 : 0; }
  KOKKOS_FUNCTION size_t needed() const { return size_t(bundle) * (odd(D) + odd(G) + odd(width)); }
  KOKKOS_FUNCTION size_t scratch() const { return on_host || by_number || needed() > on_chip ? 0 : needed(); }

  KOKKOS_FUNCTION void operator()(const Team &team, size_t unit, Real *memory) const {
    const Mapped<Real> &of = unit < units ? first : second;
    const size_t begin = unit % units * bundle;
    const int n = rows - begin < bundle ? int(rows - begin) : bundle, D = this->D, G = this->G, width = this->width;
    const Real *from = of.x.data() + begin * D, *beside = of.given.data() + begin * G;
    Real *const to = of.y.data() + begin * width;
    const Map map = this->map;
    if constexpr (by_number) {
      each(team, n * D, [=](int i) {
        if constexpr (alone)
          to[i] = map(from[i]);
        else
          to[i] = map(from[i], beside[i]);
      });
    } else {
      if (!scratch()) {
        each(team, n,
             [=](int i) { apply(map, from + size_t(i) * D, D, beside + size_t(i) * G, to + size_t(i) * width); });
        return;
      }
      const int ld = odd(D), ldg = odd(G), ldy = odd(width);
      Real *const in = memory, *const extra = in + bundle * ld, *const out = extra + bundle * ldg;
      tile::copy<Real>(team, n, D, from, D, in, ld);
      if (G > 0) tile::copy<Real>(team, n, G, beside, G, extra, ldg);
      team.barrier();
      each(team, n, [=](int i) { apply(map, in + i * ld, D, extra + i * ldg, out + i * ldy); });
      team.barrier();
      each_cell(team, n, width, [=](int i, int j) { to[size_t(i) * width + j] = out[i * ldy + j]; });
    }
  }

private:
  KOKKOS_FUNCTION static void apply(const Map &map, const Real *row, int D, const Real *beside, Real *out) {
    if constexpr (std::is_invocable_v<const Map &, const Real *, int, Real *>)
      map(row, D, out);
    else
      map(row, D, beside, out);
  }
};

/// Maps the rows of one array, or of two arrays of equal shape in one kernel.
template <class Real, class Map>
void map_rows(const std::string &label, const Call<Real> &call, int D, int G, int width, const Map &map,
              const Mapped<Real> &first, const Mapped<Real> &second = {}) {
  const size_t rows = first.x.extent(0) / D;
  using Kernel = RowMap<Real, Map>;
  const size_t units = (rows - 1) / Kernel::bundle + 1;
  const Kernel kernel{first, second, rows, units, D, G, width, map};
  run<Real>({label, second.x.extent(0) ? 2 * units : units}, *call.arena, kernel.scratch(), kernel);
}
/// Returns phi of every row of x [rows,D]; phi(row, D, out) writes `width` features.
template <class Real, class Map>
Array<Real> map_rows(const std::string &label, const Call<Real> &call, const Array<Real> &x, int D, int width,
                     const Map &phi) {
  const Array<Real> y = allocate(call, x.extent(0) / D * width);
  map_rows(label, call, D, 0, width, phi, Mapped<Real>{x, {}, y});
  return y;
}

/// Returns phi of the rows of q and k. If there are as many features as channels, phi may also map single numbers:
/// phi(x).
template <class Real, class Map> Features<Real> map_features(const Call<Real> &call, int width, const Map &phi) {
  const int D = call.shape.Dk;
  const size_t n = call.q.extent(0) / D * width;
  const Features<Real> features{width, allocate(call, n), allocate(call, n)};
  map_rows("phi(q), phi(k)", call, D, 0, width, phi, Mapped<Real>{call.q, {}, features.q}, {call.k, {}, features.k});
  return features;
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
  gated_recurrence(label, call, {phi.width, phi.q, phi.k, {}, {}, Real(1), {}, true});
}

/// Gradients of feature_chunked() with respect to the features; writes back.d.v and back.d.state.
template <class Real>
Features<Real> feature_gradients(const std::string &label, const BackwardCall<Real> &back, const Features<Real> &phi) {
  const Features<Real> d{phi.width, allocate(back.call, phi.q.extent(0)), allocate(back.call, phi.k.extent(0))};
  gated_recurrence_vjp(label, back, {phi.width, phi.q, phi.k, {}, {}, Real(1), {}, true}, {d.q, d.k});
  return d;
}

/// Gradients of q and k from the gradients of the features. `pull` is called as pull(row, D, d phi(row), d row) for
/// rows, or as pull(x, d phi(x)) for single numbers.
template <class Real, class Pull>
void pull_features(const std::string &label, const BackwardCall<Real> &back, const Features<Real> &d,
                   const Pull &pull) {
  const int D = back.call.shape.Dk;
  map_rows(label + "::pull", back.call, D, d.width, D, pull, Mapped<Real>{back.call.q, d.q, back.d.q},
           {back.call.k, d.k, back.d.k});
}
/// Gradients of feature_chunked() with respect to q and k. `phi` are their features, and `pull` is the backward pass of
/// the map.
template <class Real, class Pull>
void feature_backward(const std::string &label, const BackwardCall<Real> &back, const Features<Real> &phi,
                      const Pull &pull) {
  pull_features(label, back, feature_gradients(label, back, phi), pull);
}

/// The descriptor that these layers share; `width` returns F for a shape and parameters.
inline Variant feature_variant(std::function<int(const Shape &, const Params &)> width) {
  Variant v;
  v.family = "additive";
  v.objective = "$-<S phi(k), v>$";
  v.layout = "S [Dv,F], z [1,F], F features";
  v.state_shape = [width](const Shape &s, const Params &p) { return StateShape{s.Dv + 1, width(s, p)}; };
  v.traits.order_invariant = true;
  return v;
}

} // namespace recollect::variants
