// SPDX-License-Identifier: Apache-2.0
// What a layer costs at a shape: the formula of its descriptor, evaluated.
#pragma once
#include "harness/core/variant.hpp"

namespace recollect {

/// "2 t (Dk + Dv) + Dk^3 / 3": sums of products (side by side, or with '/'), powers, sqrt(...), numbers and the names of
/// `values`. Logic error for anything else: formulas are written by us.
double evaluate(const std::string &formula, const std::map<std::string, double> &values);

/// Floating-point operations of the definition a token, at the middle step of T. Exponentials are not among them.
double flops_a_token(const Variant &variant, const Shape &shape, const Params &params);

/// Bytes that a head carries from token to token: the final state, or all T pairs where there is no finite one.
double state_bytes(const Variant &variant, const Shape &shape, const Params &params, Real real);

} // namespace recollect
