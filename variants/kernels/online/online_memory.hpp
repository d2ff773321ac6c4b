// SPDX-License-Identifier: Apache-2.0
// Memories that are small networks, trained by one gradient step per token (Sun et al. 2024, arXiv:2407.04620). A
// reading (PlainRead or NormedResidualRead) turns the output y of the network's last layer into a read, and the loss
// 1/2 |read(k) - v|^2 into a gradient e with respect to y. A reading has two backward passes. The backward pass of the
// read computes d_y from d_out, and adds to d_x. The backward pass of the gradient e computes d_y and d_v from d_e, and
// adds to d_k. The array d_y may be d_out or d_e itself.
#pragma once
#include "harness/device/tile/transposed.hpp"

namespace recollect::variants {

/// read = y.
template <class Real> struct PlainRead {
  KOKKOS_FUNCTION void read(int, int Dv, const Real *, const Real *y, Real *out) const {
    for (int c = 0; c < Dv; ++c) out[c] = y[c];
  }
  KOKKOS_FUNCTION void gradient(int, int Dv, const Real *, const Real *v, const Real *y, Real *e) const {
    for (int c = 0; c < Dv; ++c) e[c] = y[c] - v[c];
  }
  KOKKOS_FUNCTION void read_vjp(int, int Dv, const Real *, const Real *d_out, Real *d_y, Real *) const {
    for (int c = 0; c < Dv; ++c) d_y[c] = d_out[c];
  }
  KOKKOS_FUNCTION void gradient_vjp(int, int Dv, const Real *, const Real *, const Real *, const Real *d_e, Real *d_y,
                                    Real *, Real *d_v) const {
    for (int c = 0; c < Dv; ++c) d_v[c] = -d_e[c], d_y[c] = d_e[c];
  }
};

/// read = P x + norm(y). The function norm subtracts the mean and divides by sqrt(variance + epsilon), without a
/// learned scale or shift. P is the Dv x Dk identity, padded with zeros or truncated where Dk and Dv differ. `out` and
/// `e` may be the same array as y.
template <class Real> struct NormedResidualRead {
  static constexpr Real epsilon = Real(1e-6);
  struct Moments {
    Real mean, inverse;
  };
  KOKKOS_FUNCTION Moments moments(int Dv, const Real *y) const {
    Real mean = 0, largest = 0, sum = 0;
    for (int c = 0; c < Dv; ++c) mean += y[c] / Dv;
    for (int c = 0; c < Dv; ++c) largest = math::fmax(largest, math::fabs(y[c] - mean));
    const Real unit = math::fmax(largest, Real(1)); // squares of large numbers would overflow
    for (int c = 0; c < Dv; ++c) sum += (y[c] - mean) / unit * ((y[c] - mean) / unit) / Dv;
    return {mean, 1 / (unit * math::sqrt(sum + epsilon / unit / unit))};
  }
  KOKKOS_FUNCTION void read(int Dk, int Dv, const Real *x, const Real *y, Real *out) const {
    const Moments m = moments(Dv, y);
    for (int c = 0; c < Dv; ++c) out[c] = (y[c] - m.mean) * m.inverse + (c < Dk ? x[c] : Real(0));
  }
  /// e = inverse (g - mean(g) - n mean(g n)) with n = norm(y) and g = P k + n - v.
  KOKKOS_FUNCTION void gradient(int Dk, int Dv, const Real *k, const Real *v, const Real *y, Real *e) const {
    const Moments m = moments(Dv, y);
    Real mean = 0, along = 0;
    for (int c = 0; c < Dv; ++c) {
      const Real n = (y[c] - m.mean) * m.inverse, g = n + (c < Dk ? k[c] : Real(0)) - v[c];
      mean += g / Dv, along += g * n / Dv;
    }
    for (int c = 0; c < Dv; ++c) {
      const Real n = (y[c] - m.mean) * m.inverse, g = n + (c < Dk ? k[c] : Real(0)) - v[c];
      e[c] = m.inverse * (g - mean - n * along);
    }
  }
  /// With n = norm(y): d_y = inverse (d_n - mean(d_n) - n mean(d_n n)) =: L d_n, with a symmetric matrix L. gradient()
  /// computes e = L g with the same L.
  KOKKOS_FUNCTION void read_vjp(int Dk, int Dv, const Real *y, const Real *d_out, Real *d_y, Real *d_x) const {
    const Moments m = moments(Dv, y);
    for (int c = 0; c < Dv && c < Dk; ++c) d_x[c] += d_out[c];
    through_norm(Dv, m, y, d_out, Real(0), d_y);
  }
  /// Backward pass of e = L g, with L of read_vjp(): d_g = L d_e. L depends on n, which adds d_n = - (mean(g n) d_e +
  /// mean(d_e n) g) inverse. L also depends on `inverse`, which adds - inverse n mean(d_e e) to d_y.
  KOKKOS_FUNCTION void gradient_vjp(int Dk, int Dv, const Real *k, const Real *v, const Real *y, const Real *d_e,
                                    Real *d_y, Real *d_k, Real *d_v) const {
    const Moments m = moments(Dv, y);
    Real mean = 0, along = 0, d_mean = 0, d_along = 0, d_inverse = 0;
    for (int c = 0; c < Dv; ++c) {
      const Real n = (y[c] - m.mean) * m.inverse, g = n + (c < Dk ? k[c] : Real(0)) - v[c];
      mean += g / Dv, along += g * n / Dv, d_mean += d_e[c] / Dv, d_along += d_e[c] * n / Dv;
    }
    for (int c = 0; c < Dv; ++c) {
      const Real n = (y[c] - m.mean) * m.inverse, g = n + (c < Dk ? k[c] : Real(0)) - v[c];
      const Real d_g = m.inverse * (d_e[c] - d_mean - n * d_along);
      d_inverse += d_e[c] * m.inverse * (g - mean - n * along) / Dv;
      if (c < Dk) d_k[c] += d_g;
      d_v[c] = -d_g;
      d_y[c] = d_g - m.inverse * (along * d_e[c] + d_along * g);
    }
    through_norm(Dv, m, y, d_y, d_inverse, d_y);
  }

private:
  KOKKOS_FUNCTION void through_norm(int Dv, const Moments &m, const Real *y, const Real *d_n, Real more,
                                    Real *d_y) const {
    Real mean = 0, along = more;
    for (int c = 0; c < Dv; ++c) mean += d_n[c] / Dv, along += d_n[c] * (y[c] - m.mean) * m.inverse / Dv;
    for (int c = 0; c < Dv; ++c) d_y[c] = m.inverse * (d_n[c] - mean - (y[c] - m.mean) * m.inverse * along);
  }
};

} // namespace recollect::variants
