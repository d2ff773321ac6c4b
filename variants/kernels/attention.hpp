// SPDX-License-Identifier: Apache-2.0
// Layers whose every query looks at every key, in O(T * tile) memory: one tile of queries x keys at a time.
//
//   z(t,i) = query_t . key_i                       a matrix product (BLAS)
//   p(t,i) = kernel(head, t, i, z)                 elementwise; 0 where query t does not see key i
//   sum_t  = sum_i p(t,i) value_i                  a matrix product (BLAS)
//
// A kernel that says normalised() returns a logit, and p is its softmax over the keys seen. The normaliser is gathered
// online (Milakov and Gimelshein 2018): with peak_t the largest logit so far, mass_t = sum_i exp(logit - peak_t) and
// sum_t are rescaled whenever the peak grows. A kernel is a small functor
//   KOKKOS_FUNCTION bool normalised() const;
//   KOKKOS_FUNCTION Real operator()(size_t head, int t, int i, Real z) const;
#pragma once
#include "harness/device/device.hpp"
#include <KokkosBlas3_gemm.hpp>
#include <algorithm>

namespace recollect::variants {

/// The keys that query t sees: i < t, i <= t, or all of them.
enum class Sees { earlier, through_self, everything };

/// Rows of one kind for all heads: [heads, count, width].
template <class Real> struct Rows {
  Array<Real> data;
  int count, width;
  Real *at(size_t head, int row) const { return data.data() + (head * count + row) * width; }
};
template <class Real> Rows<Real> rows_of(const Array<Real> &data, const Shape &shape, int width) {
  return {data, shape.T, width};
}

/// C[m,n] = beta C + alpha A[m,k] op(B), all contiguous; op(B) is B[k,n], or B[n,k]^T for "T".
template <class Real>
void product(const char op[], int m, int n, int k, Real alpha, const Real *A, const Real *B, Real beta, Real *C) {
  using In = Kokkos::View<const Real **, Kokkos::LayoutRight, Execution, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Out = Kokkos::View<Real **, Kokkos::LayoutRight, Execution, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const bool transposed = op[0] == 'T';
  KokkosBlas::gemm("N", op, alpha, In(A, m, k), transposed ? In(B, n, k) : In(B, k, n), beta, Out(C, m, n));
}

struct Range {
  int begin, end;
  int size() const { return end - begin; }
};

/// The largest of p[0 ... n-1]. Called by the whole team; barriers inside.
template <class Real> KOKKOS_FUNCTION Real largest(const Team &team, int n, const Real *p) {
  return reduce(
      team, n, Kokkos::reduction_identity<Real>::max(), [=](int i) { return p[i]; },
      [](Real a, Real b) { return a > b ? a : b; });
}
/// p = exp(p - peak), and its sum. Called by the whole team; barriers inside.
template <class Real> KOKKOS_FUNCTION Real exponentiate(const Team &team, int n, Real peak, Real *p) {
  return reduce(
      team, n, Real(0), [=](int i) { return p[i] = math::exp(p[i] - peak); }, [](Real a, Real b) { return a + b; });
}

/// Logits p[0 ... n-1] of one query to its softmax. Called by the whole team; barriers inside.
template <class Real> KOKKOS_FUNCTION void soften(const Team &team, int n, Real *p) {
  const Real mass = exponentiate(team, n, largest(team, n, p), p);
  team.barrier();
  each(team, n, [=](int i) { p[i] = mass == 0 ? 0 : p[i] / mass; });
}

/// One row of a tile: scores to weights, and the row's normaliser brought up to date.
template <class Real, class Kernel> struct Weigh {
  Kernel kernel;
  Sees sees;
  size_t head; // first of the group
  Range rows, keys;
  int stride, width; // rows between two heads of the group in sum, peak and mass; columns of sum
  Real *scores, *sum, *peak, *mass;

  KOKKOS_FUNCTION void operator()(const Team &team, size_t unit, Real *) const {
    const int height = rows.end - rows.begin, n = keys.end - keys.begin;
    const int g = int(unit / height), r = int(unit % height), t = rows.begin + r, first = keys.begin;
    const size_t slot = size_t(g) * stride + r, this_head = head + g;
    Real *p = scores + unit * n;
    const int limit = sees == Sees::everything ? n : (sees == Sees::earlier ? t : t + 1) - first;
    const int seen = limit < 0 ? 0 : limit < n ? limit : n;
    const Kernel kappa = kernel;
    each(team, seen, [&](int j) { p[j] = kappa(this_head, t, first + j, p[j]); });
    each(team, n - seen, [=](int j) { p[seen + j] = 0; });
    if (!kernel.normalised() || seen == 0) return;
    team.barrier();
    const Real highest = largest(team, seen, p), old = peak[slot], now = highest > old ? highest : old;
    const Real added = exponentiate(team, seen, now, p);
    const Real shrink = math::exp(old - now);
    Real *row_sum = sum + slot * width;
    each(team, width, [=](int c) { row_sum[c] *= shrink; });
    team.barrier(); // peak[slot] is read by all before it is replaced
    once(team, [=] {
      peak[slot] = now;
      mass[slot] = mass[slot] * shrink + added;
    });
  }
};

template <class Real> struct Divide {
  int rows, stride, width, count;
  const Real *sum, *mass;
  Real *out; // first row of the group's first head; `count` rows a head
  KOKKOS_FUNCTION void operator()(int i) const {
    const int g = i / (rows * width), r = i / width % rows, c = i % width;
    const size_t slot = size_t(g) * stride + r;
    out[(size_t(g) * count + r) * width + c] =
        mass[slot] == 0 ? Real(0) : sum[slot * width + c] / mass[slot]; // nothing seen: 0
  }
};

/// The tiles of one layer. Heads are taken in groups, so that many small heads share each elementwise kernel.
template <class Real, class Kernel> class Attention {
public:
  Attention(std::string label, const Kernel &kernel, Sees sees, Rows<Real> queries, Rows<Real> keys, Rows<Real> values,
            size_t heads, int chunk)
      : tile_rows(std::min({8 * std::min(chunk, 64), queries.count})),
        tile_keys(std::min({16 * std::min(chunk, 64), keys.count})), label_(std::move(label)), kernel_(kernel),
        sees_(sees), queries_(queries), keys_(keys), values_(values), heads_(heads) {
    tile_rows = std::max(tile_rows, std::min(chunk, queries.count)); // a chunk is never cut
    tile_keys = std::max(tile_keys, std::min(chunk, keys.count));
    constexpr size_t budget = size_t(1) << 20; // numbers held at once
    group_ = std::clamp<size_t>(budget / (size_t(tile_rows) * (tile_keys + values.width)), 1, heads);
    scores_ = Array<Real>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label_ + "::scores"),
                          group_ * tile_rows * tile_keys);
    sum_ = Array<Real>(label_ + "::sum", group_ * tile_rows * values.width);
    peak_ = Array<Real>(label_ + "::peak", group_ * tile_rows);
    mass_ = Array<Real>(label_ + "::mass", group_ * tile_rows);
  }

  int tile_rows, tile_keys; // queries and keys of one tile
  size_t group() const { return group_; }

  /// body(first head, heads) for every group.
  template <class Body> void each_group(const Body &body) {
    for (size_t first = 0; first < heads_; first += group_) body(first, std::min(group_, heads_ - first));
  }

  /// These queries of these heads have seen nothing yet. At most tile_rows of them.
  void begin(size_t head, size_t heads, Range rows) {
    head_ = head, now_ = heads, begin_ = rows.begin;
    Kokkos::deep_copy(sum_, Real(0));
    Kokkos::deep_copy(peak_, std::numeric_limits<Real>::lowest()); // finite: a row of logits -infinity weighs 0
    Kokkos::deep_copy(mass_, Real(kernel_.normalised() ? 0 : 1));
  }

  /// The weights of one tile into scores(): [heads, rows, keys]. At most tile_keys keys.
  void weigh(Range rows, Range keys) {
    const int width = queries_.width;
    for (size_t g = 0; g < now_; ++g)
      product("T", rows.size(), keys.size(), width, Real(1), queries_.at(head_ + g, rows.begin),
              keys_.at(head_ + g, keys.begin), Real(0), scores(g, rows, keys));
    Arena none;
    run<Real>({label_, now_ * rows.size()}, none, 0,
              Weigh<Real, Kernel>{kernel_, sees_, head_, rows, keys, tile_rows, values_.width, scores_.data(),
                                  sum(0, rows), peak(0, rows), mass(0, rows)});
  }

  /// Adds what the queries `rows` read at `keys`, tile by tile.
  void gather(Range rows, Range keys) {
    for (int key = keys.begin; key < keys.end; key += tile_keys) {
      const Range tile{key, std::min(key + tile_keys, keys.end)};
      weigh(rows, tile);
      for (size_t g = 0; g < now_; ++g)
        product("N", rows.size(), values_.width, tile.size(), Real(1), scores(g, rows, tile),
                values_.at(head_ + g, tile.begin), Real(1), sum(g, rows));
    }
  }

  /// out_t = sum_t / mass_t.
  void finish(Range rows, const Rows<Real> &out) {
    Kokkos::parallel_for(label_ + "::finish", Kokkos::RangePolicy<Execution>(0, int(now_) * rows.size() * out.width),
                         Divide<Real>{rows.size(), tile_rows, out.width, out.count, sum(0, rows), mass(0, rows),
                                      out.at(head_, rows.begin)});
  }

  Real *scores(size_t g, Range rows, Range keys) const { return scores_.data() + g * rows.size() * keys.size(); }
  Real *sum(size_t g, Range rows) const { return sum_.data() + (g * tile_rows + rows.begin - begin_) * values_.width; }
  Real *peak(size_t g, Range rows) const { return peak_.data() + g * tile_rows + rows.begin - begin_; }
  Real *mass(size_t g, Range rows) const { return mass_.data() + g * tile_rows + rows.begin - begin_; }

