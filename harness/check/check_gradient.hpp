// SPDX-License-Identifier: Apache-2.0
// Are the gradients of a kernel right? Each held against that of the definition.
#pragma once
#include "harness/check/check.hpp"
#include "harness/pipeline/gradient.hpp"

namespace recollect {

struct CheckedGradient {
  struct Part {
    std::string name; // dq, dk, ..., dstate
    Errors errors;
    double bound, condition;
    std::string diagnosis; // the mistake that reproduces it, "" if none of the known ones does, or it is right
    bool right() const { return errors.first_bad.empty(); }
  };
  std::vector<Part> parts; // in the order of the tensors; dstate where the candidate has it
  bool right() const;
};

/// `candidate` for the gradient in what the sequence gives: the definition's, or where kernels do not run on the host the
/// fast form's own in float64, an input error unless it has one that agrees with differences of the definition. The
/// bound on every element of a tensor, relative to its largest, is that of an output with two passes in place of one, forward to the states and back, and sums over both
/// widths:
///   [ (2 T + Dk + Dv + C) eps(f32) + 32 eps(precision) ] kappa
/// kappa the response of that tensor of the definition's gradient to relative changes of the inputs and of the weights,
/// and twice that of the matrices it solves with, once for each pass. With `logarithms` the derivatives are those in
/// the logarithms of alpha and lambda.
CheckedGradient check_gradient(const Variant &variant, const Sequence &sequence, const Params &params,
                               const OutputWeights &weights, const Sequence &candidate, Precision precision, int chunk,
                               bool logarithms);

} // namespace recollect
