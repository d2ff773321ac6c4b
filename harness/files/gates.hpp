// SPDX-License-Identifier: Apache-2.0
// Decays and write strengths as a convention represents them: the formulas of Gate and Strength (convention.hpp),
// their derivatives and inverses.
#pragma once
#include "harness/files/convention.hpp"

namespace recollect {

/// beta, and d beta / dx, for the array element x.
double strength_of(double x, Strength strength);
double strength_slope(double x, Strength strength);
/// The x that gives this beta. |x| is at most 30 for a sigmoid, which is 0 or 1 in float32 beyond that.
double raw_strength(double beta, Strength strength);

/// The logarithm of a decay, its derivative by_x with respect to the array element (and to dt_bias), and by_A with
/// respect to A_log or A. For mamba's gate also the write strength `step` and its derivative.
struct Rate {
  double log, by_x, by_A, step = 0, step_by_x = 0;
};

/// The rate for the array element x. A is A_log or A; `bias` is the element's dt_bias, null if there is none.
Rate rate_of(Gate gate, double x, double A = 0, const double *bias = nullptr);
/// The x that gives this decay. Where the gate is exponential in x, x is limited to about 30 in absolute value, before
/// the bias is subtracted, so extreme decays are not reached.
double raw_gate(Gate gate, double decay, double A, double bias);

/// Whether the gate has a parameter A or A_log, and may have dt_bias.
bool has_parameters(Gate gate);
/// "A" or "A_log".
const char *parameter_of(Gate gate);

} // namespace recollect
