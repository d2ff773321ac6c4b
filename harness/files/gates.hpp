// SPDX-License-Identifier: Apache-2.0
// Decays and write strengths as the numbers that a convention holds in their place: the formulas of Gate and Strength
// (convention.hpp), their derivatives and their inverses.
#pragma once
#include "harness/files/convention.hpp"

namespace recollect {

/// beta, and its derivative, for the number x.
double strength_of(double x, Strength strength);
double strength_slope(double x, Strength strength);
/// The x of this beta. Those of a sigmoid are at most 30 in size: beyond it a sigmoid is 0 or 1 in float32.
double raw_strength(double beta, Strength strength);

/// The logarithm of a decay, and its derivatives in the number given (in dt_bias too) and in A_log or A. Of mamba's gate
/// also the write strength, and its derivative.
struct Rate {
  double log, by_x, by_A, step = 0, step_by_x = 0;
};

/// For the number x; A is A_log or A, and `bias` is dt_bias, null where there is none.
Rate rate_of(Gate gate, double x, double A = 0, const double *bias = nullptr);
/// The x of this decay, as far as there is such a number: at most 30 in size, before a bias is taken away.
double raw_gate(Gate gate, double decay, double A, double bias);

/// Whether the gate has a parameter A or A_log, and may have dt_bias.
bool has_parameters(Gate gate);
/// "A" or "A_log".
const char *parameter_of(Gate gate);

} // namespace recollect
