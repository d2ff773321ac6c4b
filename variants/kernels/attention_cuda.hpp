// SPDX-License-Identifier: Apache-2.0
// key_loop.hpp's loop on CUDA where rows are short: a warp takes 16 queries through the keys, and their weights never
// leave its registers, for a warp's results of one product lie as it takes the first operand of the next. Keys and
// values of the next block are on their way while those of one are worked on.
#pragma once
#ifdef __CUDACC__
#include "variants/kernels/key_loop.hpp"

namespace recollect::variants {

/// Products are exact where coarser ones may be, too: those took twice the time (BENCHMARKS.md).
template <class Number, class Kernel, class Finish> struct AttendInWarps {
  using Real = Number;
  using Unit = std::conditional_t<sizeof(Real) == 8, tile::cuda::Float64, tile::cuda::Exact>;
  static constexpr bool alone = sizeof(Real) == 8; // scratch of one team leaves no room for a second
  static constexpr int warps = alone ? 16 : 8, threads = 32 * warps, most_rows = warps * tile::cuda::height,
                       most_width = 64;
  static constexpr int most_keys = alone ? 32 : 64;
  static constexpr int read_keys = most_keys / 2; // at a time: their weights are 16 of a thread's 128 registers
  static constexpr int blocks_of_keys = read_keys / 8, blocks_of_values = most_width / 8;
  static constexpr int pitch = most_width + 4; // rows that a warp reads together begin in different banks
  KeyLoop<Real, Kernel> loop;
  Finish finish;

  bool suits() const {
    return loop.queries.width <= most_width && loop.values.width <= most_width &&
           launching::fits_on_chip<Real>(scratch());
  }

  struct Room {
    Real *q;           // [rows,pitch], at the end the sums
    Real *k[2], *v[2]; // [keys,pitch] of this block and the next
    Real *peak, *mass; // [rows]
  };
  KOKKOS_FUNCTION Room place(Stack<Real> &s) const {
    Room x;
    x.q = s.take(most_rows * pitch);
    for (Real *&k : x.k) k = s.take(most_keys * pitch);
    for (Real *&v : x.v) v = s.take(most_keys * pitch);
    x.peak = s.take(most_rows), x.mass = s.take(most_rows);
    return x;
  }
  size_t scratch() const {
    Stack<Real> stack;
    place(stack);
    finish.place(stack);
    return stack.used;
  }
  KOKKOS_FUNCTION int blocks() const { return (loop.queries.count - 1) / most_rows + 1; }
  /// Keys that query t sees.
  KOKKOS_FUNCTION int seen(int t) const {
    if (t >= loop.queries.count) return 0;
    return loop.sees == Sees::everything ? loop.keys.count : loop.sees == Sees::earlier ? t : t + 1;
  }

  KOKKOS_FUNCTION void operator()(const Team &team, size_t unit, Real *memory) const {
#if __CUDA_ARCH__ >= 800
    Stack<Real> stack{memory};
    const Room x = place(stack);
    const size_t head = unit / blocks();
    const int begin = (blocks() - 1 - int(unit % blocks())) * most_rows, T = loop.queries.count; // longest first
    const Range rows{begin, begin + most_rows < T ? begin + most_rows : T};
    for (int i = team.rank; i < x.peak - x.q; i += team.size) x.q[i] = 0; // past the widths
    team.barrier();
    tile::copy(team, rows.size(), loop.queries.width, loop.queries.at(head, begin), loop.queries.width, x.q, pitch);
    if (!in_registers(team, head, rows, x)) {
      one_by_one(*this, team, head, rows, x);
      team.barrier();
    }
    for (int row = 0; row < rows.size(); row += loop.most_rows) { // what ends a block has room for no more
      const int end = row + loop.most_rows < rows.size() ? row + loop.most_rows : rows.size();
      finish(team, head, {rows.begin + row, rows.begin + end}, x.q + row * pitch, pitch, x.peak + row, x.mass + row,
             stack);
      team.barrier();
    }
#else
    (void)team, (void)unit, (void)memory;
#endif
  }

#if __CUDA_ARCH__ >= 800
private:
  using Results = tile::cuda::Results<Real>;
  /// A warp's queries: lane / 4 and 8 further; columns that column_of says.
  struct Held {
    Results sum[blocks_of_values];
    Real peak[2], mass[2]; // mass: of the lane's own keys
  };

  __device__ void stage(const Team &team, size_t head, int first, Real *k, Real *v) const {
    const int left = loop.keys.count - first, n = left < most_keys ? left : most_keys, width = loop.values.width;
    tile::copy(team, n, loop.keys.width, loop.keys.at(head, first), loop.keys.width, k, pitch);
    tile::copy(team, n, width, loop.values.at(head, first), width, v, pitch);
    each_cell(team, most_keys - n, width, [=](int row, int c) { v[(n + row) * pitch + c] = 0; });
  }

  /// False where a mask hides what is not finite: zeros would not hide it from a product. A barrier ends it.
  __device__ __forceinline__ bool in_registers(const Team &team, size_t head, Range rows, const Room &x) const {
    const int lane = team.rank % 32, first = rows.begin + team.rank / 32 * tile::cuda::height;
    const int last = first + tile::cuda::height < rows.end ? first + tile::cuda::height - 1 : rows.end - 1;
    const int most_seen = first < rows.end ? seen(last) : 0, end = seen(rows.end - 1);
    Held held;
#pragma unroll
    for (int r = 0; r < 2; ++r) held.peak[r] = Kokkos::reduction_identity<Real>::max(), held.mass[r] = 0;
    stage(team, head, 0, x.k[0], x.v[0]);
    team.barrier();
    for (int key = 0, here = 0; key < end; key += most_keys, here = 1 - here) {
      if (key + most_keys > seen(rows.begin) && !finite(team, x.v[here])) return false;
      if (key + most_keys < end) stage(team, head, key + most_keys, x.k[1 - here], x.v[1 - here]);
      for (int some = 0; some < most_keys && key + some < most_seen; some += read_keys)
        read(head, first, key + some, lane, x.q + (first - rows.begin) * pitch, x.k[here] + some * pitch,
             x.v[here] + some * pitch, held);
      team.barrier();
    }
    keep(lane, first - rows.begin, held, x);
    team.barrier();
    return true;
  }

  /// Known to the whole team. Barriers inside.
  __device__ static bool finite(const Team &team, const Real *v) {
    bool all = true;
    for (int i = team.rank; i < most_keys * pitch; i += team.size) all = all && isfinite(v[i]);
    return __syncthreads_and(all);
  }

  /// read_keys of them.
  __device__ __forceinline__ void read(size_t head, int first, int key, int lane, const Real *q, const Real *k,
                                       const Real *v, Held &held) const {
    Results p[blocks_of_keys];
    const tile::Product<Real> scores{tile::rows(q, pitch), tile::transposed(k, pitch), most_width};
    tile::cuda::accumulate<Unit>(tile::cuda::Whole<Real, blocks_of_keys, true, true>(scores, 0, 0, 0, 0, lane),
                                 (loop.queries.width + 7) / 8 * 8, p);
#pragma unroll
    for (int r = 0; r < 2; ++r) weigh(head, first + lane / 4 + 8 * r, key + lane % 4 * 2, r, p, held);
#pragma unroll
    for (int c = 0; c < blocks_of_keys; ++c) {
      tile::cuda::Group<Real, blocks_of_values> group[1];
#pragma unroll
      for (int e = 0; e < 2; ++e)
#pragma unroll
        for (int r = 0; r < 2; ++r) group[0].a[r][e] = p[c].x[2 * r + e];
      tile::cuda::load_rows(v + (8 * c + lane % 4 * 2) * pitch + lane / 4 * 2, pitch, group[0]);
      Unit::add(group, held.sum);
    }
  }

  /// Scores of query t, the lane's keys first, first + 1, first + 8 ..., to weights.
  __device__ __forceinline__ void weigh(size_t head, int t, int first, int r, Results (&p)[blocks_of_keys],
                                        Held &held) const {
    const int end = seen(t);
    Real highest = held.peak[r];
#pragma unroll
    for (int c = 0; c < blocks_of_keys; ++c)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        Real &x = p[c].x[2 * r + e];
        const int i = first + 8 * c + e;
        x = i < end ? loop.kernel(head, t, i, x) : Real(0);
        if (i < end && x > highest) highest = x;
      }
    if (!loop.kernel.normalised()) return;
#pragma unroll
    for (int side = 1; side < 4; side *= 2) {
      const Real other = __shfl_xor_sync(0xffffffffu, highest, side);
      highest = other > highest ? other : highest;
    }
    const Real shrink = math::exp(held.peak[r] - highest);
    Real mass = 0;
#pragma unroll
    for (int c = 0; c < blocks_of_keys; ++c)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        Real &x = p[c].x[2 * r + e];
        x = first + 8 * c + e < end ? math::exp(x - highest) : Real(0);
        mass += x;
      }
    held.peak[r] = highest, held.mass[r] = held.mass[r] * shrink + mass;
#pragma unroll
    for (int j = 0; j < blocks_of_values; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) held.sum[j].x[2 * r + e] *= shrink;
  }

  __device__ void keep(int lane, int row, Held &held, const Room &x) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      Real mass = held.mass[r];