private:
  std::string label_;
  Kernel kernel_;
  Sees sees_;
  Rows<Real> queries_, keys_, values_;
  size_t heads_, group_, head_ = 0, now_ = 0;
  int begin_ = 0;
  Array<Real> scores_, sum_, peak_, mass_;
};

/// o_t = sum over the keys seen of p(t,i) values_i, tile by tile. `chunk` C sets the tile: up to 8 C queries by 16 C
/// keys.
template <class Real, class Kernel>
void attend(const std::string &label, const Kernel &kernel, Sees sees, Rows<Real> queries, Rows<Real> keys,
            Rows<Real> values, Rows<Real> out, size_t heads, int chunk) {
  Attention<Real, Kernel> tiles(label, kernel, sees, queries, keys, values, heads, chunk);
  tiles.each_group([&](size_t head, size_t count) {
    for (int t = 0; t < queries.count; t += tiles.tile_rows) {
      const Range rows{t, std::min(t + tiles.tile_rows, queries.count)};
      tiles.begin(head, count, rows);
      tiles.gather(rows, {0, sees == Sees::everything ? keys.count : rows.end});
      tiles.finish(rows, out);
    }
  });
}

template <class Real, class Kernel>
void attend(const std::string &label, const Call<Real> &call, const Kernel &kernel, Sees sees = Sees::through_self) {
  const Shape &s = call.shape;
  attend(label, kernel, sees, rows_of(call.q, s, s.Dk), rows_of(call.k, s, s.Dk), rows_of(call.v, s, s.Dv),
         rows_of(call.o, s, s.Dv), s.heads(), call.chunk);
}

