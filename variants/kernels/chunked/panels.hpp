// SPDX-License-Identifier: Apache-2.0
// Products that a thread block computes from operands in shared memory, and the pipeline that copies the operands in
// panels: while one panel is multiplied, the next panels are being copied.
//
// Warps form a grid of 4 x `parts` (a template argument). A warp computes 16 of the chunk's 64 rows, and in these rows
// every `parts`-th group of 16 columns.
#pragma once
#include "variants/kernels/chunked/rows.hpp"
#ifdef __CUDACC__

namespace recollect::chunked {

using fragments::Element;
using fragments::Sum;

/// The rows and columns of a result that belong to a thread's warp.
template <int parts> struct WarpPlace {
  int row, part, lane;
  __device__ explicit WarpPlace(int thread)
      : row(thread / 32 / parts * 16), part(thread / 32 % parts), lane(thread % 32) {}
  /// The row of the result to which x[2 r] and x[2 r + 1] belong.
  __device__ int row_of(int r) const { return row + lane / 4 + 8 * r; }
  /// The thread's first column in one half of the warp's nth group of 16 columns: in columns 0 ... 7 if h = 0, in
  /// columns 8 ... 15 if h = 1.
  __device__ int column(int nth, int h) const { return (part + parts * nth) * 16 + 8 * h + lane % 4 * 2; }
};

/// A warp's part of a result with `columns` columns: 16 rows, and in them every `parts`-th group of 16 columns.
template <int columns_, int parts_> struct RowsOfSums {
  static constexpr int columns = columns_, parts = parts_, groups = (columns / 16 + parts - 1) / parts;
  Sum x[groups][2];
  __device__ __forceinline__ static bool has(const WarpPlace<parts> &at, int nth) {
    return columns / 16 % parts == 0 || (at.part + parts * nth) * 16 < columns;
  }
  /// Calls f(r, column, first, second) for all pairs of adjacent columns, where r = 0 or 1 is the row as in row_of().
  template <class F> __device__ __forceinline__ void each_pair(const WarpPlace<parts> &at, const F &f) const {
#pragma unroll
    for (int j = 0; j < groups; ++j)
      if (has(at, j))
#pragma unroll
        for (int h = 0; h < 2; ++h)
#pragma unroll
          for (int r = 0; r < 2; ++r) f(r, at.column(j, h), x[j][h].x[2 * r], x[j][h].x[2 * r + 1]);
  }
  __device__ __forceinline__ void scale_rows(const float (&factor)[2]) {
#pragma unroll
    for (int j = 0; j < groups; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int e = 0; e < 4; ++e) x[j][h].x[e] *= factor[e / 2];
  }
  /// Multiplies column j by factor[j], which is in shared memory.
  __device__ __forceinline__ void scale_columns(const WarpPlace<parts> &at, const float *factor) {
#pragma unroll
    for (int j = 0; j < groups; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        if (!has(at, j)) continue;
        const float2 own = *reinterpret_cast<const float2 *>(factor + at.column(j, h));
#pragma unroll
        for (int e = 0; e < 4; ++e) x[j][h].x[e] *= e % 2 ? own.y : own.x;
      }
  }
  __device__ __forceinline__ void multiply(const RowsOfSums &by) {
#pragma unroll
    for (int j = 0; j < groups; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int e = 0; e < 4; ++e) x[j][h].x[e] *= by.x[j][h].x[e];
  }
};

/// Layout of an operand's tile, where a term is an index that the product sums over. along: [row or column of the
/// result][term]; across: [term][row or column of the result].
enum class Lies { along, across };

/// sum += A B over the terms `from` ... `to` - 1. Tiles have a_pitch or b_pitch elements per row. `row` is the first
/// row of A that the warp multiplies. Groups of columns from `end` on are skipped.
template <class Op, Lies a_lies, int a_pitch, Lies b_lies, int b_pitch, int terms, int columns, int parts>
__device__ __forceinline__ void add_product(const WarpPlace<parts> &at, int row, const Element<Op> *A,
                                            const Element<Op> *B, RowsOfSums<columns, parts> &sum, int from = 0,
                                            int to = terms, int end = columns) {
  using namespace fragments;
#pragma unroll
  for (int k = 0; k < terms; k += 16) {
    if (k < from || k >= to) continue;
    A16<Op> a;
    if constexpr (a_lies == Lies::along)
      a = load_a<Op, a_pitch>(A, row, k);
    else
      a = load_a_across<Op, a_pitch>(A, row, k);
#pragma unroll
    for (int j = 0; j < sum.groups; ++j) {
      if (!sum.has(at, j)) continue;
      const int column = (at.part + parts * j) * 16;
      if (column >= end) continue;
      B16<Op> b;
      if constexpr (b_lies == Lies::along)
        b = load_b_across<Op, b_pitch>(B, k, column);
      else
        b = load_b<Op, b_pitch>(B, k, column);
      multiply_add<Op>(a, b, sum.x[j][0], sum.x[j][1]);
    }
  }
}

/// A ring of `count` buffers of `bytes` bytes for panels: while one panel is used, the next count - 1 are being copied.
struct PanelRing {
  unsigned char *buffers;
  int bytes, count;
  int place = 0;     // buffer of the next panel
  int under_way = 0; // panels being copied, including the one in buffer `place`

