// SPDX-License-Identifier: Apache-2.0
// Loops over whole arrays. Each loop is a kernel of its own.
#pragma once
#include "harness/device/arena.hpp"
#include "harness/device/team.hpp"

namespace recollect {

/// Calls f(i) for i < n, in any order. `cost` says how many numbers one call reads and writes. On a CPU, a
/// small loop runs on the calling thread, because a parallel region costs microseconds.
template <class F> void each_index(const char *label, size_t n, const F &f, size_t cost = 1) {
  if constexpr (on_host)
    if (n * cost < size_t(1) << 14) {
      for (size_t i = 0; i < n; ++i) f(i);
      return;
    }
  parallel_loop(label, n, f);
}

/// Copies numbers from one storage type to another.
template <class To, class From> struct Convert {
  Array<To> to;
  Array<From> from;
  KOKKOS_FUNCTION void operator()(size_t i) const { to(i) = To(float(from(i))); }
};
template <class To, class From> void convert(const Array<To> &to, const Array<From> &from) {
  each_index("convert", to.extent(0), Convert<To, From>{to, from});
}

/// Calls f(row, first, side) for every row on `side` threads, first = 0 ... side - 1. Each thread handles the elements
/// first, first + side, ... of the row. across_row() combines the results of the row's threads.
template <class F> struct OfRows {
  F f;
  static constexpr int side = on_host ? 1 : 32;
  KOKKOS_FUNCTION void operator()(size_t i) const { f(int(i / side), int(i % side), side); }
};
template <class F> void each_row(const char *label, int rows, int width, const F &f) {
  each_index(label, size_t(rows) * OfRows<F>::side, OfRows<F>{f}, size_t(width));
}

/// The first step of add_column_sums(), which adds f(0, j) + ... + f(rows - 1, j) to into[j] for every j < width. This
/// step sums f over each block of rows. The second step, AddBlocks, adds the sums of the blocks in a fixed order, so
/// that the result does not depend on the number of threads.
template <class Real, class F> struct BlockSums {
  static constexpr int block = on_host ? 64 : 16; // rows per block; a thread adds them one after the other
  F f;
  int rows, width;
  Real *sums; // [blocks,width]
  KOKKOS_FUNCTION int end(int b) const { return (b + 1) * block < rows ? (b + 1) * block : rows; }
  KOKKOS_FUNCTION void operator()(size_t i) const {
    if constexpr (on_host) { // index i is a block, which is summed row by row
      const int b = int(i);
      Real *const own = sums + size_t(b) * size_t(width);
      for (int j = 0; j < width; ++j) own[j] = 0;
      for (int row = b * block; row < end(b); ++row)
        for (int j = 0; j < width; ++j) own[j] += f(row, j);
    } else { // index i is one column of a block
      const int b = int(i / size_t(width)), j = int(i % size_t(width));
      Real sum = 0;
      for (int place = 0; place < block; ++place)
        if (const int row = b * block + place; row < rows) sum += f(row, j);
      sums[i] = sum;
    }
  }
};
template <class Real, class Into> struct AddBlocks {
  const Real *sums;
  Into into;
  int blocks, width;
  KOKKOS_FUNCTION void operator()(int j, int first, int side) const {
    Real sum = 0;
    for (int b = first; b < blocks; b += side) sum += sums[size_t(b) * size_t(width) + size_t(j)];
    sum = across_row(sum, [](Real x, Real y) { return x + y; });
    if (first == 0) into[j] += sum;
  }
};
/// Two rows of `width` numbers, indexed as one row of 2 width numbers.
template <class Real> struct TwoRows {
  Real *first, *second;
  int width;
  KOKKOS_FUNCTION Real &operator[](int j) const { return j < width ? first[j] : second[j - width]; }
};
template <class Real, class F, class Into>
void add_column_sums(Arena &arena, const char *label, int rows, int width, const Into &into, const F &f) {
  using Sums = BlockSums<Real, F>;
  const int blocks = (rows - 1) / Sums::block + 1;
  const size_t mark = arena.mark(), all = size_t(blocks) * size_t(width);
  Real *const sums = arena.take<Real>(all).data();
  if constexpr (on_host)
    each_index(label, size_t(blocks), Sums{f, rows, width, sums}, size_t(Sums::block) * size_t(width));
  else
    each_index(label, all, Sums{f, rows, width, sums});
  each_row(label, width, blocks, AddBlocks<Real, Into>{sums, into, blocks, width});
  arena.release(mark);
}

} // namespace recollect
