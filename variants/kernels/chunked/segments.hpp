// SPDX-License-Identifier: Apache-2.0
// State passing in segments, for calls with few heads, where one thread block per head and group of value channels
// would leave most multiprocessors idle. A head's chunks are divided into segments, and decayed sums pass states in
// three steps:
//
//   1. each segment s runs from a zero state, in parallel with the others; its final state is A_s;
//   2. a scan over the segments: X_0 is the given state, X_{s+1} = D_s X_s + A_s;
//   3. each segment runs again, in parallel, from its start state X_s.
//
// D_s is the product of the decays of segment s: one number, or one number per key channel. A backward pass scans from
// the last segment to the first. Delta rules do not use segments: each of their chunks multiplies the state by a full
// matrix, so D_s would be a product of such matrices.
#pragma once
#include <Kokkos_Macros.hpp>
#include <algorithm>
#include <cstddef>

namespace recollect::chunked {

struct Segments {
  int count = 1, chunks = 0; // count: segments per head and text; chunks: per segment
  int decay_width = 1;       // decays of a segment: 1, or Dk if channels decay separately
  float *states = nullptr;   // [texts * H,count,Dv,Dk] A_s; after the scan X_s
  float *decays = nullptr;   // [texts * H,count,decay_width] D_s
};

/// Chooses the number of segments, given `blocks` thread blocks without segments (heads times groups of value
/// channels): enough segments to occupy all multiprocessors, each of at least 8 chunks. Segments read keys and values
/// twice, so fewer than 4 segments are not worth it, and one segment is returned.
inline Segments segments_for(int blocks, int chunks, int multiprocessors, int decay_width = 1) {
  Segments s;
  const int most = std::min(multiprocessors / blocks, chunks / 8);
  if (most < 4) return s;
  s.decay_width = decay_width;
  s.chunks = (chunks + most - 1) / most;
  s.count = (chunks + s.chunks - 1) / s.chunks;
  return s;
}

/// Computes the products of the channels' decays over each segment. Each thread takes one channel of one segment.
struct SegmentDecays {
  Segments segments;
  const float *totals; // [heads,chunks,stride] decays of each chunk
  int chunks, stride;  // `chunks` per head; `stride` is at least decay_width
  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const std::size_t nth = i / segments.decay_width, head = nth / segments.count;
    const int first = int(nth % segments.count) * segments.chunks,
              left = chunks - first < segments.chunks ? chunks - first : segments.chunks;
    const float *const total = totals + (head * chunks + first) * stride + i % segments.decay_width;
    float product = 1;
    for (int c = 0; c < left; ++c) product *= total[std::size_t(c) * stride];
    segments.decays[i] = product;
  }
};

/// The scan: replaces A_s by X_s, and writes the state after the last segment to `end` (if `backwards`, the state
/// before the first). Each thread takes one element of the state of one head. The arrays start and end may be the same.
/// A null start is a zero state; a null end is not written.
struct ScanSegments {
  Segments segments;
  const float *start;
  float *end;
  std::size_t state_stride, size; // state_stride: from one state of start or end to the next; size: Dv Dk
  bool backwards = false;
  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const std::size_t state = i / size, element = i % size, channel = element % segments.decay_width;
    float x = start ? start[state * state_stride + element] : 0;
    for (int turn = 0; turn < segments.count; ++turn) {
      const std::size_t nth = state * segments.count + (backwards ? segments.count - 1 - turn : turn);
      float &own = segments.states[nth * size + element];
      const float added = own;
      own = x;
      x = segments.decays[nth * segments.decay_width + channel] * x + added;
    }
    if (end) end[state * state_stride + element] = x;
  }
};

} // namespace recollect::chunked
