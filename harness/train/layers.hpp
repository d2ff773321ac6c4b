// SPDX-License-Identifier: Apache-2.0
// The pieces of a model besides its mixer, forward and backward, on rows [N, width]. A backward adds to the gradient of
// parameters and writes that of its input.
#pragma once
#include <cstddef>
#include <vector>

namespace recollect::train {

using Numbers = std::vector<double>;

/// Y = X W, X [N,m], W [m,n].
Numbers linear_forward(const Numbers &X, const double *W, int m, int n);
/// dX, and dW += X^T dY.
Numbers linear_backward(const Numbers &X, const double *W, int m, int n, const Numbers &dY, double *dW);

/// y = gain x / sqrt(mean x^2 + 1e-6).
Numbers rms_forward(const Numbers &X, const double *gain, int width);
Numbers rms_backward(const Numbers &X, const double *gain, int width, const Numbers &dY, double *dgain);

/// y = gain (x - mean) / sqrt(variance + 1e-5) + shift.
Numbers layer_forward(const Numbers &X, const double *gain, const double *shift, int width);
Numbers layer_backward(const Numbers &X, const double *gain, int width, const Numbers &dY, double *dgain,
                       double *dshift);

/// y_t = sum_j c_j * x_{t-j} by channel, c [taps,width], within texts of T rows.
Numbers convolution_forward(const Numbers &X, const double *c, int taps, int width, int T);
Numbers convolution_backward(const Numbers &X, const double *c, int taps, int width, int T, const Numbers &dY,
                             double *dc);

/// x Phi(x), Phi the normal distribution's.
Numbers gelu_forward(const Numbers &X);
Numbers gelu_backward(const Numbers &X, const Numbers &dY);
Numbers sigmoid_forward(const Numbers &X);
/// From the outputs.
Numbers sigmoid_backward(const Numbers &Y, const Numbers &dY);

/// Rows of `width` to length 1: x / sqrt(|x|^2 + 1e-12).
Numbers unit_forward(const Numbers &X, int width);
Numbers unit_backward(const Numbers &X, int width, const Numbers &dY);

/// Turns the pairs of channels (j, j + D/2) of every head of width D by t 10000^(-2j/D); `sign` -1 turns them back, which
/// is the backward.
Numbers rope(Numbers X, int width, int D, int T, double sign);

/// [B,T,H,D] to [B,H,T,D], and back with H and T exchanged.
Numbers exchanged(const Numbers &X, int B, int T, int H, int D);

void add_to(Numbers &sum, const Numbers &more);

} // namespace recollect::train
