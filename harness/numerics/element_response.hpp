// SPDX-License-Identifier: Apache-2.0
// How an error in the elements of a solved matrix changes the read.
#pragma once
#include "harness/numerics/linalg.hpp"

namespace recollect {

/// The read o = B M^{-1} q, and its first-order change B M^{-1} (M o s) M^{-1} q
/// for a symmetric matrix s of random signs.
struct ElementResponse {
  double change, size; // the largest absolute element of each; the change is infinite if M is singular
};
ElementResponse element_response(const Dense &M, const Dense &B, const std::vector<double> &q);

} // namespace recollect
