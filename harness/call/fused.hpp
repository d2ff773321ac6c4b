// SPDX-License-Identifier: Apache-2.0 What a user's kernel computes in addition to the layer: it normalises rows of q
// and k, computes gates from parameters, adds the skip term D v, and applies the output gate silu(z). Their gradients
// follow by the chain rule.
#pragma once
#include "harness/call/layer_inputs.hpp"

namespace recollect {

/// Replaces each row x by y = factor x / sqrt(|x|^2 + epsilon) or, if `epsilon` has no value, by y = factor x.
void normalise(std::vector<double> &rows, size_t width, const std::optional<double> &epsilon, double factor);
/// The adjoint of normalise(): converts the gradient with respect to y to the gradient with respect to x, the `rows`.
void normalise_back(std::vector<double> &gradient, const std::vector<double> &rows, size_t width,
                    const std::optional<double> &epsilon, double factor);

/// The decays that a user's gate array [B,h,T,width] stands for, and the write strengths that Mamba derives from this
/// array. Input error if a parameter of the gate (A or A_log) is absent, or if a parameter has an unsuitable shape.
std::vector<double> decays_in(const UsersArrays &user, Tensor decay, const Shape &shape, const Convention &convention);
std::vector<double> strengths_in(const UsersArrays &user, Tensor decay, const Shape &shape,
                                 const Convention &convention);
/// Adds the gradients of a gate array and of its parameters to `found`. `in_logarithms` is the gradient with respect to
/// the logarithms of the decays. `in_strengths`, which may be empty, is the gradient with respect to the write
/// strengths that Mamba derives from the gate.
void add_gate_gradients(UsersArrays &found, const UsersArrays &user, Tensor decay,
                        const std::vector<double> &in_logarithms, const std::vector<double> &in_strengths,
                        const Shape &shape, const Convention &convention);
/// alpha [B,H,T] as given by the array gamma, and the gradient of gamma computed from the gradient of alpha.
std::vector<double> alpha_of_gamma(const UsersArrays &user, const Shape &shape, const Convention &convention);
UsersArray gradient_of_gamma(const UsersArray &gamma, const std::vector<double> &by_alpha, const Shape &shape,
                             const Convention &convention);

/// skip_in(): D for every head and channel, [H,Dv]. gate_in(): silu(z), [B,H,T,Dv]. Empty if D or z is not given or is
/// ignored.
std::vector<double> skip_in(const UsersArrays &user, const Shape &shape, const Convention &convention);
std::vector<double> gate_in(const UsersArrays &user, const Shape &shape, const Convention &convention);
/// Adds the skip term to o and multiplies o by the output gate. If gradients are asked for, also updates dv and
/// computes dD and dz. With `errors`, o and `gradient` hold rounding errors (see to_user()).
void add_skip_and_gate(UsersArrays &found, std::vector<double> &o, Sequence &gradient, const UsersArrays &user,
                       const LayerInputs &inputs, bool errors);

} // namespace recollect
