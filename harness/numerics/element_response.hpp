// SPDX-License-Identifier: Apache-2.0
// How errors in the elements of a solved matrix change the output.
#pragma once
#include "harness/numerics/linalg.hpp"

namespace recollect {

/// How the output B M^{-1} q responds to an error E of M. To first order the change is B M^{-1} E M^{-1} q. E_ij =
/// +-M_ij, with random signs that are symmetric in i and j.
struct ElementResponse {
  // change: largest |element| of the change, infinite if M is singular; size: largest |element| of the output.
  double change, size;
};
ElementResponse element_response(const Dense &M, const Dense &B, const std::vector<double> &q);

} // namespace recollect
