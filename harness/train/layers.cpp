// SPDX-License-Identifier: Apache-2.0
#include "harness/train/layers.hpp"
#include "harness/train/parallel.hpp"
#include <cmath>

namespace recollect::train {
namespace {

int rows_of(const Numbers &X, int width) { return int(X.size() / size_t(width)); }

double normal_part(double x) { return std::erfc(-x * M_SQRT1_2) / 2; }

template <class F> Numbers each(const Numbers &X, const F &f) {
  Numbers Y(X.size());
  for (size_t i = 0; i < X.size(); ++i) Y[i] = f(X[i]);
  return Y;
}

double mean_square(const double *x, int n) {
  double sum = 0;
  for (int j = 0; j < n; ++j) sum += x[j] * x[j];
  return sum / n;
}

/// The derivative of y = x s(|x|^2), s = (|x|^2 / n + small)^(-1/2): dx = s dy - s^3 / n (x.dy) x.
void scaled_backward(const double *x, const double *dy, int n, double s, double divisor, double *dx) {
  double along = 0;
  for (int j = 0; j < n; ++j) along += x[j] * dy[j];
  for (int j = 0; j < n; ++j) dx[j] = s * dy[j] - s * s * s / divisor * along * x[j];
}

constexpr double rms_floor = 1e-6, layer_floor = 1e-5, unit_floor = 1e-12;

/// Rows less their means: its own backward.
Numbers centred(Numbers X, int width) {
  for (size_t row = 0; row < X.size(); row += size_t(width)) {
    double mean = 0;
    for (int j = 0; j < width; ++j) mean += X[row + size_t(j)] / width;
    for (int j = 0; j < width; ++j) X[row + size_t(j)] -= mean;
  }
  return X;
}

Numbers scaled_forward(const Numbers &X, const double *gain, int width, double floor) {
  Numbers Y(X.size());
  for (size_t row = 0; row < X.size(); row += size_t(width)) {
    const double s = 1 / std::sqrt(mean_square(&X[row], width) + floor);
    for (int j = 0; j < width; ++j) Y[row + size_t(j)] = gain[j] * s * X[row + size_t(j)];
  }
  return Y;
}

Numbers scaled_backward(const Numbers &X, const double *gain, int width, double floor, const Numbers &dY,
                        double *dgain) {
  Numbers dX(X.size()), inside(static_cast<size_t>(width));
  for (size_t row = 0; row < X.size(); row += size_t(width)) {
    const double s = 1 / std::sqrt(mean_square(&X[row], width) + floor);
    for (int j = 0; j < width; ++j) {
      dgain[j] += s * X[row + size_t(j)] * dY[row + size_t(j)];
      inside[size_t(j)] = gain[j] * dY[row + size_t(j)];
    }
    scaled_backward(&X[row], inside.data(), width, s, width, &dX[row]);
  }
  return dX;
}

} // namespace

Numbers linear_forward(const Numbers &X, const double *W, int m, int n) {
  const int N = rows_of(X, m);
  Numbers Y(size_t(N) * size_t(n));
  product(N, n, m, rows(X.data(), m), rows(W, n), 0, Y.data());
  return Y;
}

Numbers linear_backward(const Numbers &X, const double *W, int m, int n, const Numbers &dY, double *dW) {
  const int N = rows_of(X, m);
  Numbers dX(X.size());
  product(N, m, n, rows(dY.data(), n), transposed(W, n), 0, dX.data());
  product(m, n, N, transposed(X.data(), m), rows(dY.data(), n), 1, dW);
  return dX;
}

Numbers rms_forward(const Numbers &X, const double *gain, int width) {
  return scaled_forward(X, gain, width, rms_floor);
}
Numbers rms_backward(const Numbers &X, const double *gain, int width, const Numbers &dY, double *dgain) {
  return scaled_backward(X, gain, width, rms_floor, dY, dgain);
}

Numbers layer_forward(const Numbers &X, const double *gain, const double *shift, int width) {
  Numbers Y = scaled_forward(centred(X, width), gain, width, layer_floor);
  for (size_t i = 0; i < Y.size(); ++i) Y[i] += shift[i % size_t(width)];
  return Y;
}
Numbers layer_backward(const Numbers &X, const double *gain, int width, const Numbers &dY, double *dgain,
                       double *dshift) {
  for (size_t i = 0; i < dY.size(); ++i) dshift[i % size_t(width)] += dY[i];
  return centred(scaled_backward(centred(X, width), gain, width, layer_floor, dY, dgain), width);
}

Numbers convolution_forward(const Numbers &X, const double *c, int taps, int width, int T) {
  Numbers Y(X.size(), 0.0);
  for (int row = 0; row < rows_of(X, width); ++row)
    for (int tap = 0; tap < taps && tap <= row % T; ++tap)
      for (int j = 0; j < width; ++j)
        Y[size_t(row) * size_t(width) + size_t(j)] +=
            c[tap * width + j] * X[size_t(row - tap) * size_t(width) + size_t(j)];
  return Y;
}

Numbers convolution_backward(const Numbers &X, const double *c, int taps, int width, int T, const Numbers &dY,
                             double *dc) {
  Numbers dX(X.size(), 0.0);
  for (int row = 0; row < rows_of(X, width); ++row)
    for (int tap = 0; tap < taps && tap <= row % T; ++tap)
      for (int j = 0; j < width; ++j) {
        const size_t from = size_t(row - tap) * size_t(width) + size_t(j);
        const double d = dY[size_t(row) * size_t(width) + size_t(j)];
        dX[from] += c[tap * width + j] * d, dc[tap * width + j] += X[from] * d;
      }
  return dX;
}

Numbers gelu_forward(const Numbers &X) {
  return each(X, [](double x) { return x * normal_part(x); });
}
Numbers gelu_backward(const Numbers &X, const Numbers &dY) {
  Numbers dX(X.size());
  for (size_t i = 0; i < X.size(); ++i)
    dX[i] = dY[i] * (normal_part(X[i]) + X[i] * std::exp(-X[i] * X[i] / 2) * M_2_SQRTPI * M_SQRT1_2 / 2);
  return dX;
}
Numbers sigmoid_forward(const Numbers &X) {
  return each(X, [](double x) { return 1 / (1 + std::exp(-x)); });
}
Numbers sigmoid_backward(const Numbers &Y, const Numbers &dY) {
  Numbers dX(Y.size());
  for (size_t i = 0; i < Y.size(); ++i) dX[i] = dY[i] * Y[i] * (1 - Y[i]);
  return dX;
}

Numbers unit_forward(const Numbers &X, int width) {
  Numbers Y(X.size());
  for (size_t row = 0; row < X.size(); row += size_t(width)) {
    const double s = 1 / std::sqrt(width * mean_square(&X[row], width) + unit_floor);
    for (int j = 0; j < width; ++j) Y[row + size_t(j)] = s * X[row + size_t(j)];
  }
  return Y;
}
Numbers unit_backward(const Numbers &X, int width, const Numbers &dY) {
  Numbers dX(X.size());
  for (size_t row = 0; row < X.size(); row += size_t(width))
    scaled_backward(&X[row], &dY[row], width, 1 / std::sqrt(width * mean_square(&X[row], width) + unit_floor), 1,
                    &dX[row]);
  return dX;
}

Numbers rope(Numbers X, int width, int D, int T, double sign) {
  for (int row = 0; row < rows_of(X, width); ++row)
    for (int j = 0; j < D / 2; ++j) {
      const double angle = sign * (row % T) * std::pow(10000, -2.0 * j / D), c = std::cos(angle), s = std::sin(angle);
      for (int head = 0; head < width; head += D) {
        double &x = X[size_t(row) * size_t(width) + size_t(head + j)], &y = (&x)[D / 2];
        const double turned = c * x - s * y;
        y = s * x + c * y, x = turned;
      }
    }
  return X;
}

Numbers exchanged(const Numbers &X, int B, int T, int H, int D) {
  Numbers Y(X.size());
  for (int b = 0; b < B; ++b)
    for (int t = 0; t < T; ++t)
      for (int h = 0; h < H; ++h)
        std::copy_n(&X[((size_t(b) * size_t(T) + size_t(t)) * size_t(H) + size_t(h)) * size_t(D)], D,
                    &Y[((size_t(b) * size_t(H) + size_t(h)) * size_t(T) + size_t(t)) * size_t(D)]);
  return Y;
}

void add_to(Numbers &sum, const Numbers &more) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
}

} // namespace recollect::train
