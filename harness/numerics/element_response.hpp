// SPDX-License-Identifier: Apache-2.0
// How errors in the elements of a matrix M change an output that is computed by solving with M.
#pragma once
#include "harness/numerics/linalg.hpp"

namespace recollect {

/// How the output B M^{-1} q responds to an error E of M. To first order the output changes by B M^{-1} E M^{-1} q.
/// Here E_ij = s_ij M_ij, where s_ij = s_ji is +1 or -1 at random.
struct ElementResponse {
  // change: largest |element| of B M^{-1} E M^{-1} q, infinite if M is singular; size: largest |element| of the output.
  double change, size;
};
ElementResponse element_response(const Dense &M, const Dense &B, const std::vector<double> &q);

} // namespace recollect
