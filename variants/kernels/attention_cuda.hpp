// SPDX-License-Identifier: Apache-2.0
// key_loop.hpp's loop on CUDA where rows are short: a warp takes some queries through the keys, and their weights never
// leave its registers, for a warp's results of one product lie as it takes the first operand of the next. Keys and
// values of the next block are on their way while those of one are worked on. How blocks lie on the chip and what
// multiplies them is the business of `Blocks`: attention_blocks_cuda.hpp.
#pragma once
#ifdef __CUDACC__
#include "variants/kernels/attention_blocks_cuda.hpp"

namespace recollect::variants {

/// Whether logits are products times a factor.
template <class Kernel, class = void> constexpr bool is_proportional = false;
template <class Kernel> constexpr bool is_proportional<Kernel, std::enable_if_t<Kernel::proportional>> = true;

template <class Number, class Kernel, class Finish, class Blocks> struct AttendInWarps {
  using Real = Number;
  using Block = typename Blocks::Block;
  static constexpr int warps = Blocks::warps, threads = 32 * warps, teams_at_once = Blocks::teams;
  static constexpr int tiles = Blocks::tiles; // of 16 queries, a warp's
  static constexpr int warp_rows = tiles * tile::cuda::height, most_rows = warps * warp_rows,
                       most_width = Blocks::most_width;
  static constexpr int most_keys = Blocks::keys, read_keys = Blocks::at_once, blocks_of_keys = read_keys / 8,
                       blocks_of_values = most_width / 8;
  static constexpr int pitch = most_width + 4; // rows that a warp reads together begin in different banks
  KeyLoop<Real, Kernel> loop;
  Finish finish;
  Blocks source; // of keys and values

  bool suits() const {
    return Execution().cuda_device_prop().major >= 8 && loop.queries.width <= most_width &&
           loop.values.width <= most_width && launching::fits_on_chip<Real>(scratch());
  }

  struct Room {
    Real *q;           // [rows,pitch], at the end the sums
    Block first;       // the next stands behind it
    Real *peak, *mass; // [rows]
    KOKKOS_FUNCTION Block block(int which) const { return {first.k + which * room, first.v + which * room}; }
  };
  static constexpr int room = 2 * Blocks::keys * Blocks::pitch; // of a block
  KOKKOS_FUNCTION Room place(Stack<Real> &s) const {
    Room x;
    x.q = s.take(most_rows * pitch);
    x.first.k = s.take(2 * room), x.first.v = x.first.k + room / 2;
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
  /// Of some heads, whose keys the cache holds, those that see most first: what comes last is short.
  KOKKOS_FUNCTION Range rows_at(size_t unit, size_t &head) const {
    constexpr int together = 1024; // units: a few for every team at work
    const int T = loop.queries.count, blocks = this->blocks(), group = together < blocks ? 1 : together / blocks;
    const size_t heads = loop.queries.data.extent(0) / (size_t(T) * loop.queries.width);
    const size_t first = unit / (size_t(group) * blocks) * group, left = heads - first;
    const int own = int(unit - first * blocks), across = left < size_t(group) ? int(left) : group;
    head = first + own % across;
    const int begin = (blocks - 1 - own / across) * most_rows;
    return {begin, begin + most_rows < T ? begin + most_rows : T};
  }
  /// Keys that query t sees.
  KOKKOS_FUNCTION int seen(int t) const {
    if (t >= loop.queries.count) return 0;
    return loop.sees == Sees::everything ? loop.keys.count : loop.sees == Sees::earlier ? t : t + 1;
  }

  KOKKOS_FUNCTION void operator()(const Team &team, size_t unit, Real *memory) const {
#if __CUDA_ARCH__ >= 800
    Stack<Real> stack{memory};
    const Room x = place(stack);
    size_t head;
    const Range rows = rows_at(unit, head);
    if (loop.queries.width < most_width || loop.values.width < most_width || rows.size() < most_rows) {
      for (int i = team.rank; i < x.peak - x.q; i += team.size) x.q[i] = 0; // past the widths
      team.barrier();
    }
    tile::copy(team, rows.size(), loop.queries.width, loop.queries.at(head, rows.begin), loop.queries.width, x.q,
               pitch);
    if (in_registers(team, head, rows, x)) {
      if (Blocks::rounds) return;
    } else {
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
    too_old(team, unit, memory);
#endif
  }

#if __CUDA_ARCH__ >= 800
private:
  using Results = tile::cuda::Results<Real>;
  static constexpr bool scaled = Blocks::rounds && is_proportional<Kernel>; // queries, before they are rounded
  __device__ Real factor() const {
    if constexpr (scaled) return loop.kernel.factor;
    return 1;
  }
  /// Of a tile's queries those of a lane: lane / 4 and 8 further; columns that Blocks::column says.
  struct Held {
    Results sum[blocks_of_values];
    Real peak[2], mass[2]; // mass: of the lane's own keys
  };

  /// False where a mask hides what is not finite: zeros would not hide it from a product. A barrier ends it.
  __device__ __forceinline__ bool in_registers(const Team &team, size_t head, Range rows, const Room &x) const {
    const int lane = team.rank % 32, first = rows.begin + team.rank / 32 * warp_rows;
    const int last = first + warp_rows < rows.end ? first + warp_rows - 1 : rows.end - 1;
    const int most_seen = first < rows.end ? seen(last) : 0, end = seen(rows.end - 1);
    Held held[tiles];
#pragma unroll
    for (Held &each : held)
#pragma unroll
      for (int r = 0; r < 2; ++r) each.peak[r] = Kokkos::reduction_identity<Real>::max(), each.mass[r] = 0;
    source.stage(team, loop, head, 0, x.block(0));
    team.barrier();
    const typename Blocks::Queries queries(x.q + (first - rows.begin) * pitch, pitch, lane, factor());
    for (int key = 0, here = 0; key < end; key += most_keys, here = 1 - here) {
      if (key + most_keys > seen(rows.begin) && !finite(team, x.block(here))) return false;
      if (key + most_keys < end) source.stage(team, loop, head, key + most_keys, x.block(1 - here));
      for (int some = 0; some < most_keys && key + some < most_seen; some += read_keys)
        read(head, first, last, key + some, lane, queries, x.block(here).from(some), held);
      team.barrier();
    }
#pragma unroll
    for (int i = 0; i < tiles; ++i) {
      const int row = first - rows.begin + i * tile::cuda::height;
      if constexpr (Blocks::rounds)
        write(lane, head, rows, row, held[i]);
      else
        keep(lane, row, held[i], x);
    }
    team.barrier();
    return true;
  }

  /// Known to the whole team. Barriers inside.
  __device__ static bool finite(const Team &team, const Block &block) { return __syncthreads_and(block.finite(team)); }

  /// read_keys of them, by queries first ... last.
  __device__ __forceinline__ void read(size_t head, int first, int last, int key, int lane,
                                       const typename Blocks::Queries &queries, const Block &block,
                                       Held (&held)[tiles]) const {
    Results p[tiles][blocks_of_keys];
    Blocks::score(queries, block, (loop.queries.width + 7) / 8 * 8, lane, p);
    const int t = first + lane / 4, own = key + lane % 4 * 2;
    if (Blocks::rounds && last == first + warp_rows - 1 && key + read_keys <= seen(first))
      weigh(
          head, t, own, [](int, int) { return true; }, p, held);
    else
      weigh(
          head, t, own, [this](int query, int i) { return i < seen(query); }, p, held);
    Blocks::add(block, lane, p, held);
  }

  /// Scores to weights: of queries first, first + 8 ..., the lane's, with its keys own, own + 1, own + 8 ..., those
  /// that count. Step by step for all rows at once: none waits for another's maximum.
  template <class Counts>
  __device__ __forceinline__ void weigh(size_t head, int first, int own, const Counts &counts,
                                        Results (&p)[tiles][blocks_of_keys], Held (&held)[tiles]) const {
    constexpr int lane_rows = 2 * tiles;
    Real highest[lane_rows];
#pragma unroll
    for (int row = 0; row < lane_rows; ++row) highest[row] = held[row / 2].peak[row % 2];
#pragma unroll
    for (int c = 0; c < blocks_of_keys; ++c)
#pragma unroll
      for (int e = 0; e < 2; ++e)
#pragma unroll
        for (int row = 0; row < lane_rows; ++row) { // innermost: what a row's maximum waits for is its own
          Real &x = p[row / 2][c].x[row % 2 * 2 + e];
          const int t = first + 8 * row, i = own + 8 * c + e;
          x = !counts(t, i) ? Real(0) : scaled ? x : loop.kernel(head, t, i, x);
          if (counts(t, i)) highest[row] = math::fmax(highest[row], x);
        }
    if (!loop.kernel.normalised()) return;
#pragma unroll
    for (int side = 1; side < 4; side *= 2)
#pragma unroll
      for (Real &own_highest : highest)
        own_highest = math::fmax(own_highest, __shfl_xor_sync(0xffffffffu, own_highest, side));
    Real shrink[lane_rows], mass[lane_rows] = {};
#pragma unroll
    for (int c = 0; c < blocks_of_keys; ++c)
#pragma unroll
      for (int e = 0; e < 2; ++e)
#pragma unroll
        for (int row = 0; row < lane_rows; ++row) {
          Real &x = p[row / 2][c].x[row % 2 * 2 + e];
          const typename Blocks::Exp exp(highest[row]);
          x = counts(first + 8 * row, own + 8 * c + e) ? exp(x) : Real(0);
          mass[row] += x;
        }
    bool same = true;
#pragma unroll
    for (int row = 0; row < lane_rows; ++row) {
      Real &peak = held[row / 2].peak[row % 2], &whole = held[row / 2].mass[row % 2];
      shrink[row] = typename Blocks::Exp(highest[row])(peak), same = same && shrink[row] == 1;
      peak = highest[row], whole = whole * shrink[row] + mass[row];
    }
    if (__all_sync(0xffffffffu, same)) return;
#pragma unroll
    for (int row = 0; row < lane_rows; ++row)
#pragma unroll
      for (int j = 0; j < blocks_of_values; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) held[row / 2].sum[j].x[row % 2 * 2 + e] *= shrink[row];
  }

  __device__ void keep(int lane, int row, const Held &held, const Room &x) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const Real mass = tile::cuda::across_four(held.mass[r]);
      const int at = row + lane / 4 + 8 * r;
      if (lane % 4 == 0) x.peak[at] = held.peak[r], x.mass[at] = loop.kernel.normalised() ? mass : Real(1);
#pragma unroll
      for (int j = 0; j < blocks_of_values; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) x.q[at * pitch + Blocks::column(j, lane, e)] = held.sum[j].x[2 * r + e];
    }
  }
  /// Outputs, from where sums are.
  __device__ void write(int lane, size_t head, Range rows, int row, const Held &held) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const Real mass = loop.kernel.normalised() ? tile::cuda::across_four(held.mass[r]) : Real(1);
      const int t = rows.begin + row + lane / 4 + 8 * r;
      if (t >= rows.end) continue;
#pragma unroll
      for (int j = 0; j < blocks_of_values; ++j)
        finish.put(head, t, Blocks::column(j, lane, 0), held.sum[j].x[2 * r], held.sum[j].x[2 * r + 1], mass);
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

/// Whether sums of rounded products may end in it: outputs may, parts of gradients are exact.
template <class Finish, class = void> constexpr bool takes_rounded = false;
template <class Finish> constexpr bool takes_rounded<Finish, std::enable_if_t<Finish::takes_rounded>> = true;

/// Whether the rows are short enough, and then every query through its keys.
template <class Real, class Kernel, class Finish>
bool attend_in_warps(const std::string &label, const Call<Real> &call, const KeyLoop<Real, Kernel> &loop,
                     const Finish &finish) {
  const auto start = [&](const auto &kernel) {
    run<Real>({label, call.shape.heads() * kernel.blocks(), kernel.threads, call.math}, *call.arena, kernel.scratch(),
              kernel);
  };
  if constexpr (sizeof(Real) == 4 && takes_rounded<Finish>)
    if (call.math == Math::bf16) {
      AttendInWarps<Real, Kernel, Finish, RoundedBlocks> rounding{loop, finish, {}};
      if (!rounding.suits()) return false;
      const size_t mark = call.arena->mark();
      rounding.source = {rounded(label, call, loop.keys), rounded(label, call, loop.values)};
      start(rounding);
      call.arena->release(mark);
      return true;
    }
  const AttendInWarps<Real, Kernel, Finish, PlainBlocks<Real>> plain{loop, finish, {}};
  const bool suits = plain.suits();
  if (suits) start(plain);
  return suits;
}

} // namespace recollect::variants
#endif