  __device__ __forceinline__ unsigned char *buffer(int ahead) const {
    const int at = place + ahead;
    return buffers + (at < count ? at : at - count) * bytes;
  }
};

/// Calls load(n, buffer), then use(n, buffer), for panels n = 0 ... panels - 1. Towards the end it also calls next(n,
/// buffer) for the first `next_panels` panels of the following call of stream_panels(), so that their copies overlap
/// with work on the last panels. Barriers surround each use.
template <class Load, class Use, class Next>
__device__ __forceinline__ void stream_panels(PanelRing &ring, int panels, const Load &load, const Use &use,
                                              int next_panels, const Next &next) {
  const int most = ring.count - 1;
  for (int n = ring.under_way; n < most; ++n) {
    if (n < panels) load(n, ring.buffer(n));
    // Commits a group even if it is empty: the last `most` groups are then always those that are being copied.
    fragments::commit_copies();
  }
  int ahead = 0; // panels of the following call, already being copied
  for (int n = 0; n < panels; ++n) {
    const int coming = n + most;
    if (coming < panels) {
      load(coming, ring.buffer(most));
    } else if (coming - panels == ahead && ahead < next_panels) {
      next(ahead, ring.buffer(most));
      ++ahead;
    }
    fragments::commit_copies();
    wait_for_oldest(ring.count);
    __syncthreads();
    use(n, ring.buffer(0));
    __syncthreads();
    if (++ring.place == ring.count) ring.place = 0;
  }
  ring.under_way = ahead;
}
template <class Load, class Use>
__device__ __forceinline__ void stream_panels(PanelRing &ring, int panels, const Load &load, const Use &use) {
  stream_panels(ring, panels, load, use, 0, [](int, unsigned char *) {});
}

/// Copies a tile [rows][columns + 8] from rows `ld` apart. Elements past valid_rows or valid_columns become zeros.
/// Before the tile is read, the caller must wait for its copies and pass a barrier.
template <class Op, int rows, int columns, int threads, class Stored>
__device__ __forceinline__ void load_panel(const Stored *from, int ld, int valid_rows, int valid_columns,
                                           Element<Op> *to) {
  constexpr int pack = 16 / int(sizeof(Stored)), across = columns / pack;
  if constexpr (!std::is_same<Stored, Element<Op>>::value || threads % across != 0) {
    fragments::load_tile<Op, rows, columns, columns + 8, threads>(from, ld, valid_rows, valid_columns, to,
                                                                  int(threadIdx.x));
  } else {
    constexpr int down = threads / across;
    const int first = int(threadIdx.x) / across, column = int(threadIdx.x) % across * pack;
    const int valid = column < valid_columns ? valid_rows : 0;
    from += std::ptrdiff_t(first) * ld + column, to += first * (columns + 8) + column;
#pragma unroll
    for (int row = 0; row < rows; row += down, from += std::ptrdiff_t(down) * ld)
      if (rows % down == 0 || row + first < rows)
        fragments::copy_16(to + row * (columns + 8), from, row + first < valid); // reads nothing if not valid
  }
}

/// Writes two adjacent elements, of which the first has an even index.
template <class T> __device__ __forceinline__ void put_pair(T *to, float first, float second) {
  if constexpr (sizeof(T) == 2)
    *reinterpret_cast<std::uint32_t *>(to) = fragments::packed<T>(first, second);
  else
    *reinterpret_cast<float2 *>(to) = make_float2(first, second);
}

/// Writes results to rows `ld` apart, and skips results outside `rows` and `columns`. `columns` and `ld` are even.
template <class T, int columns_, int parts>
__device__ __forceinline__ void put_rows(const WarpPlace<parts> &at, const RowsOfSums<columns_, parts> &sum, T *to,
                                         int ld, int rows, int columns) {
  to += std::ptrdiff_t(at.row_of(0)) * ld + at.column(0, 0);
  const int left = columns - at.column(0, 0);
#pragma unroll
  for (int r = 0; r < 2; ++r, to += 8 * ld) {
    if (at.row_of(r) >= rows) continue;
#pragma unroll
    for (int j = 0; j < sum.groups; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        constexpr int apart = 16 * parts;
        if (apart * j + 8 * h >= left) continue;
        put_pair(to + apart * j + 8 * h, sum.x[j][h].x[2 * r], sum.x[j][h].x[2 * r + 1]);
      }
  }
}

/// Returns the inner products rows_t . sum_t over the thread's columns, for each of the thread's two rows t.
template <class T, int columns_, int parts>
__device__ __forceinline__ float2 dot_own(const WarpPlace<parts> &at, const RowsOfSums<columns_, parts> &sum,
                                          const T *rows, int width, int valid_rows) {
  rows += std::ptrdiff_t(at.row_of(0)) * width + at.column(0, 0);
  const int left = width - at.column(0, 0);
  float own[2] = {0, 0};
#pragma unroll
  for (int r = 0; r < 2; ++r, rows += 8 * width) {
    float2 two[sum.groups][2]; // all loads are issued before the first use, so that they overlap
#pragma unroll
    for (int j = 0; j < sum.groups; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        constexpr int apart = 16 * parts;
        two[j][h] =
            at.row_of(r) < valid_rows && apart * j + 8 * h < left ? load_pair(rows + apart * j + 8 * h) : float2{0, 0};
      }
#pragma unroll
    for (int j = 0; j < sum.groups; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) own[r] += two[j][h].x * sum.x[j][h].x[2 * r] + two[j][h].y * sum.x[j][h].x[2 * r + 1];
  }
  return {own[0], own[1]};
}

} // namespace recollect::chunked
#endif
