// SPDX-License-Identifier: Apache-2.0
// Attention's backward pass for CPUs: it computes every pair of a query and a key once. A thread takes a block of
// queries and loops over all keys that they see. It stores the weights of all these keys, so that a softmax needs no
// earlier pass, and it adds to the keys' gradients in the same loop. If there are few heads, N threads share one head,
// and each keeps separate sums for the gradients of keys and values. Thread n takes blocks n, n + N, ... of queries,
// which is about the same work for all under a causal mask. N depends only on the shape, so that results do not depend
// on the number of threads.
#pragma once
#include "variants/kernels/attention/block_gradient.hpp"
#include "variants/kernels/common/arrays.hpp"
#include <utility>

namespace recollect::variants {

/// Least number of work units of the launch. If there are fewer heads, several work units share a head, so that all
/// threads of a CPU finish at nearly the same time.
constexpr size_t enough_units = 16;

/// Each work unit takes a share of a head's blocks of queries. Where weights are normalised, the kernel's slope must be
/// the same for all pairs (`steady`).
template <class Number, class Kernel, class Gates> struct JointGradient {
  using Real = Number;
  BlockGradient<Real, Kernel> block;
  Columns<Real> keys, values; // transposed, where that is faster
  Rows<Real> dq, dk, dv;      // dk and dv of each share: [shares,heads,T,width]
  size_t heads;
  int shares;
  Gates gates; // one copy per share

  KOKKOS_FUNCTION std::ptrdiff_t ld() const { return dk.count; }
  KOKKOS_FUNCTION void operator()(const Team &team, size_t unit, Real *memory) const {
    const auto &loop = block.loop;
    const size_t head = unit % heads, share = unit / heads, own = share * heads + head;
    const int T = dq.count, D = dq.width, V = dv.width;
    const Gates gates = this->gates.copy(int(share), heads);
    Stack<Real> stack{memory};
    Real *const p = stack.take(size_t(loop.most_rows) * ld()), *const dz = stack.take(size_t(loop.most_rows) * ld());
    for (size_t i = 0; i < size_t(dk.count) * D; ++i) dk.at(own, 0)[i] = 0;
    for (size_t i = 0; i < size_t(dv.count) * V; ++i) dv.at(own, 0)[i] = 0;
    for (int at = int(share) * loop.most_rows; at < T; at += shares * loop.most_rows) {
      const Range rows{at, at + loop.most_rows < T ? at + loop.most_rows : T};
      const int seen = loop.mask == CausalMask::everything ? dk.count : rows.end;
      const tile::Matrix<Real> q = tile::rows<Real>(loop.queries.at(head, at), D),
                               d_o = tile::rows<Real>(block.d_o.at(head, at), V);
      each_block(seen, [&](Range keys) {
        Real *const weights = p + keys.begin, *const derivatives = dz + keys.begin;
        block.multiply(team, rows, keys,
                       {q, d_o, key_rows(head, keys), by_columns(this->keys, loop.keys, head, keys.begin),
                        by_columns(values, loop.values, head, keys.begin)},
                       weights, derivatives, ld());
        if (!loop.kernel.normalised()) block.weigh(team, head, rows, keys, weights, derivatives, ld());
      });
      if (loop.kernel.normalised()) soften(head, rows, seen, p, dz);
      each_block(seen, [&](Range keys) {
        const Real *const weights = p + keys.begin, *const derivatives = dz + keys.begin;
        gates.of_queries(team, head, rows, keys, derivatives, ld());
        gates.of_keys(team, head, rows, keys, derivatives, ld());
        tile::Product<Real> for_queries{tile::rows<Real>(derivatives, ld()), key_rows(head, keys), keys.size()};
        for_queries.given = block.seen(rows, keys);
        tile::gemm(team, rows.size(), D, Real(1), for_queries, tile::Product<Real>{}, Real(keys.begin > 0),
                   dq.at(head, at), D);
        tile::gemm(team, keys.size(), V, rows.size(), Real(1), tile::transposed<Real>(weights, ld()), d_o, Real(1),
                   dv.at(own, keys.begin), V);
        tile::gemm(team, keys.size(), D, rows.size(), Real(1), tile::transposed<Real>(derivatives, ld()), q, Real(1),
                   dk.at(own, keys.begin), D);
      });
    }
  }
  size_t scratch() const {
    Stack<Real> stack;
    for (int i = 0; i < 2; ++i) stack.take(size_t(block.loop.most_rows) * ld());
    return stack.used;
  }

private:
  tile::Matrix<Real> key_rows(size_t head, Range keys) const {
    return tile::rows<Real>(block.loop.keys.at(head, keys.begin), dk.width);
  }
  static tile::Matrix<Real> by_columns(const Columns<Real> &columns, const Rows<Real> &rows, size_t head, int begin) {
    if (columns.given()) return tile::rows<Real>(columns.at(head, begin), columns.block);
    return tile::transposed<Real>(rows.at(head, begin), rows.width);
  }
  template <class F> void each_block(int seen, const F &f) const {
    const int most = block.loop.most_keys;
    for (int begin = 0; begin < seen; begin += most) f(Range{begin, begin + most < seen ? begin + most : seen});
  }

  /// Turns z and dp of whole rows into p and dz, and saves the softmax statistics of the rows' queries.
  void soften(size_t head, Range rows, int seen, Real *all_p, Real *all_dz) const {
    const Kernel kappa = block.loop.kernel;
    const Real sink = Sink<Real, Kernel>::of(kappa);
    for (int r = 0; r < rows.size(); ++r) {
      const int t = rows.begin + r, n = block.seen(rows, {0, seen}).end(r, seen);
      Real *const p = all_p + r * ld(), *const dz = all_dz + r * ld();
      for (int i = n; i < seen; ++i) p[i] = dz[i] = 0;
      const Real highest = row_max<Real>(n, 0, 1, [=](int i) { return p[i] = kappa(head, t, i, p[i]); }),
                 peak = highest > sink ? highest : sink,
                 mass = row_exponentials(p, n, peak, 0, 1) + (is_sink(sink) ? math::exp(sink - peak) : Real(0));
      const bool any = mass > 0;
      const Real share = any ? 1 / mass : Real(0), read = any ? share * inner(p, dz, n) : Real(0),
                 slope = kappa.slope(head, t, t, Real(0), Real(0));
      for (int i = 0; i < n; ++i) p[i] *= share, dz[i] = slope * p[i] * (dz[i] - read);
      block.facts.normaliser.data()[head * dq.count + t] = log_mass(peak, mass);
      block.facts.read.data()[head * dq.count + t] = read;
    }
  }
  static Real inner(const Real *a, const Real *b, int n) {
    constexpr int bundle = 64 / sizeof(Real);
    Real sums[bundle] = {}, sum = 0;
    int i = 0;
    for (; i + bundle <= n; i += bundle)
      for (int l = 0; l < bundle; ++l) sums[l] += a[i + l] * b[i + l];
    for (; i < n; ++i) sum += a[i] * b[i];
    for (int l = 0; l < bundle; ++l) sum += sums[l];
    return sum;
  }
};

/// Sums dk and dv over the shares.
template <class Real> struct AddShares {
  Array<Real> from, to;
  int shares;
  KOKKOS_FUNCTION void operator()(size_t i) const {
    Real sum = 0;
    for (int share = 0; share < shares; ++share) sum += from(share * to.extent(0) + i);
    to(i) = sum;
  }
};

template <class Real, class Kernel, class Gates>
void joint_gradient(const std::string &label, const Call<Real> &call, const BlockGradient<Real, Kernel> &block,
                    Rows<Real> dq, Rows<Real> dk, Rows<Real> dv, const Gates &gates) {
  const size_t heads = call.shape.heads(), blocks = size_t((dq.count - 1) / block.loop.most_rows + 1),
               shares = std::min(blocks, (enough_units - 1) / heads + 1), mark = call.arena->mark();
  const auto shared = [&](const Rows<Real> &all) {
    return shares == 1 ? all : Rows<Real>{allocate(call, shares * all.data.extent(0)), all.count, all.width};
  };
  const auto columns = [&](const Rows<Real> &rows) {
    return columns_of(label, call, rows, block.loop.most_keys, int(blocks));
  };
  const JointGradient<Real, Kernel, Gates> joint{block,
                                                 columns(block.loop.keys),
                                                 columns(block.loop.values),
                                                 dq,
                                                 shared(dk),
                                                 shared(dv),
                                                 heads,
                                                 int(shares),
                                                 shares == 1 ? gates : gates.copies(call, int(shares))};
  run<Real>({label + "::pairs", heads * shares, 256, call.math}, *call.arena, joint.scratch(), joint);
  std::vector<std::pair<Array<Real>, Array<Real>>> sums{{joint.dk.data, dk.data}, {joint.dv.data, dv.data}};
  if constexpr (!std::is_same_v<Gates, NoGates>) sums.push_back({joint.gates.parts, gates.parts});
  for (const auto &[from, to] : sums)
    if (shares > 1) parallel_loop(label + "::shares", to.extent(0), AddShares<Real>{from, to, int(shares)});
  call.arena->release(mark);
}

} // namespace recollect::variants
