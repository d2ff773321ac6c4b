// SPDX-License-Identifier: Apache-2.0
// Decays and write strengths as a convention represents them: the formulas of Gate and Strength (convention.hpp),
// their derivatives and inverses.
#pragma once
#include "harness/files/convention.hpp"

namespace recollect {

/// beta, and its derivative, for the number x.
double strength_of(double x, Strength strength);
double strength_slope(double x, Strength strength);
/// The x that gives this beta. For a sigmoid at most 30 in size, since larger ones give 0 or 1 in float32.
double raw_strength(double beta, Strength strength);

/// The logarithm of a decay, and its derivatives with respect to the given number (and to dt_bias) and to A_log or A.
/// For mamba's gate also the write strength and its derivative.
struct Rate {
  double log, by_x, by_A, step = 0, step_by_x = 0;
};

/// For the number x. A is A_log or A; `bias` is dt_bias, null without one.
Rate rate_of(Gate gate, double x, double A = 0, const double *bias = nullptr);
/// The x that gives this decay, if there is one; at most 30 in size before the bias is subtracted.
double raw_gate(Gate gate, double decay, double A, double bias);

/// Whether the gate has a parameter A or A_log, and may have dt_bias.
bool has_parameters(Gate gate);
/// "A" or "A_log".
const char *parameter_of(Gate gate);

} // namespace recollect