#pragma unroll
      for (int side = 1; side < 4; side *= 2) mass += __shfl_xor_sync(0xffffffffu, mass, side);
      const int at = row + lane / 4 + 8 * r;
      if (lane % 4 == 0) x.peak[at] = held.peak[r], x.mass[at] = loop.kernel.normalised() ? mass : Real(1);
#pragma unroll
      for (int j = 0; j < blocks_of_values; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) x.q[at * pitch + tile::cuda::column_of(j, lane) + 2 * e] = held.sum[j].x[2 * r + e];
    }
  }

  /// The same, key by key. By value, so that registers stay what they are where it is not called.
  __device__ __noinline__ static void one_by_one(AttendInWarps self, Team team, size_t head, Range rows, Room x) {
    const auto &loop = self.loop;
    const auto plus = [](Real a, Real b) { return a + b; };
    each_row(team, rows.size(), [&](int row, int lane, int side) {
      const int t = rows.begin + row, end = self.seen(t);
      Real *const q = x.q + row * pitch;
      Real peak = Kokkos::reduction_identity<Real>::max(), mass = loop.kernel.normalised() ? 0 : 1;
      Real sum[most_width / 32] = {};
      for (int i = 0; i < end; ++i) {
        const Real *const k = loop.keys.at(head, i), *const v = loop.values.at(head, i);
        Real z = 0;
        for (int c = lane; c < loop.queries.width; c += side) z += q[c] * k[c];
        Real weight = loop.kernel(head, t, i, across_row(z, plus));
        if (loop.kernel.normalised()) {
          const Real old = peak;
          peak = weight > old ? weight : old, weight = math::exp(weight - peak);
          const Real shrink = math::exp(old - peak);
          mass = mass * shrink + weight;
          for (Real &s : sum) s *= shrink;
        }
        for (int c = lane; c < loop.values.width; c += side) sum[c / side] += weight * v[c];
      }
      row_barrier(); // all have read q
      for (int c = lane; c < loop.values.width; c += side) q[c] = sum[c / side];
      if (lane == 0) x.peak[row] = peak, x.mass[row] = mass;
    });
  }
#endif
};

} // namespace recollect::variants
#endif
