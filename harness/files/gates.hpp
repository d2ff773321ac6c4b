// SPDX-License-Identifier: Apache-2.0
// The formulas of Gate and Strength (convention.hpp), which turn an array element x into a decay or a write strength,
// with their derivatives and inverses.
#pragma once
#include "harness/files/convention.hpp"

namespace recollect {

/// beta, and d beta / dx, for the array element x.
double strength_of(double x, Strength strength);
double strength_slope(double x, Strength strength);
/// The x that gives this beta. For a sigmoid, |x| is limited to 30; beyond 30 the sigmoid is 0 or 1 in float32.
double raw_strength(double beta, Strength strength);

/// The logarithm of a decay and its derivatives: by_x with respect to the array element x (and also to dt_bias), and
/// by_A with respect to A_log or A. Mamba's gate also has the write strength `step` and its derivative step_by_x.
struct Rate {
  double log, by_x, by_A, step = 0, step_by_x = 0;
};

/// The Rate of the array element x. A is the gate's parameter A_log or A; `bias` is the element's dt_bias, null if
/// there is none.
Rate rate_of(Gate gate, double x, double A = 0, const double *bias = nullptr);
/// The x that gives this decay. If the formula of the gate has an exponential, |x + bias| is limited to about 30, so
/// the returned x may give a less extreme decay.
double raw_gate(Gate gate, double decay, double A, double bias);

/// Whether the gate has a parameter A or A_log, and may have dt_bias.
bool has_parameters(Gate gate);
/// The name of this parameter, "A" or "A_log".
const char *parameter_of(Gate gate);

} // namespace recollect
