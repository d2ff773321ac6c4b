// SPDX-License-Identifier: Apache-2.0
// Memories that are small networks, trained by one gradient step a token (Sun et al. 2024, arXiv:2407.04620): what
// turns the network's last layer y into a read, and the loss 1/2 |read(k) - v|^2 into a gradient with respect to y.
#pragma once
#include "harness/device/tile.hpp"

namespace recollect::variants {

/// read = y.
template <class Real> struct PlainRead {
  KOKKOS_FUNCTION void read(int, int Dv, const Real *, const Real *y, Real *out) const {
    for (int c = 0; c < Dv; ++c) out[c] = y[c];
  }
  KOKKOS_FUNCTION void gradient(int, int Dv, const Real *, const Real *v, const Real *y, Real *e) const {
    for (int c = 0; c < Dv; ++c) e[c] = y[c] - v[c];
  }
};

/// read = P x + norm(y): norm subtracts the mean and divides by sqrt(variance + epsilon), with no learned scale or
/// shift; P is the Dv x Dk identity, padded with zeros or cut off where Dk and Dv differ. `out` and `e` may be y
/// itself.
template <class Real> struct NormedResidualRead {
  static constexpr Real epsilon = Real(1e-6);
  struct Moments {
    Real mean, inverse;
  };
  KOKKOS_FUNCTION Moments moments(int Dv, const Real *y) const {
    Real mean = 0, largest = 0, sum = 0;
    for (int c = 0; c < Dv; ++c) mean += y[c] / Dv;
    for (int c = 0; c < Dv; ++c) largest = math::fmax(largest, math::fabs(y[c] - mean));
    const Real unit = math::fmax(largest, Real(1)); // squares of large numbers overflow
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
};

} // namespace recollect::variants
