// SPDX-License-Identifier: Apache-2.0
#include "harness/train/network/layers.hpp"
#include "harness/device/math.hpp"
#include "harness/device/product.hpp"
#include <cmath>

namespace recollect::train {
namespace {

using tile::rows;
using tile::transposed;

constexpr double rms_floor = 1e-6, layer_floor = 1e-5, unit_floor = 1e-12;

template <class Real> int rows_of(const Array<Real> &X, int width) { return int(X.extent(0) / size_t(width)); }

struct Plus {
  template <class Real> KOKKOS_FUNCTION Real operator()(Real a, Real b) const { return a + b; }
};

/// Computes two numbers for a row x of `width` numbers: its mean, which counts as 0 unless `centred`, and the scale
/// s = 1 / sqrt(|x - mean|^2 / divisor + floor).
template <class Real> struct Scaling {
  int width;
  Real divisor, floor;
  bool centred = false;
  KOKKOS_FUNCTION Real mean(const Real *x, int first, int side) const {
    if (!centred) return 0;
    Real sum = 0;
    for (int j = first; j < width; j += side) sum += x[j];
    return across_row(sum, Plus()) / Real(width);
  }
  KOKKOS_FUNCTION Real scale(const Real *x, Real mean, int first, int side) const {
    Real square = 0;
    for (int j = first; j < width; j += side) square += (x[j] - mean) * (x[j] - mean);
    return 1 / math::sqrt(across_row(square, Plus()) / divisor + floor);
  }
};
template <class Real> Scaling<Real> to_mean_square(int width) { return {width, Real(width), Real(rms_floor)}; }
template <class Real> Scaling<Real> to_length(int width) { return {width, Real(1), Real(unit_floor)}; }
template <class Real> Scaling<Real> to_variance(int width) { return {width, Real(width), Real(layer_floor), true}; }

/// y = gain s (x - mean) + shift for every row x of X, where Scaling gives s and the mean. An empty gain means 1; an
/// empty shift means 0.
template <class Real>
Array<Real> scaled_forward(Arena &arena, const Array<Real> &X, const Scaling<Real> &by, const Array<Real> &gain = {},
                           const Array<Real> &shift = {}) {
  const Array<Real> Y = arena.take<Real>(X.extent(0));
  const bool gains = gain.extent(0) > 0, shifts = shift.extent(0) > 0;
  each_row(
      "train::scaled", rows_of(X, by.width), by.width, KOKKOS_LAMBDA(int row, int first, int side) {
        const size_t at = size_t(row) * size_t(by.width);
        const Real *x = X.data() + at, mean = by.mean(x, first, side), scale = by.scale(x, mean, first, side);
        for (int j = first; j < by.width; j += side)
          Y[at + size_t(j)] =
              (gains ? gain[size_t(j)] : Real(1)) * scale * (x[j] - mean) + (shifts ? shift[size_t(j)] : Real(0));
      });
  return Y;
}

/// Adds the gradients of scaled_forward(). With u = x - mean and g = gain dy, the row of dX that belongs to x increases
/// by s g - s^3 / divisor (u.g) u. If x is centred, the mean of s g is subtracted.
template <class Real>
void add_scaled_backward(Arena &arena, const Array<Real> &X, const Scaling<Real> &by, const Array<Real> &dY,
                         const Array<Real> &dX, const Array<Real> &gain = {}, const Array<Real> &dgain = {},
                         const Array<Real> &dshift = {}) {
  const int width = by.width, N = rows_of(X, width);
  const bool gains = gain.extent(0) > 0;
  const size_t mark = arena.mark();
  const Array<Real> scales = arena.take<Real>(size_t(N)), means = arena.take<Real>(size_t(N));
  each_row(
      "train::scaled_backward", N, width, KOKKOS_LAMBDA(int row, int first, int side) {
        const size_t at = size_t(row) * size_t(width);
        const Real *x = X.data() + at, *dy = dY.data() + at;
        const Real mean = by.mean(x, first, side), scale = by.scale(x, mean, first, side);
        Real along = 0, sum = 0;
        for (int j = first; j < width; j += side) {
          const Real g = (gains ? gain[size_t(j)] : Real(1)) * dy[j];
          along += (x[j] - mean) * g, sum += g;
        }
        const Real back = scale * scale * scale / by.divisor * across_row(along, Plus()),
                   centre = by.centred ? scale * across_row(sum, Plus()) / Real(width) : Real(0);
        for (int j = first; j < width; j += side)
          dX[at + size_t(j)] += scale * (gains ? gain[size_t(j)] : Real(1)) * dy[j] - back * (x[j] - mean) - centre;
        if (first == 0) scales[size_t(row)] = scale, means[size_t(row)] = mean;
      });
  if (gains) // the gradient of gain and, if the layer has a shift, the gradient of shift
    add_column_sums<Real>(
        arena, "train::gains", N, dshift.extent(0) ? 2 * width : width,
        TwoRows<Real>{dgain.data(), dshift.data(), width}, KOKKOS_LAMBDA(int row, int j) {
          const size_t i = size_t(row) * size_t(width) + size_t(j < width ? j : j - width);
          return j < width ? scales[size_t(row)] * (X[i] - means[size_t(row)]) * dY[i] : dY[i];
        });
  arena.release(mark);
}
template <class Real>
Array<Real> scaled_backward(Arena &arena, const Array<Real> &X, const Scaling<Real> &by, const Array<Real> &dY) {
  const Array<Real> dX = zeros<Real>(arena, X.extent(0));
  add_scaled_backward(arena, X, by, dY, dX);
  return dX;
}

/// dX = keep dX + dY W^T; dW += X^T dY.
template <class Real>
void through_weights(const Array<Real> &X, const Array<Real> &W, int m, int n, const Array<Real> &dY, Real keep,
                     const Array<Real> &dX, const Array<Real> &dW) {
  const int N = rows_of(X, m);
  product<Real>(N, m, n, rows<Real>(dY.data(), n), transposed<Real>(W.data(), n), keep, dX.data());
  product<Real>(m, n, N, transposed<Real>(X.data(), m), rows<Real>(dY.data(), n), 1, dW.data());
}

template <class Real> KOKKOS_FUNCTION Real normal_part(Real x) {
  return Real(0.5) * (1 + math::erf(x * Real(M_SQRT1_2)));
}

} // namespace

template <class Real>
Array<Real> linear_forward(Arena &arena, const Array<Real> &X, const Array<Real> &W, int m, int n) {
  const int N = rows_of(X, m);
  const Array<Real> Y = arena.take<Real>(size_t(N) * size_t(n));
  product<Real>(N, n, m, rows<Real>(X.data(), m), rows<Real>(W.data(), n), 0, Y.data());
  return Y;
}
template <class Real>
Array<Real> linear_backward(Arena &arena, const Array<Real> &X, const Array<Real> &W, int m, int n,
                            const Array<Real> &dY, const Array<Real> &dW) {
  const Array<Real> dX = arena.take<Real>(X.extent(0));
  through_weights(X, W, m, n, dY, Real(0), dX, dW);
  return dX;
}
template <class Real>
void add_linear_backward(const Array<Real> &X, const Array<Real> &W, int m, int n, const Array<Real> &dY,
                         const Array<Real> &dX, const Array<Real> &dW) {
  through_weights(X, W, m, n, dY, Real(1), dX, dW);
}
template <class Real> void bias_forward(const Array<Real> &X, const Array<Real> &bias) {
  each_index(
      "train::bias", X.extent(0), KOKKOS_LAMBDA(size_t i) { X[i] += bias[i % bias.extent(0)]; });
}
template <class Real> void bias_backward(Arena &arena, const Array<Real> &dX, const Array<Real> &dbias) {
  const int width = int(dbias.extent(0));
  add_column_sums<Real>(
      arena, "train::bias_backward", rows_of(dX, width), width, dbias.data(),
      KOKKOS_LAMBDA(int row, int j) { return dX[size_t(row) * size_t(width) + size_t(j)]; });
}

template <class Real> Array<Real> rms_forward(Arena &arena, const Array<Real> &X, const Array<Real> &gain) {
  return scaled_forward(arena, X, to_mean_square<Real>(int(gain.extent(0))), gain);
}
template <class Real>
void add_rms_backward(Arena &arena, const Array<Real> &X, const Array<Real> &gain, const Array<Real> &dY,
                      const Array<Real> &dX, const Array<Real> &dgain) {
  add_scaled_backward(arena, X, to_mean_square<Real>(int(gain.extent(0))), dY, dX, gain, dgain);
}

template <class Real>
Array<Real> layer_forward(Arena &arena, const Array<Real> &X, const Array<Real> &gain, const Array<Real> &shift) {
  return scaled_forward(arena, X, to_variance<Real>(int(gain.extent(0))), gain, shift);
}
template <class Real>
void add_layer_backward(Arena &arena, const Array<Real> &X, const Array<Real> &gain, const Array<Real> &dY,
                        const Array<Real> &dX, const Array<Real> &dgain, const Array<Real> &dshift) {
  add_scaled_backward(arena, X, to_variance<Real>(int(gain.extent(0))), dY, dX, gain, dgain, dshift);
}

template <class Real> Array<Real> unit_forward(Arena &arena, const Array<Real> &X, int width) {
  return scaled_forward(arena, X, to_length<Real>(width));
}
template <class Real> Array<Real> unit_backward(Arena &arena, const Array<Real> &X, int width, const Array<Real> &dY) {
  return scaled_backward(arena, X, to_length<Real>(width), dY);
}

template <class Real> Array<Real> mean_square_forward(Arena &arena, const Array<Real> &X, int width) {
  return scaled_forward(arena, X, to_mean_square<Real>(width));
}
template <class Real>
Array<Real> mean_square_backward(Arena &arena, const Array<Real> &X, int width, const Array<Real> &dY) {
  return scaled_backward(arena, X, to_mean_square<Real>(width), dY);
}

template <class Real>
Array<Real> convolution_forward(Arena &arena, const Array<Real> &X, const Array<Real> &c, int width, int T) {
  const Array<Real> Y = arena.take<Real>(X.extent(0));
  const int taps = rows_of(c, width);
  each_index(
      "train::convolution", X.extent(0),
      KOKKOS_LAMBDA(size_t i) {
        const int row = int(i / size_t(width)), j = int(i % size_t(width)), t = row % T;
        Real sum = 0;
        for (int tap = 0; tap < taps && tap <= t; ++tap)
          sum += c[size_t(tap) * size_t(width) + size_t(j)] * X[i - size_t(tap) * size_t(width)];
        Y[i] = sum;
      },
      size_t(taps));
  return Y;
}
template <class Real>
Array<Real> convolution_backward(Arena &arena, const Array<Real> &X, const Array<Real> &c, int width, int T,
                                 const Array<Real> &dY, const Array<Real> &dc) {
  const Array<Real> dX = arena.take<Real>(X.extent(0));
  const int taps = rows_of(c, width);
  each_index(
      "train::convolution_backward", X.extent(0),
      KOKKOS_LAMBDA(size_t i) {
        const int row = int(i / size_t(width)), j = int(i % size_t(width)), t = row % T;
        Real sum = 0;
        for (int tap = 0; tap < taps && t + tap < T; ++tap)
          sum += c[size_t(tap) * size_t(width) + size_t(j)] * dY[i + size_t(tap) * size_t(width)];
        dX[i] = sum;
      },
      size_t(taps));
  add_column_sums<Real>(
      arena, "train::taps", rows_of(X, width), taps * width, dc.data(), KOKKOS_LAMBDA(int row, int i) {
        const int tap = i / width, j = i % width;
        return tap <= row % T
                   ? X[size_t(row - tap) * size_t(width) + size_t(j)] * dY[size_t(row) * size_t(width) + size_t(j)]
                   : Real(0);
      });
  return dX;
}

template <class Real> Array<Real> gelu_forward(Arena &arena, const Array<Real> &X, const Array<Real> &bias) {
  const Array<Real> Y = arena.take<Real>(X.extent(0));
  each_index(
      "train::gelu", X.extent(0),
      KOKKOS_LAMBDA(size_t i) {
        const Real x = X[i] += bias[i % bias.extent(0)];
        Y[i] = x * normal_part(x);
      },
      16);
  return Y;
}
template <class Real>
Array<Real> gelu_backward(Arena &arena, const Array<Real> &X, const Array<Real> &Y, const Array<Real> &dY) {
  const Array<Real> dX = arena.take<Real>(X.extent(0));
  each_index(
      "train::gelu_backward", X.extent(0),
      KOKKOS_LAMBDA(size_t i) {
        const Real x = X[i], density = math::exp(-x * x / 2) * Real(M_2_SQRTPI * M_SQRT1_2 / 2);
        const Real part = x == 0 ? Real(0.5) : Y[i] / x; // Phi(x), from Y = x Phi(x), which saves a call of erf()
        dX[i] = dY[i] * (part + x * density);
      },
      16);
  return dX;
}
template <class Real> Array<Real> sigmoid_forward(Arena &arena, const Array<Real> &X, Real most) {
  const Array<Real> Y = arena.take<Real>(X.extent(0));
  each_index(
      "train::sigmoid", X.extent(0), KOKKOS_LAMBDA(size_t i) { Y[i] = most * math::sigmoid(X[i]); });
  return Y;
}
template <class Real>
Array<Real> sigmoid_backward(Arena &arena, const Array<Real> &Y, const Array<Real> &dY, Real most) {
  const Array<Real> dX = arena.take<Real>(Y.extent(0));
  each_index(
      "train::sigmoid_backward", Y.extent(0), KOKKOS_LAMBDA(size_t i) { dX[i] = dY[i] * Y[i] * (1 - Y[i] / most); });
  return dX;
}

template <class Real> Array<Real> rope(Arena &arena, const Array<Real> &X, int width, int D, int T, int sign) {
  const int half = D / 2;
  const size_t angles = size_t(T) * size_t(half);
  const Array<Real> turns = arena.take<Real>(2 * angles), Y = arena.take<Real>(X.extent(0));
  each_index(
      "train::turns", angles,
      KOKKOS_LAMBDA(size_t i) { // in float64: a large float32 angle, reduced by 2 pi, has no correct digits
        const int t = int(i / size_t(half)), j = int(i % size_t(half));
        const double angle = t * math::pow(10000.0, -2.0 * j / D);
        turns[2 * i] = Real(math::cos(angle)), turns[2 * i + 1] = Real(sign * math::sin(angle));
      },
      64);
  each_index(
      "train::rope", X.extent(0), KOKKOS_LAMBDA(size_t i) {
        const int row = int(i / size_t(width)), j = int(i % size_t(width)) % D, pair = j % half;
        if (j >= 2 * half) { // the last channel of an odd width is not rotated
          Y[i] = X[i];
          return;
        }
        const size_t at = 2 * size_t(row % T * half + pair);
        const Real c = turns[at], s = turns[at + 1];
        Y[i] = j < half ? c * X[i] - s * X[i + size_t(half)] : s * X[i - size_t(half)] + c * X[i];
      });
  return Y;
}

template <class Real> Array<Real> exchanged(Arena &arena, const Array<Real> &X, int T, int H, int D) {
  const Array<Real> Y = arena.take<Real>(X.extent(0));
  each_row(
      "train::exchanged", int(X.extent(0) / size_t(D)), D, KOKKOS_LAMBDA(int row, int first, int side) {
        const int t = row % T, h = row / T % H, b = row / (T * H);
        const Real *from = X.data() + ((size_t(b) * T + t) * H + h) * size_t(D);
        for (int j = first; j < D; j += side) Y[size_t(row) * size_t(D) + size_t(j)] = from[j];
      });
  return Y;
}

template <class Real> Array<Real> repeated(Arena &arena, const Array<Real> &X, int n, int times) {
  if (times == 1) return X;
  const Array<Real> Y = arena.take<Real>(X.extent(0) * size_t(times));
  const size_t one = size_t(n), all = one * size_t(times);
  each_index(
      "train::repeated", Y.extent(0), KOKKOS_LAMBDA(size_t i) { Y[i] = X[i / all * one + i % one]; });
  return Y;
}
template <class Real> Array<Real> repeated_backward(Arena &arena, const Array<Real> &dY, int n, int times) {
  if (times == 1) return dY;
  const Array<Real> dX = arena.take<Real>(dY.extent(0) / size_t(times));
  const size_t one = size_t(n), all = one * size_t(times);
  each_index(
      "train::repeated_backward", dX.extent(0),
      KOKKOS_LAMBDA(size_t i) {
        Real sum = 0;
        for (size_t at = i / one * all + i % one, end = at + all; at < end; at += one) sum += dY[at];
        dX[i] = sum;
      },
      size_t(times));
  return dX;
}

template <class Real> Array<Real> sum(Arena &arena, const Array<Real> &X, const Array<Real> &Y) {
  const Array<Real> both = arena.take<Real>(X.extent(0));
  each_index(
      "train::sum", both.extent(0), KOKKOS_LAMBDA(size_t i) { both[i] = X[i] + Y[i]; });
  return both;
}
template <class Real> void add_to(const Array<Real> &X, const Array<Real> &more) {
  each_index(
      "train::add", X.extent(0), KOKKOS_LAMBDA(size_t i) { X[i] += more[i]; });
}
template <class Real> Array<Real> zeros(Arena &arena, size_t count) {
  const Array<Real> all = arena.take<Real>(count);
  fill(all, Real(0));
  return all;
}

#define RECOLLECT_LAYERS(Real)                                                                                         \
  template Array<Real> linear_forward(Arena &, const Array<Real> &, const Array<Real> &, int, int);                    \
  template Array<Real> linear_backward(Arena &, const Array<Real> &, const Array<Real> &, int, int,                    \
                                       const Array<Real> &, const Array<Real> &);                                      \
  template void add_linear_backward(const Array<Real> &, const Array<Real> &, int, int, const Array<Real> &,           \
                                    const Array<Real> &, const Array<Real> &);                                         \
  template void bias_forward(const Array<Real> &, const Array<Real> &);                                                \
  template void bias_backward(Arena &, const Array<Real> &, const Array<Real> &);                                      \
  template Array<Real> rms_forward(Arena &, const Array<Real> &, const Array<Real> &);                                 \
  template void add_rms_backward(Arena &, const Array<Real> &, const Array<Real> &, const Array<Real> &,               \
                                 const Array<Real> &, const Array<Real> &);                                            \
  template Array<Real> layer_forward(Arena &, const Array<Real> &, const Array<Real> &, const Array<Real> &);          \
  template void add_layer_backward(Arena &, const Array<Real> &, const Array<Real> &, const Array<Real> &,             \
                                   const Array<Real> &, const Array<Real> &, const Array<Real> &);                     \
  template Array<Real> unit_forward(Arena &, const Array<Real> &, int);                                                \
  template Array<Real> unit_backward(Arena &, const Array<Real> &, int, const Array<Real> &);                          \
  template Array<Real> mean_square_forward(Arena &, const Array<Real> &, int);                                         \
  template Array<Real> mean_square_backward(Arena &, const Array<Real> &, int, const Array<Real> &);                   \
  template Array<Real> convolution_forward(Arena &, const Array<Real> &, const Array<Real> &, int, int);               \
  template Array<Real> convolution_backward(Arena &, const Array<Real> &, const Array<Real> &, int, int,               \
                                            const Array<Real> &, const Array<Real> &);                                 \
  template Array<Real> gelu_forward(Arena &, const Array<Real> &, const Array<Real> &);                                \
  template Array<Real> gelu_backward(Arena &, const Array<Real> &, const Array<Real> &, const Array<Real> &);          \
  template Array<Real> sigmoid_forward(Arena &, const Array<Real> &, Real);                                            \
  template Array<Real> sigmoid_backward(Arena &, const Array<Real> &, const Array<Real> &, Real);                      \
  template Array<Real> rope(Arena &, const Array<Real> &, int, int, int, int);                                         \
  template Array<Real> repeated(Arena &, const Array<Real> &, int, int);                                               \
  template Array<Real> repeated_backward(Arena &, const Array<Real> &, int, int);                                      \
  template Array<Real> exchanged(Arena &, const Array<Real> &, int, int, int);                                         \
  template Array<Real> sum(Arena &, const Array<Real> &, const Array<Real> &);                                         \
  template void add_to(const Array<Real> &, const Array<Real> &);                                                      \
  template Array<Real> zeros(Arena &, size_t)
RECOLLECT_LAYERS(float);
RECOLLECT_LAYERS(double);
#undef RECOLLECT_LAYERS

} // namespace recollect::train
