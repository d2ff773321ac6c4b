// SPDX-License-Identifier: Apache-2.0
// Attention whose memory does not grow with T: a team takes a block of queries and loops over the keys, block by block.
//
//   z(t,i) = query_t . key_i
//   p(t,i) = kernel(head, t, i, z)                 0 where query t does not see key i
//   sum_t  = sum_i p(t,i) value_i
//
// If kernel.normalised() is true, the kernel returns logits l(t,i), and p(t,i) is their softmax over the keys i that
// query t sees. The softmax is computed online (Milakov and Gimelshein 2018): peak_t is the largest logit so far, and
// mass_t = sum_i exp(l(t,i) - peak_t). Whenever peak_t grows, mass_t and sum_t are rescaled. A kernel is a small
// functor:
//   KOKKOS_FUNCTION bool normalised() const;   make it static constexpr if known: fewer kernels are then compiled
//   KOKKOS_FUNCTION Real operator()(size_t head, int t, int i, Real z) const;
#pragma once
#include "harness/device/launch.hpp"
#include "harness/device/tile/tile.hpp"
#include "variants/kernels/attention/causal_mask.hpp"
#include "variants/kernels/common/arrays.hpp"

namespace recollect::variants {

/// `count` rows of `width` numbers for every head: [heads, count, width].
template <class Real> struct Rows {
  Array<Real> data;
  int count, width;
  KOKKOS_FUNCTION Real *at(size_t head, int row) const { return data.data() + (head * count + row) * width; }
};
template <class Real> Rows<Real> rows_of(const Array<Real> &data, const Shape &shape, int width) {
  return {data, shape.T, width};
}

struct Range {
  int begin, end;
  KOKKOS_FUNCTION int size() const { return end - begin; }
};

/// Rows transposed in blocks of `block` rows: [heads, blocks, width, block]. A product with a block's transpose then
/// reads memory in order. Without these copies, a CPU would transpose each block again for every block of queries.
template <class Real> struct Columns {
  Array<Real> data;
  int blocks = 0, width = 0, block = 0;
  KOKKOS_FUNCTION bool given() const { return blocks > 0; }
  /// The [width, block] matrix of the block that begins at this row.
  KOKKOS_FUNCTION Real *at(size_t head, int row) const {
    return data.data() + (head * blocks + row / block) * width * block;
  }
};

/// Transposes the rows. Each work unit of the launch takes one block.
template <class Number> struct LayColumns {
  using Real = Number;
  Rows<Real> from;
  Columns<Real> to;
  KOKKOS_FUNCTION void operator()(const Team &team, size_t unit, Real *) const {
    const size_t head = unit / to.blocks;
    const int begin = int(unit % to.blocks) * to.block, left = from.count - begin;
    tile::transpose(team, left < to.block ? left : to.block, from.width, from.at(head, begin), from.width,
                    to.at(head, begin), to.block);
  }
};

/// Transposes the rows on a CPU if at least four blocks of queries will read them; fewer would not save the time that
/// the transposition takes. Otherwise returns no columns.
template <class Real>
Columns<Real> columns_of(const std::string &label, const Call<Real> &call, const Rows<Real> &rows, int block,
                         int blocks_of_queries) {
  Columns<Real> columns;
  if constexpr (tile::in_registers<Real>)
    if (blocks_of_queries >= 4) {
      const int blocks = (rows.count - 1) / block + 1;
      const size_t units = call.shape.heads() * blocks;
      columns = {allocate(call, units * rows.width * block), blocks, rows.width, block};
      run<Real>({label + "::columns", units}, *call.arena, 0, LayColumns<Real>{rows, columns});
    }
  return columns;
}

/// The largest of p[0 ... n-1]. Called by the whole team; barriers inside.
template <class Real> KOKKOS_FUNCTION Real largest(const Team &team, int n, const Real *p) {
  return reduce(
      team, n, Kokkos::reduction_identity<Real>::max(), [=](int i) { return p[i]; },
      [](Real a, Real b) { return a > b ? a : b; });
}
/// Replaces p by exp(p - peak) and returns the sum. Called by the whole team; barriers inside.
template <class Real> KOKKOS_FUNCTION Real exponentiate(const Team &team, int n, Real peak, Real *p) {
  return reduce(
      team, n, Real(0), [=](int i) { return p[i] = math::exp(p[i] - peak); }, [](Real a, Real b) { return a + b; });
}

/// Replaces the logits p[0 ... n-1] of one query by their softmax. Called by the whole team; barriers inside.
template <class Real> KOKKOS_FUNCTION void soften(const Team &team, int n, Real *p) {
  const Real mass = exponentiate(team, n, largest(team, n, p), p);
  team.barrier();
  each(team, n, [=](int i) { p[i] = mass == 0 ? 0 : p[i] / mass; });
}

/// The largest of value(0) ... value(n-1), n > 0, computed by the `lanes` threads that share a row (each_row()).
template <class Real, class Value> KOKKOS_FUNCTION Real row_max(int n, int lane, int lanes, const Value &value) {
  constexpr int bundle = on_host ? 64 / sizeof(Real) : 1;
  const auto larger = [](Real a, Real b) { return a > b ? a : b; };
  Real best[bundle];
  // The maximum starts from max's identity, not from value(0), which may belong to another thread.
  for (int l = 0; l < bundle; ++l) best[l] = Kokkos::reduction_identity<Real>::max();
  int j = lane * bundle;
  for (; j + bundle <= n; j += lanes * bundle)
    for (int l = 0; l < bundle; ++l) best[l] = larger(value(j + l), best[l]);
  for (; j < n; ++j) best[0] = larger(value(j), best[0]); // remainder; none if bundle is 1
  for (int half = bundle / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) best[l] = larger(best[l], best[l + half]);
  return across_row(best[0], larger);
}
/// Replaces p by exp(p - peak) and returns the sum. Called by the `lanes` threads that share a row (each_row()).
template <class Real> KOKKOS_FUNCTION Real row_exponentials(Real *p, int n, Real peak, int lane, int lanes) {
  if constexpr (tile::in_registers<Real>) return tile::host::exponentiate(n, peak, p);
  Real sum = 0;
  for (int j = lane; j < n; j += lanes) sum += p[j] = math::exp(p[j] - peak);
  return across_row(sum, [](Real a, Real b) { return a + b; });
}

/// The logit of an attention sink, if the kernel has sink(). A sink takes a share of the softmax and contributes 0 to
/// the output. If the kernel has no sink(), of() returns the lowest finite number.
template <class Real, class Kernel, class = void> struct Sink {
  KOKKOS_FUNCTION static Real of(const Kernel &) { return Kokkos::reduction_identity<Real>::max(); }
};
template <class Real, class Kernel>
struct Sink<Real, Kernel, std::void_t<decltype(std::declval<const Kernel &>().sink())>> {
  KOKKOS_FUNCTION static Real of(const Kernel &kernel) { return kernel.sink(); }
};
template <class Real> KOKKOS_FUNCTION bool is_sink(Real logit) {
  return logit > Kokkos::reduction_identity<Real>::max();
}
template <class Real, class Kernel> bool has_sink(const Kernel &kernel) {
  return is_sink(Sink<Real, Kernel>::of(kernel));
}

/// Whether it is known at compile time that the kernel has no normaliser.
template <class Kernel, class = void> constexpr bool never_normalised = false;
template <class Kernel> constexpr bool never_normalised<Kernel, std::enable_if_t<!Kernel::normalised()>> = true;

/// Loops over the keys for one block of a head's queries.
template <class Number, class Kernel> struct OnlineSoftmax {
  using Real = Number;
  Kernel kernel;
  CausalMask mask;
  Rows<Real> queries, keys, values;
  int most_rows, most_keys;      // at most this many queries and keys per block
  Columns<Real> by_columns = {}; // transposed keys, or empty (columns_of())

  struct Buffers {
    Real *p;           // [rows,keys] scores, then weights
    Real *peak, *mass; // [rows]
    Real *q, *k, *v;   // buffers of queries, keys and values (tile::stage())
  };
  KOKKOS_FUNCTION Buffers place(Stack<Real> &s) const {
    return {s.take(most_rows * tile::pitch<Real>(most_keys)),
            s.take(most_rows),
            s.take(most_rows),
            tile::buffer(s, most_rows, queries.width),
            tile::buffer(s, most_keys, keys.width),
            tile::buffer(s, most_keys, values.width)};
  }

  /// Resets every row's running maximum, sum of weights and weighted sum of values. Ends with a barrier.
  KOKKOS_FUNCTION void begin(const Team &team, int rows, const Buffers &x, Real *sum, std::ptrdiff_t ld) const {
    const Real sink = Sink<Real, Kernel>::of(kernel), mass = Real(!kernel.normalised() || is_sink(sink));
    each_cell(team, rows, values.width, [=](int r, int c) { sum[r * ld + c] = 0; });
    each(team, rows, [=](int r) {
      x.peak[r] = sink; // finite, so that weights are 0 if all logits of a row are -infinity
      x.mass[r] = mass;
    });
    team.barrier();
  }

  /// Sets x.p [rows, keys] to the weights for one block of keys k [Dk, keys]. Updates x.peak and x.mass, and rescales
  /// the rows of `sum` whose maximum grows. Ends with a barrier.
  KOKKOS_FUNCTION void weigh(const Team &team, size_t head, Range rows, Range block, const tile::Matrix<Real> &q,
                             const tile::Matrix<Real> &k, const Buffers &x, Real *sum, std::ptrdiff_t lds) const {
    const int n = block.size(), first = rows.begin - block.begin, width = values.width;
    const std::ptrdiff_t ld = tile::pitch<Real>(most_keys);
    tile::Product<Real> scores{q, k, queries.width};
    if (mask != CausalMask::everything)
      scores.wanted = tile::Staircase{mask == CausalMask::earlier ? first : first + 1, 1};
    tile::gemm(team, rows.size(), n, Real(1), scores, tile::Product<Real>{}, Real(0), x.p, ld);
    team.barrier();
    const Kernel kappa = kernel;
    const tile::Staircase wanted = scores.wanted;
    each_row(team, rows.size(), [=](int r, int lane, int lanes) {
      Real *p = x.p + r * ld;
      const int seen = wanted.end(r, n), t = rows.begin + r;
      for (int j = seen + lane; j < n; j += lanes) p[j] = 0;
      const auto weight = [=](int j) { return p[j] = kappa(head, t, block.begin + j, p[j]); };
      if (!kappa.normalised()) {
        for (int j = lane; j < seen; j += lanes) weight(j);
        return;
      }
      if (seen == 0) return;
      const Real highest = row_max<Real>(seen, lane, lanes, weight), old = x.peak[r],
                 now = highest > old ? highest : old;
      const Real added = row_exponentials(p, seen, now, lane, lanes), shrink = math::exp(old - now);
      if (shrink != 1)
        for (int c = lane; c < width; c += lanes) sum[r * lds + c] *= shrink;
      row_barrier(); // all threads of the row have read x.peak[r]
      if (lane == 0) x.peak[r] = now, x.mass[r] = x.mass[r] * shrink + added;
    });
    team.barrier();
  }

  /// Returns a block's keys as columns, [Dk, keys]. The caller places a barrier before using these columns.
  KOKKOS_FUNCTION tile::Matrix<Real> key_columns(const Team &team, size_t head, Range block, Real *buffer) const {
    if (on_host && by_columns.given()) return tile::rows<Real>(by_columns.at(head, block.begin), by_columns.block);
    const auto k = tile::stage(team, block.size(), keys.width, keys.at(head, block.begin), keys.width, buffer);
    return tile::transposed(k.data, k.row);
  }

  /// For the queries `rows`, adds sum_i p(t,i) value_i over the keys i of `seen` to sum [rows, width of the values].
  /// Ends with a barrier.
  KOKKOS_FUNCTION void gather(const Team &team, size_t head, Range rows, Range seen, const Buffers &x, Real *sum,
                              std::ptrdiff_t lds) const {
    const auto q = tile::stage(team, rows.size(), queries.width, queries.at(head, rows.begin), queries.width, x.q);
    for (int begin = seen.begin; begin < seen.end; begin += most_keys) {
      const Range block{begin, begin + most_keys < seen.end ? begin + most_keys : seen.end};
      const auto k = key_columns(team, head, block, x.k);
      const auto v = tile::stage(team, block.size(), values.width, values.at(head, begin), values.width, x.v);
      team.barrier();
      weigh(team, head, rows, block, q, k, x, sum, lds);
      tile::Product<Real> read{tile::rows<Real>(x.p, tile::pitch<Real>(most_keys)), v, block.size()};
      if (mask != CausalMask::everything) read.given = tile::Staircase{rows.begin - begin + 1, 1};
      tile::gemm(team, rows.size(), values.width, Real(1), read, tile::Product<Real>{}, Real(1), sum, lds);
      team.barrier();
    }
  }
};

/// An OnlineSoftmax with block sizes derived from the chunk length. On a CPU, a block of weights has `chunk` queries
/// and twice as many keys, and fits in the first-level cache. On a GPU, it has as many keys as queries, and fits in
/// half of the shared memory.
template <class Real, class Kernel>
OnlineSoftmax<Real, Kernel> online_softmax(const Kernel &kernel, CausalMask mask, Rows<Real> queries, Rows<Real> keys,
                                           Rows<Real> values, int chunk) {
  const int rows = std::min(queries.count, on_host ? chunk : std::min(chunk, int(256 / sizeof(Real))));
  return {kernel, mask, queries, keys, values, rows, std::min(keys.count, on_host ? 2 * chunk : rows)};
}

} // namespace recollect::variants
