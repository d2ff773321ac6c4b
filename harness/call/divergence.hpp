// SPDX-License-Identifier: Apache-2.0
// Handles passes whose results leave the range or precision of their type. NaN and Inf are always reported. If the
// recurrent form stays in range, its output replaces that of the fast form. If not, the message names the first step
// that diverges.
#pragma once
#include "harness/call/forward.hpp"

namespace recollect {

/// Where a result is not finite: the earliest step, as "step 41 of head 3"; "the final state" if only the state is not
/// finite; "" if all numbers are finite. Heads are numbered across the batch.
std::string divergence(const Output &output, const Shape &shape);

/// "diverged in f32 at step 41 of head 3"; "" if all numbers are finite.
std::string diverged(const Output &output, const Shape &shape, Real real);

/// Names the worst-conditioned matrix with which the layer solves: "f32 does not resolve the matrix solved at step 7 of
/// head 3, of condition number 2e+09". Outputs that depend on this matrix may have no correct digit. "" if the type
/// resolves all matrices or the layer does not tell (Variant::worst_condition).
std::string unresolved(const Variant &variant, const Sequence &sequence, const Run &run);

/// Checks `output`, the result of `run`. If `output` diverges and the recurrent form in the same type does not,
/// replaces it by the output of the recurrent form. Returns a remark: "", the text of unresolved(), "diverged in f32 at
/// step 41 of head 3", or "recurrent in place of chunked, which diverged in f32 at step 41 of head 3".
std::string settle(const Variant &variant, const Sequence &sequence, const Run &run, Output &output);

} // namespace recollect
