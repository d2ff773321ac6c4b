// SPDX-License-Identifier: Apache-2.0
// Loops over whole arrays, as small kernels of their own.
#pragma once
#include "harness/device/arena.hpp"
#include "harness/device/team.hpp"

namespace recollect {

/// f(i) for i < n, each on its own; `cost` is that of one i in numbers read and written. Few are done at once by the
/// thread that asks: on the host a parallel region costs microseconds.
template <class F> void each_index(const char *label, size_t n, const F &f, size_t cost = 1) {
  if constexpr (on_host)
    if (n * cost < size_t(1) << 14) {
      for (size_t i = 0; i < n; ++i) f(i);
      return;
    }
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Execution>(0, n), f);
}

/// f(group, i) for i < n of every group: on a GPU in one launch.
template <class F> struct OfGroups {
  F f;
  size_t group, n;
  KOKKOS_FUNCTION void operator()(size_t i) const {
    if constexpr (on_host)
      f(group, i);
    else
      f(i / n, i % n);
  }
};
template <class F> void each_of_groups(const char *label, size_t groups, size_t n, const F &f, size_t cost = 1) {
  if constexpr (on_host)
    for (size_t group = 0; group < groups; ++group) each_index(label, n, OfGroups<F>{f, group, n}, cost);
  else
    each_index(label, groups * n, OfGroups<F>{f, 0, n}, cost);
}

/// f(row, first, side): elements first, first + side ... of the row are the thread's own, and across_row joins what the
/// threads of a row found.
template <class F> struct OfRows {
  F f;
  static constexpr int side = on_host ? 1 : 32;
  KOKKOS_FUNCTION void operator()(size_t i) const { f(int(i / side), int(i % side), side); }
};
template <class F> void each_row(const char *label, int rows, int width, const F &f) {
  each_index(label, size_t(rows) * OfRows<F>::side, OfRows<F>{f}, size_t(width));
}

/// into[g * apart + j] += f(row, j) over the rows of group g, by blocks of rows whose sums are added in order: neither
/// the number of threads nor the other groups change anything.
template <class Real, class F> struct BlockSums {
  static constexpr int block = on_host ? 64 : 16; // a GPU's threads wait for every row that they add
  F f;
  int rows, width, blocks; // of a group
  Real *sums;              // [groups,blocks,width]
  KOKKOS_FUNCTION int begin(int b) const { return b / blocks * rows + b % blocks * block; }
  KOKKOS_FUNCTION int end(int b) const {
    const int last = (b / blocks + 1) * rows;
    return begin(b) + block < last ? begin(b) + block : last;
  }
  KOKKOS_FUNCTION void operator()(size_t i) const {
    if constexpr (on_host) { // a block, along its rows
      const int b = int(i);
      Real *const own = sums + size_t(b) * size_t(width);
      for (int j = 0; j < width; ++j) own[j] = 0;
      for (int row = begin(b), last = end(b); row < last; ++row)
        for (int j = 0; j < width; ++j) own[j] += f(row, j);
    } else { // one column of it
      const int b = int(i / size_t(width)), j = int(i % size_t(width)), first = begin(b), last = end(b);
      Real sum = 0;
      for (int place = 0; place < block; ++place)
        if (const int row = first + place; row < last) sum += f(row, j);
      sums[i] = sum;
    }
  }
};
template <class Real> struct AddBlocks {
  const Real *sums;
  Real *into;
  std::ptrdiff_t apart;
  int blocks, width;
  KOKKOS_FUNCTION void operator()(int row, int first, int side) const {
    const int group = row / width, j = row % width;
    const Real *const own = sums + size_t(group) * size_t(blocks) * size_t(width) + j;
    Real sum = 0;
    for (int b = first; b < blocks; b += side) sum += own[size_t(b) * size_t(width)];
    sum = across_row(sum, [](Real x, Real y) { return x + y; });
    if (first == 0) into[group * apart + j] += sum;
  }
};
template <class Real, class F>
void add_column_sums(Arena &arena, const char *label, int groups, int rows, int width, Real *into, std::ptrdiff_t apart,
                     const F &f) {
  using Sums = BlockSums<Real, F>;
  const int blocks = (rows - 1) / Sums::block + 1;
  const size_t mark = arena.mark(), all = size_t(groups) * size_t(blocks) * size_t(width);
  Real *const sums = arena.take<Real>(all).data();
  if constexpr (on_host)
    each_index(label, size_t(groups) * size_t(blocks), Sums{f, rows, width, blocks, sums},
               size_t(Sums::block) * size_t(width));
  else
    each_index(label, all, Sums{f, rows, width, blocks, sums});
  each_row(label, groups * width, blocks, AddBlocks<Real>{sums, into, apart, blocks, width});
  arena.release(mark);
}

} // namespace recollect
