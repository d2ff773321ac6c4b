// SPDX-License-Identifier: Apache-2.0
#include "harness/device/product.hpp"
#include "harness/device/each_index.hpp"
#include "harness/device/tile.hpp"
#include <algorithm>

namespace recollect {
namespace {

template <class Real> struct Products {
  Matrices<Real> A, B, C;
  Real keep;
  int m = C.rows, n = C.columns, k = A.columns;
  size_t size() const { return size_t(m) * size_t(n); }
};

template <class Real> void by_rows(const Products<Real> &p) {
  constexpr int block = 64; // rows
  const int blocks = (p.m - 1) / block + 1;
  each_index(
      "product", size_t(p.C.count) * size_t(blocks),
      [=](size_t i) {
        const int s = int(i) / blocks, first = int(i) % blocks * block;
        tile::host::gemm<Real>(std::min(block, p.m - first), p.n, Real(1), {p.A[s].from(first, 0), p.B[s], p.k}, p.keep,
                               p.C.data + s * p.C.apart + std::ptrdiff_t(first) * p.n, p.n);
      },
      size_t(block) * size_t(p.n) * size_t(p.k) / 8); // some products take the time of one number read and written
}

/// On a GPU: a team multiplies a block of results over a piece of the sum, which is long unless there are few blocks.
/// Pieces are as long whatever the sum: zeros at its end change nothing.
template <class Real> struct Tile {
  static constexpr int side = 64, depth = sizeof(Real) == 4 ? 64 : 32, threads = 256;
  Products<Real> p;
  int length;   // of a piece
  Real *pieces; // [count,parts,m,n], or null: there is one

  Tile(const Products<Real> &p_) : p(p_), length(256 * std::max(1, down() * across() / 8)), pieces(nullptr) {}
  KOKKOS_FUNCTION int down() const { return (p.m - 1) / side + 1; }
  KOKKOS_FUNCTION int across() const { return (p.n - 1) / side + 1; }
  KOKKOS_FUNCTION int parts() const { return p.k > length ? (p.k - 1) / length + 1 : 1; }
  size_t units() const { return size_t(p.C.count) * size_t(parts()) * size_t(down()) * size_t(across()); }

  struct Room {
    Real *A[2], *B[2], *C;
  };
  KOKKOS_FUNCTION static Room room(Stack<Real> &stack) {
    const std::ptrdiff_t lying = side * tile::pitch<Real>(depth), standing = depth * tile::pitch<Real>(side),
                         operand = lying > standing ? lying : standing;
    Room room;
    for (int turn = 0; turn < 2; ++turn) room.A[turn] = stack.take(operand), room.B[turn] = stack.take(operand);
    room.C = stack.take(side * tile::pitch<Real>(side));
    return room;
  }
  static size_t scratch() {
    Stack<Real> stack;
    room(stack);
    return stack.used;
  }

  /// `rows` x `columns` of it from (i, j) on, in the order in which it lies.
  KOKKOS_FUNCTION static tile::Matrix<Real> staged(const Team &team, const tile::Matrix<Real> &whole, int i, int j,
                                                   int rows, int columns, Real *room) {
    const tile::Matrix<Real> part = whole.from(i, j);
    if (whole.column == 1) return tile::stage(team, rows, columns, part.data, part.row, room);
    const tile::Matrix<Real> lying = tile::stage(team, columns, rows, part.data, part.column, room);
    return tile::transposed(lying.data, lying.row);
  }

  KOKKOS_FUNCTION void operator()(const Team &all, size_t unit, Real *memory) const {
    const Precise<Math::exact> team(all);
    Stack<Real> stack{memory};
    const Room own = room(stack);
    const int blocks = down() * across(), block = int(unit % size_t(blocks)),
              part = int(unit / size_t(blocks)) % parts(), s = int(unit / size_t(blocks)) / parts(),
              i = block / across() * side, j = block % across() * side, rows = p.m - i < side ? p.m - i : side,
              columns = p.n - j < side ? p.n - j : side, begin = part * length,
              end = p.k - begin < length ? p.k : begin + length;
    const std::ptrdiff_t ld = tile::pitch<Real>(side);
    tile::Matrix<Real> a[2], b[2];
    const auto fetch = [&](int turn, int at) {
      const int deep = end - at < depth ? end - at : depth;
      a[turn] = staged(team, p.A[s], i, at, rows, deep, own.A[turn]);
      b[turn] = staged(team, p.B[s], at, j, deep, columns, own.B[turn]);
    };
    fetch(0, begin);
    for (int at = begin, turn = 0; at < end; at += depth, turn = 1 - turn) {
      team.barrier();
      if (at + depth < end) fetch(1 - turn, at + depth);
      tile::gemm(team, rows, columns, end - at < depth ? end - at : depth, Real(1), a[turn], b[turn], Real(at > begin),
                 own.C, ld);
    }
    team.barrier();
    Real *const C = pieces ? pieces + (size_t(s) * size_t(parts()) + size_t(part)) * size_t(p.m) * size_t(p.n)
                           : p.C.data + s * p.C.apart;
    const Real keep = pieces ? Real(0) : p.keep;
    each_cell(team, rows, columns, [&](int r, int c) {
      Real &to = C[std::ptrdiff_t(i + r) * p.n + j + c];
      const Real sum = begin < end ? own.C[r * ld + c] : Real(0);
      to = keep == 0 ? sum : keep * to + sum;
    });
  }
};

template <class Real> void by_tiles(Arena &arena, const Products<Real> &p) {
  Tile<Real> tile(p);
  const size_t mark = arena.mark(), size = p.size();
  const int parts = tile.parts();
  if (parts > 1) tile.pieces = arena.take<Real>(size_t(p.C.count) * size_t(parts) * size).data();
  run<Real>({"product", tile.units(), Tile<Real>::threads}, arena, Tile<Real>::scratch(), tile);
  if (const Real *const pieces = tile.pieces)
    each_of_groups(
        "product::pieces", size_t(p.C.count), size, KOKKOS_LAMBDA(size_t s, size_t i) {
          Real sum = 0;
          for (int part = 0; part < parts; ++part) sum += pieces[(s * size_t(parts) + size_t(part)) * size + i];
          Real &to = p.C.data[std::ptrdiff_t(s) * p.C.apart + std::ptrdiff_t(i)];
          to = p.keep == 0 ? sum : p.keep * to + sum;
        });
  arena.release(mark);
}

} // namespace

template <class Real>
void multiply(Arena &arena, const Matrices<Real> &A, const Matrices<Real> &B, Real keep, const Matrices<Real> &C) {
  if (C.rows == 0 || C.columns == 0) return;
  const Products<Real> all{A, B, C, keep};
  if constexpr (on_host)
    by_rows(all);
  else
    by_tiles(arena, all);
}

#define FOR(Real)                                                                                                      \
  template void multiply(Arena &, const Matrices<Real> &, const Matrices<Real> &, Real, const Matrices<Real> &)
FOR(float);
FOR(double);
#undef FOR

} // namespace recollect
