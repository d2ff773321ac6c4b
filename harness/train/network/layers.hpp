// SPDX-License-Identifier: Apache-2.0 The forward and backward passes of all layers of a model except the mixer. They
// work on N rows [N,width] in device memory and allocate their results in the arena. NAME_backward() returns the
// gradient with respect to the layer's input, and add_NAME_backward() adds this gradient to dX. Both add the gradients
// of parameters to dW, dgain, ...
#pragma once
#include "harness/device/each_index.hpp"

namespace recollect::train {

/// Y = X W, X [N,m], W [m,n].
template <class Real>
Array<Real> linear_forward(Arena &arena, const Array<Real> &X, const Array<Real> &W, int m, int n);
/// Returns dX = dY W^T; dW += X^T dY.
template <class Real>
Array<Real> linear_backward(Arena &arena, const Array<Real> &X, const Array<Real> &W, int m, int n,
                            const Array<Real> &dY, const Array<Real> &dW);
/// dX += dY W^T; dW += X^T dY.
template <class Real>
void add_linear_backward(const Array<Real> &X, const Array<Real> &W, int m, int n, const Array<Real> &dY,
                         const Array<Real> &dX, const Array<Real> &dW);
/// Adds the bias to every row of X. Backward: dbias += the sum of the rows of dX.
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

/// Normalises rows of `width` numbers to length 1: x / sqrt(|x|^2 + 1e-12).
template <class Real> Array<Real> unit_forward(Arena &arena, const Array<Real> &X, int width);
template <class Real> Array<Real> unit_backward(Arena &arena, const Array<Real> &X, int width, const Array<Real> &dY);

/// Normalises rows of `width` numbers to unit mean square: x / sqrt(mean x^2 + 1e-6).
template <class Real> Array<Real> mean_square_forward(Arena &arena, const Array<Real> &X, int width);
template <class Real>
Array<Real> mean_square_backward(Arena &arena, const Array<Real> &X, int width, const Array<Real> &dY);

/// Causal convolution of every channel: y_t = sum_j c_j * x_{t-j}, with elementwise products and c [taps,width]. A text
/// is T consecutive rows; before the first row of a text, x is 0.
template <class Real>
Array<Real> convolution_forward(Arena &arena, const Array<Real> &X, const Array<Real> &c, int width, int T);
template <class Real>
Array<Real> convolution_backward(Arena &arena, const Array<Real> &X, const Array<Real> &c, int width, int T,
                                 const Array<Real> &dY, const Array<Real> &dc);

/// Adds the bias to every row of X, then returns Y = GELU(X) = X Phi(X), where Phi is the normal distribution function.
template <class Real> Array<Real> gelu_forward(Arena &arena, const Array<Real> &X, const Array<Real> &bias);
template <class Real>
Array<Real> gelu_backward(Arena &arena, const Array<Real> &X, const Array<Real> &Y, const Array<Real> &dY);
/// Y = most sigmoid(X). The backward function needs only Y.
template <class Real> Array<Real> sigmoid_forward(Arena &arena, const Array<Real> &X, Real most = 1);
template <class Real>
Array<Real> sigmoid_backward(Arena &arena, const Array<Real> &Y, const Array<Real> &dY, Real most = 1);

/// Rotary embedding: at step t of T, rotates channels (j, j + D/2) of every head of width D by the angle
/// t 10000^(-2j/D). For the backward pass, `sign` is -1, which rotates back.
template <class Real> Array<Real> rope(Arena &arena, const Array<Real> &X, int width, int D, int T, int sign);

/// Copies [...,T,H,D] to [...,H,T,D]. For the inverse, exchange the arguments T and H.
template <class Real> Array<Real> exchanged(Arena &arena, const Array<Real> &X, int T, int H, int D);

/// Copies X [...,n] to an array [...,times,n], which holds every n numbers `times` times. The backward function sums
/// over the copies. With times = 1 both functions return their argument.
template <class Real> Array<Real> repeated(Arena &arena, const Array<Real> &X, int n, int times);
template <class Real> Array<Real> repeated_backward(Arena &arena, const Array<Real> &dY, int n, int times);

/// sum() returns X + Y; add_to() adds `more` to X.
template <class Real> Array<Real> sum(Arena &arena, const Array<Real> &X, const Array<Real> &Y);
template <class Real> void add_to(const Array<Real> &X, const Array<Real> &more);
template <class Real> Array<Real> zeros(Arena &arena, size_t count);

} // namespace recollect::train