/// The same as a plain loop over the queries: the definition.
template <class Real, class Kernel> struct OneQueryAtATime {
  Kernel kernel;
  Sees sees;
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const Kernel kappa = kernel;
    Real *p = h.work;
    for (int t = 0; t < h.T; ++t) {
      const int seen = sees == Sees::everything ? h.T : sees == Sees::earlier ? t : t + 1;
      each(team, seen, [=](int i) { p[i] = kappa(h.index, t, i, dot(h.k(i), h.q(t), h.Dk)); });
      team.barrier();
      if (kernel.normalised()) soften(team, seen, p);
      team.barrier();
      each(team, h.Dv, [=](int c) {
        Real sum = 0;
        for (int i = 0; i < seen; ++i) sum += p[i] * h.v(i)[c];
        h.o(t)[c] = sum;
      });
      team.barrier();
    }
  }
};

template <class Real, class Kernel>
void attend_one_by_one(const std::string &label, const Call<Real> &call, const Kernel &kernel,
                       Sees sees = Sees::through_self) {
  each_head(label, call, call.shape.T, OneQueryAtATime<Real, Kernel>{kernel, sees});
}

/// What the descriptors of all such layers share.
inline Variant attention_variant() {
  Variant v;
  v.family = "nonparametric";
  v.cost = "2 t (Dk + Dv) flops, t exponentials";
  v.state_shape = [](const Shape &, const Params &) { return StateShape{}; };
  v.traits.order_invariant = true;
  return v;
}

} // namespace recollect::variants
