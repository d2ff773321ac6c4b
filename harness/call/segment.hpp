// SPDX-License-Identifier: Apache-2.0
// A pass over consecutive steps of a longer sequence, whose state comes from the steps before, wherever they are computed.
//
// Where a layer takes its state through a segment by a map of the rows, S -> S A + B, and reads it linearly, the segment
// need not wait for it. It runs at once, on values with as many zeros appended as the state has columns and the identity
// below its state: what follows from that part of the state are A and, step for step, the response of the outputs,
//
//   [0; I] -> [B; A],   o_t(S) = o_t(0) + S r_t,
//
// so that everything that a state changes is known when it comes. Nothing but the layer itself is needed for that.
#pragma once
#include "harness/call/forward.hpp"

namespace recollect {

/// Per head, rows of m numbers: n of a state, or n of B above m of A.
using Rows = std::vector<double>;

/// What `earlier`, a state or a map, becomes through the map `later`: of [B; A] and [B'; A'] that is [B A' + B'; A A'].
Rows through(const Rows &earlier, const Rows &later, size_t heads, int n, int m);

/// Rows of n numbers, each with m zeros appended; and the first n of rows of n + m.
std::vector<double> widened_rows(const std::vector<double> &rows, size_t n, size_t m);
std::vector<double> narrowed_rows(const std::vector<double> &rows, size_t n, size_t m);

struct Segment {
  std::function<void()> reset, launch; // as a job's
  /// In place of its own state, between reset() and launch().
  std::function<void(const Rows &state)> start_from;
  /// After launch(): the state, or the map of a segment that waits for none.
  std::function<Rows()> end;
  /// After launch(), where it waited for none: the outputs and the end become those from this state.
  std::function<void(const Rows &state)> respond;
  std::function<Output()> fetch;
};

/// Usage error where arrays have 16 bits: the ranks' passes are on float32 or float64 ones.
void refuse_cut(Real real);

/// `sequence` are the segment's own steps. With `waits` false it begins without the state.
Segment prepare_segment(const Variant &variant, const Sequence &sequence, const Run &run, bool waits);

/// Whether segments of this layer need not wait: whether two parts of a short random sequence come to what the whole of
/// it does, to rounding.
bool needs_no_state(const Variant &variant, const Sequence &sequence, const Params &params);

/// Heads [first, first + count) of the batch, as so many heads of a batch of one.
Sequence slice_heads(const Sequence &sequence, size_t first, size_t count);

} // namespace recollect
