// SPDX-License-Identifier: Apache-2.0
// Handles passes that leave the range or precision of their type. NaN and Inf are always reported. If the definition
// stays in range, its output replaces the fast form's; else the message names the first step that diverges.
#pragma once
#include "harness/call/forward.hpp"

namespace recollect {

/// Where the outputs stop being finite: "step 41 of head 3" (the earliest step), "the final state" if only the state is
/// not finite, "" if all numbers are finite. Heads are numbered across the batch.
std::string divergence(const Output &output, const Shape &shape);

/// "diverged in f32 at step 41 of head 3"; "" if all numbers are finite.
std::string diverged(const Output &output, const Shape &shape, Real real);

/// "f32 does not resolve the matrix solved at step 7 of head 3, of condition number 2e+09". The outputs that depend on
/// this matrix may have no correct digit. "" if no such matrix is known (Variant::worst_condition).
std::string unresolved(const Variant &variant, const Sequence &sequence, const Run &run);

/// Checks `output`, the result of `run`. If it diverges and the recurrent form in the same type does not, replaces it
/// by that form's output. Returns a remark: "", the text of unresolved(), "diverged in f32 at step 41 of head 3", or
/// "recurrent in place of chunked, which diverged in f32 at step 41 of head 3".
std::string settle(const Variant &variant, const Sequence &sequence, const Run &run, Output &output);

} // namespace recollect
