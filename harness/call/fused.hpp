// SPDX-License-Identifier: Apache-2.0
// What a user's kernel computes besides the layer: normalised rows of q and k, gates with parameters, the skip term D v
// and the output gate silu(z); and the gradients of each by the chain rule.
#pragma once
#include "harness/call/layer_inputs.hpp"

namespace recollect {

/// Replaces each row x by y = factor x / sqrt(sum x^2 + epsilon), or by y = factor x without epsilon.
void normalise(std::vector<double> &rows, size_t width, const std::optional<double> &epsilon, double factor);
/// Converts the gradient with respect to y to the gradient with respect to x (`rows`).
void normalise_back(std::vector<double> &gradient, const std::vector<double> &rows, size_t width,
                    const std::optional<double> &epsilon, double factor);

/// The decays of a user's gate array [B,h,T,width], and the write strengths that Mamba derives from it. Input error if
/// the gate lacks a parameter (A or A_log), or one has an unsuitable shape.
std::vector<double> decays_in(const UsersArrays &user, Tensor decay, const Shape &shape, const Convention &convention);
std::vector<double> strengths_in(const UsersArrays &user, Tensor decay, const Shape &shape,
                                 const Convention &convention);
/// Adds the gradients of a gate array and of its parameters. `in_logarithms` is the gradient with respect to log
/// decays. `in_strengths` is the gradient with respect to the strengths that Mamba derives from the gate; it may be
/// empty.
void add_gate_gradients(UsersArrays &found, const UsersArrays &user, Tensor decay,
                        const std::vector<double> &in_logarithms, const std::vector<double> &in_strengths,
                        const Shape &shape, const Convention &convention);
/// alpha [B,H,T] of the array gamma, and the gradient of gamma given that of alpha.
std::vector<double> alpha_of_gamma(const UsersArrays &user, const Shape &shape, const Convention &convention);
UsersArray gradient_of_gamma(const UsersArray &gamma, const std::vector<double> &by_alpha, const Shape &shape,
                             const Convention &convention);

/// D for every head and channel, [H,Dv], and silu(z) [B,H,T,Dv]; empty if the kernel has none.
std::vector<double> skip_in(const UsersArrays &user, const Shape &shape, const Convention &convention);
std::vector<double> gate_in(const UsersArrays &user, const Shape &shape, const Convention &convention);
/// Applies the skip term and the output gate to o. With gradients, updates dv and computes dD and dz. `errors`: see
/// to_user().
void add_skip_and_gate(UsersArrays &found, std::vector<double> &o, Sequence &gradient, const UsersArrays &user,
                       const LayerInputs &inputs, bool errors);

} // namespace recollect
