// SPDX-License-Identifier: Apache-2.0
// The pieces of models besides their mixers, forward and backward, on rows [N,width] in device memory, as many of each
// model. What they return lies in the arena. A backward returns the gradient of its input and adds to that of
// parameters.
#pragma once
#include "harness/device/each_index.hpp"
#include "harness/device/product.hpp"

namespace recollect::train {

/// One parameter of models side by side: model i has `size` numbers from data + i * apart on. An array is one model's.
template <class Real> struct Parameter {
  Real *data = nullptr;
  size_t size = 0;
  std::ptrdiff_t apart = 0;
  int models = 1;
  using Self = Parameter;

  Parameter() = default;
  Parameter(Real *data_, size_t size_, std::ptrdiff_t apart_, int models_)
      : data(data_), size(size_), apart(apart_), models(models_) {}
  Parameter(const Array<Real> &one) : data(one.data()), size(one.extent(0)) {}
  KOKKOS_FUNCTION Real *of(int model) const { return data + model * apart; }
  Matrices<Real> matrices(int columns) const { return {data, models, int(size) / columns, columns, apart}; }
};
/// One whose type the rows beside it decide, so that an array may stand for it.
template <class Real> using Given = typename Parameter<Real>::Self;

/// Y = X W, X [N,m], W [m,n].
template <class Real>
Array<Real> linear_forward(Arena &arena, const Array<Real> &X, const Given<Real> &W, int m, int n);
/// dX, and dW += X^T dY.
template <class Real>
Array<Real> linear_backward(Arena &arena, const Array<Real> &X, const Given<Real> &W, int m, int n,
                            const Array<Real> &dY, const Given<Real> &dW);
/// X += bias in every row, and dbias += the rows of dX.
template <class Real> void bias_forward(const Array<Real> &X, const Given<Real> &bias);
template <class Real> void bias_backward(Arena &arena, const Array<Real> &dX, const Given<Real> &dbias);

/// y = gain x / sqrt(mean x^2 + 1e-6).
template <class Real> Array<Real> rms_forward(Arena &arena, const Array<Real> &X, const Given<Real> &gain);
template <class Real>
Array<Real> rms_backward(Arena &arena, const Array<Real> &X, const Given<Real> &gain, const Array<Real> &dY,
                         const Given<Real> &dgain);

/// y = gain (x - mean) / sqrt(variance + 1e-5) + shift.
template <class Real>
Array<Real> layer_forward(Arena &arena, const Array<Real> &X, const Given<Real> &gain, const Given<Real> &shift);
template <class Real>
Array<Real> layer_backward(Arena &arena, const Array<Real> &X, const Given<Real> &gain, const Array<Real> &dY,
                           const Given<Real> &dgain, const Given<Real> &dshift);

/// Rows of `width` to length 1: x / sqrt(|x|^2 + 1e-12).
template <class Real> Array<Real> unit_forward(Arena &arena, const Array<Real> &X, int width);
template <class Real> Array<Real> unit_backward(Arena &arena, const Array<Real> &X, int width, const Array<Real> &dY);

/// Rows of `width` to unit mean square: x / sqrt(mean x^2 + 1e-6).
template <class Real> Array<Real> mean_square_forward(Arena &arena, const Array<Real> &X, int width);
template <class Real>
Array<Real> mean_square_backward(Arena &arena, const Array<Real> &X, int width, const Array<Real> &dY);

/// y_t = sum_j c_j * x_{t-j} by channel, c [taps,width], within texts of T rows.
template <class Real>
Array<Real> convolution_forward(Arena &arena, const Array<Real> &X, const Given<Real> &c, int width, int T);
template <class Real>
Array<Real> convolution_backward(Arena &arena, const Array<Real> &X, const Given<Real> &c, int width, int T,
                                 const Array<Real> &dY, const Given<Real> &dc);

/// x Phi(x), Phi the normal distribution's.
template <class Real> Array<Real> gelu_forward(Arena &arena, const Array<Real> &X);
template <class Real>
Array<Real> gelu_backward(Arena &arena, const Array<Real> &X, const Array<Real> &Y, const Array<Real> &dY);
template <class Real> Array<Real> sigmoid_forward(Arena &arena, const Array<Real> &X);
/// From the outputs.
template <class Real> Array<Real> sigmoid_backward(Arena &arena, const Array<Real> &Y, const Array<Real> &dY);

/// Turns the pairs of channels (j, j + D/2) of every head of width D by t 10000^(-2j/D); `sign` -1 turns them back, which
/// is the backward.
template <class Real> Array<Real> rope(Arena &arena, const Array<Real> &X, int width, int D, int T, int sign);

/// [...,T,H,D] to [...,H,T,D], and back with H and T exchanged.
template <class Real> Array<Real> exchanged(Arena &arena, const Array<Real> &X, int T, int H, int D);

/// [...,n] to [...,times,n], every n numbers `times` times over, and back to the sums of theirs. Once is itself.
template <class Real> Array<Real> repeated(Arena &arena, const Array<Real> &X, int n, int times);
template <class Real> Array<Real> repeated_backward(Arena &arena, const Array<Real> &dY, int n, int times);

template <class Real> void add_to(const Array<Real> &sum, const Array<Real> &more);
template <class Real> Array<Real> zeros(Arena &arena, size_t count);

} // namespace recollect::train
