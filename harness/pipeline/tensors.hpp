// SPDX-License-Identifier: Apache-2.0
// The users' own tensors, in their conventions, as the harness's values and back.
#pragma once
#include "harness/core/variant.hpp"
#include "harness/pipeline/tensor_file.hpp"

namespace recollect {

/// How a file lays tensors out.
struct Convention {
  bool bthd = false; // [B,T,H,D] and [B,T,H] in place of [B,H,T,D] and [B,H,T]; states are [B,H,rows,columns] in both
  bool log_gates = false; // alpha and lambda are given as logarithms
};

/// q, k [B,H,T,Dk], v [B,H,T,Dv] and, where present, the variant's own `inputs` (beta, alpha [B,H,T], lambda, w
/// [B,H,T,Dk]) and state [B,H,rows,columns]. Arrays that the variant does not use are not looked at.
Sequence read_sequence(const std::string &path, const std::vector<Input> &inputs, Convention convention = {});
/// What is there of a sequence, whose states have the shape `state`, and of weights of its outputs: do and dstate.
void write_sequence(const std::string &path, const Sequence &sequence, Convention convention, Real real,
                    const StateShape &state, const Facts &meta, const Output &weights = {});

/// o [B,H,T,Dv] and, where there is one, state; in `real`. A gradient that is not empty stands beside them: dq, dk, dv
/// and what else it has of dbeta, dalpha, dlambda, dw and dstate, each of its tensor's shape.
void write_output(const std::string &path, const Sequence &sequence, const Output &output, const Sequence &gradient,
                  Convention convention, Real real, const Facts &meta);
/// o and, where the file has it, state, of an output that somebody else computed for `shape`; do and dstate where the
/// prefix is "d".
Output read_output(const std::string &path, const Shape &shape, const StateShape &state, Convention convention,
                   const std::string &prefix = "");
/// What somebody else computed, as far as the file has it: o, the final state, and derivatives in what `sequence` gives
/// and in the state.
struct Computed {
  Output output;
  Sequence gradient;
};
Computed read_computed(const std::string &path, const Sequence &sequence, const StateShape &state,
                       Convention convention);

/// Input error that names an array of the file that is none of `known`, and the nearest of them. `who`: whose they are,
/// as in "an input of linear".
void refuse_unknown(const std::string &path, const std::vector<std::string> &known, const std::string &who);

} // namespace recollect
