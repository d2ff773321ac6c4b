// SPDX-License-Identifier: Apache-2.0
// The pieces of a model besides its mixer, forward and backward, on rows [N,width] in device memory. What they return lies in
// the arena. A backward returns the gradient of its input, or adds to it where its name says so, and adds to that of
// parameters.
#pragma once
#include "harness/device/each_index.hpp"

namespace recollect::train {

/// Y = X W, X [N,m], W [m,n].
template <class Real>
Array<Real> linear_forward(Arena &arena, const Array<Real> &X, const Array<Real> &W, int m, int n);
/// dX, and dW += X^T dY.
template <class Real>
Array<Real> linear_backward(Arena &arena, const Array<Real> &X, const Array<Real> &W, int m, int n,
                            const Array<Real> &dY, const Array<Real> &dW);
/// dX += dY W^T, and dW += X^T dY.
template <class Real>
void add_linear_backward(const Array<Real> &X, const Array<Real> &W, int m, int n, const Array<Real> &dY,
                         const Array<Real> &dX, const Array<Real> &dW);
/// X += bias in every row, and dbias += the rows of dX.
template <class Real> void bias_forward(const Array<Real> &X, const Array<Real> &bias);
template <class Real> void bias_backward(Arena &arena, const Array<Real> &dX, const Array<Real> &dbias);

/// y = gain x / sqrt(mean x^2 + 1e-6).
template <class Real> Array<Real> rms_forward(Arena &arena, const Array<Real> &X, const Array<Real> &gain);
template <class Real>
void add_rms_backward(Arena &arena, const Array<Real> &X, const Array<Real> &gain, const Array<Real> &dY,
                      const Array<Real> &dX, const Array<Real> &dgain);

/// y = gain (x - mean) / sqrt(variance + 1e-5) + shift.
template <class Real>
Array<Real> layer_forward(Arena &arena, const Array<Real> &X, const Array<Real> &gain, const Array<Real> &shift);
template <class Real>
void add_layer_backward(Arena &arena, const Array<Real> &X, const Array<Real> &gain, const Array<Real> &dY,
                        const Array<Real> &dX, const Array<Real> &dgain, const Array<Real> &dshift);

/// Rows of `width` to length 1: x / sqrt(|x|^2 + 1e-12).
template <class Real> Array<Real> unit_forward(Arena &arena, const Array<Real> &X, int width);
template <class Real> Array<Real> unit_backward(Arena &arena, const Array<Real> &X, int width, const Array<Real> &dY);

/// Rows of `width` to unit mean square: x / sqrt(mean x^2 + 1e-6).
template <class Real> Array<Real> mean_square_forward(Arena &arena, const Array<Real> &X, int width);
template <class Real>
Array<Real> mean_square_backward(Arena &arena, const Array<Real> &X, int width, const Array<Real> &dY);

/// y_t = sum_j c_j * x_{t-j} by channel, c [taps,width], within texts of T rows.
template <class Real>
Array<Real> convolution_forward(Arena &arena, const Array<Real> &X, const Array<Real> &c, int width, int T);
template <class Real>
Array<Real> convolution_backward(Arena &arena, const Array<Real> &X, const Array<Real> &c, int width, int T,
                                 const Array<Real> &dY, const Array<Real> &dc);

/// X += bias in every row, and x Phi(x) of that, Phi the normal distribution's.
template <class Real> Array<Real> gelu_forward(Arena &arena, const Array<Real> &X, const Array<Real> &bias);
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

/// X + Y, and X += more.
template <class Real> Array<Real> sum(Arena &arena, const Array<Real> &X, const Array<Real> &Y);
template <class Real> void add_to(const Array<Real> &X, const Array<Real> &more);
template <class Real> Array<Real> zeros(Arena &arena, size_t count);

} // namespace recollect::train
