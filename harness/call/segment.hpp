// SPDX-License-Identifier: Apache-2.0
// A pass over a segment: some consecutive steps of a longer sequence. The initial state of the segment comes from
// earlier steps, which another process may compute.
//
// Suppose that the steps of a segment map the layer's state S [n,m] to S A + B, and that the layer reads the state
// linearly. Then the segment need not wait for its initial state. It runs at once with m extra value channels: m zeros
// are appended to each value, and the initial state gets m more rows, which hold the identity. At the end these rows
// hold A, and the outputs of the extra channels are r_t, the response of the layer's outputs to the initial state:
//
//   [0; I] -> [B; A],   o_t(S) = o_t(0) + S r_t.
//
// When the initial state S arrives, it is applied to the outputs and to the final state. This needs no code besides the
// layer.
#pragma once
#include "harness/call/forward.hpp"

namespace recollect {

/// For each head, rows of m numbers: either a state, which has n rows, or a map [B; A], which has the n rows of B
/// followed by the m rows of A.
using Rows = std::vector<double>;

/// Applies the map `later`, [B'; A'], to `earlier`. If `earlier` is a state S, the result is S A' + B'. If it is a map
/// [B; A], the result is [B A' + B'; A A'].
Rows through(const Rows &earlier, const Rows &later, size_t heads, int n, int m);

/// Appends m zeros to each row of n numbers. narrowed_rows() undoes this: it keeps the first n numbers of each row.
std::vector<double> widened_rows(const std::vector<double> &rows, size_t n, size_t m);
std::vector<double> narrowed_rows(const std::vector<double> &rows, size_t n, size_t m);

struct Segment {
  std::function<void()> reset, launch; // as in Job
  /// Replaces the initial state; call between reset() and launch().
  std::function<void(const Rows &state)> start_from;
  /// Call after launch(). Returns the final state or, if the segment does not wait for its initial state, the map [B;
  /// A].
  std::function<Rows()> end;
  /// Call after launch() of a segment that does not wait. fetch() then returns the results for the initial state
  /// `state`. end() still returns the map.
  std::function<void(const Rows &state)> respond;
  std::function<Output()> fetch;
};

/// Usage error for a 16-bit type, because only passes in float32 or float64 can be cut into segments.
void refuse_cut(Real real);

/// `sequence` contains only the steps of the segment. With `waits`, the initial state is given before launch();
/// without, by respond() after launch().
Segment prepare_segment(const Variant &variant, const Sequence &sequence, const Run &run, bool waits);

/// Whether segments of this layer can run without their initial state. This is found by a test: two segments of a short
/// random sequence must combine to the result of the whole sequence, up to rounding.
bool needs_no_state(const Variant &variant, const Sequence &sequence, const Params &params);

/// Heads [first, first + count) of the B H heads of a batch, as `count` heads of a batch of one.
Sequence slice_heads(const Sequence &sequence, size_t first, size_t count);
/// The same for one array [B,H,...].
std::vector<double> slice_heads(const std::vector<double> &data, const Shape &shape, size_t first, size_t count);

} // namespace recollect
