// SPDX-License-Identifier: Apache-2.0
// A pass over some consecutive steps of a longer sequence. Its initial state comes from the steps before, which
// another process may compute.
//
// Suppose a layer maps the rows of its state across a segment by S -> S A + B, and reads the state linearly. Then the
// segment need not wait for its initial state. It runs at once with extra value channels: values get as many zeros
// appended as the state has columns, and the initial state gets an identity in the rows of these channels. At the end
// these rows contain A, and the outputs of the extra channels are r_t, the response of the layer's outputs to the
// initial state,
//
//   [0; I] -> [B; A],   o_t(S) = o_t(0) + S r_t,
//
// so that an initial state can be applied when it arrives. Nothing but the layer itself is needed for this.
#pragma once
#include "harness/call/forward.hpp"

namespace recollect {

/// Per head, rows of m numbers: either a state of n rows, or a map that consists of n rows of B and, below, m rows of
/// A.
using Rows = std::vector<double>;

/// Applies the map `later` to `earlier`, which is a state or a map: [B; A] followed by [B'; A'] is [B A' + B'; A A'].
Rows through(const Rows &earlier, const Rows &later, size_t heads, int n, int m);

/// Appends m zeros to each row of n numbers. narrowed_rows() undoes this: it keeps the first n numbers of each row.
std::vector<double> widened_rows(const std::vector<double> &rows, size_t n, size_t m);
std::vector<double> narrowed_rows(const std::vector<double> &rows, size_t n, size_t m);

struct Segment {
  std::function<void()> reset, launch; // as in Job
  /// Replaces the initial state; call between reset() and launch().
  std::function<void(const Rows &state)> start_from;
  /// Call after launch(). Returns the final state or, if the segment does not wait for its initial state, the map.
  std::function<Rows()> end;
  /// Call after launch() of a segment that did not wait. fetch() then returns the results from this initial state;
  /// end() is unchanged.
  std::function<void(const Rows &state)> respond;
  std::function<Output()> fetch;
};

/// Usage error for a 16-bit type: only passes in float32 or float64 can be cut among ranks.
void refuse_cut(Real real);

/// `sequence` contains only the segment's steps. `waits`: the initial state is given before launch(), not by respond().
Segment prepare_segment(const Variant &variant, const Sequence &sequence, const Run &run, bool waits);

/// Whether segments of this layer can run without their initial state. Tests it: two parts of a short random sequence
/// must combine to the result of the whole sequence, up to rounding.
bool needs_no_state(const Variant &variant, const Sequence &sequence, const Params &params);

/// Heads [first, first + count) of the batch, as `count` heads of a batch of one.
Sequence slice_heads(const Sequence &sequence, size_t first, size_t count);
/// Like above, for one array [B,H,...].
std::vector<double> slice_heads(const std::vector<double> &data, const Shape &shape, size_t first, size_t count);

} // namespace recollect
