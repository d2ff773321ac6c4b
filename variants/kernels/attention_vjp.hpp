// SPDX-License-Identifier: Apache-2.0
// Gradients of attention.hpp's layers, by blocks of queries and keys and in memory linear in T (after Dao et al. 2022,
// arXiv:2205.14135, Appendix B): weights are computed anew from each query's normaliser, which a forward run leaves. With
// l_ti the logit or unnormalised weight of z_ti = q_t . k_i, and slope_ti its derivative:
//
//   dp_ti = do_t . v_i,   dz_ti = slope_ti p_ti (dp_ti - do_t . o_t)     normalised: p_ti = exp(l_ti) / mass_t
//                         dz_ti = slope_ti dp_ti                         not:        p_ti = l_ti
//   dq_t = sum_i dz_ti k_i,   dk_i = sum_t dz_ti q_t,   dv_i = sum_t p_ti do_t
//
// A block of queries gathers its normalisers, where there are any, then dq; a block of keys goes through the queries that
// see it for dk and dv.
// A kernel has besides, l being what it returned:
//   KOKKOS_FUNCTION Real slope(size_t head, int t, int i, Real z, Real l) const;
// Where logits depend on more than z, `gates` sees dz of every block, as CrossingSums does (crossing_sums.hpp).
#pragma once
#include "variants/kernels/arrays.hpp"
#include "variants/kernels/attention.hpp"

namespace recollect::variants {

/// What a query leaves for the way back, where weights are normalised.
template <class Real> struct QueryFacts {
  Array<Real> normaliser; // [heads,T] log of its mass of exponentials
  Array<Real> read;       // [heads,T] do_t . o_t
};

/// p and dz of a block of queries and keys.
template <class Number, class Kernel> struct BlockGradient {
  using Real = Number;
  KeyLoop<Real, Kernel> loop;
  Rows<Real> d_o;
  QueryFacts<Real> facts;

  struct Room {
    Real *p, *dz;          // [rows,keys]
    Real *q, *k, *v, *d_o; // rooms
  };
  KOKKOS_FUNCTION std::ptrdiff_t ld() const { return tile::pitch<Real>(loop.most_keys); }
  KOKKOS_FUNCTION Room place(Stack<Real> &s) const {
    return {s.take(loop.most_rows * ld()),
            s.take(loop.most_rows * ld()),
            tile::room(s, loop.most_rows, loop.queries.width),
            tile::room(s, loop.most_keys, loop.keys.width),
            tile::room(s, loop.most_keys, loop.values.width),
            tile::room(s, loop.most_rows, d_o.width)};
  }
  struct Block {
    tile::Matrix<Real> q, k, v, d_o;
  };
  KOKKOS_FUNCTION void stage_queries(const Team &team, size_t head, Range rows, const Room &x, Block &b) const {
    const int width = loop.queries.width;
    b.q = tile::stage(team, rows.size(), width, loop.queries.at(head, rows.begin), width, x.q);
    b.d_o = tile::stage(team, rows.size(), d_o.width, d_o.at(head, rows.begin), d_o.width, x.d_o);
  }
  KOKKOS_FUNCTION void stage_keys(const Team &team, size_t head, Range keys, const Room &x, Block &b) const {
    const int width = loop.keys.width, values = loop.values.width;
    b.k = tile::stage(team, keys.size(), width, loop.keys.at(head, keys.begin), width, x.k);
    b.v = tile::stage(team, keys.size(), values, loop.values.at(head, keys.begin), values, x.v);
  }

  /// Between barriers.
  KOKKOS_FUNCTION void weigh(const Team &team, size_t head, Range rows, Range keys, const Block &b,
                             const Room &x) const {
    const int n = keys.size(), first = rows.begin - keys.begin;
    const std::ptrdiff_t ld = this->ld();
    tile::Staircase seen{}; // all
    if (loop.sees != Sees::everything) seen = {loop.sees == Sees::earlier ? first : first + 1, 1};
    tile::Product<Real> scores{b.q, tile::transposed(b.k.data, b.k.row), loop.queries.width},
        products{b.d_o, tile::transposed(b.v.data, b.v.row), d_o.width};
    scores.wanted = products.wanted = seen;
    tile::gemm(team, rows.size(), n, Real(1), scores, tile::Product<Real>{}, Real(0), x.p, ld);
    tile::gemm(team, rows.size(), n, Real(1), products, tile::Product<Real>{}, Real(0), x.dz, ld);
    team.barrier();
    const Kernel kappa = loop.kernel;
    const Real *normaliser = facts.normaliser.data() + head * loop.queries.count,
               *read = facts.read.data() + head * loop.queries.count;
    each_row(team, rows.size(), [=](int r, int lane, int lanes) {
      Real *p = x.p + r * ld, *dz = x.dz + r * ld;
      const int end = seen.end(r, n), t = rows.begin + r;
      for (int j = end + lane; j < n; j += lanes) p[j] = dz[j] = 0;
      const bool normalised = kappa.normalised();
      const Real log_mass = normalised ? normaliser[t] : Real(0), mean = normalised ? read[t] : Real(0);
      for (int j = lane; j < end; j += lanes) {
        const int i = keys.begin + j;
        const Real z = p[j], l = kappa(head, t, i, z), slope = kappa.slope(head, t, i, z, l);
        if (normalised) {
          p[j] = math::exp(l - log_mass);
          dz[j] = slope * p[j] * (dz[j] - mean);
        } else {
          p[j] = l;
          dz[j] *= slope;
        }
      }
    });
  }
};

struct NoGates {
  template <class Real>
  KOKKOS_FUNCTION void of_queries(const Team &, size_t, Range, Range, const Real *, std::ptrdiff_t) const {}
  template <class Real>
  KOKKOS_FUNCTION void of_keys(const Team &, size_t, Range, Range, const Real *, std::ptrdiff_t) const {}
};

/// Ends a block of queries' way through the keys (attention.hpp): what they leave, and dq. Or is all of it.
template <class Real, class Kernel, class Gates = NoGates> struct QueryGradient {
  BlockGradient<Real, Kernel> block;
  Rows<Real> dq;
  Gates gates = {};
  void place(Stack<Real> &s) const { block.place(s); }
  KOKKOS_FUNCTION int blocks() const { return (dq.count - 1) / block.loop.most_rows + 1; }
  size_t scratch() const {
    Stack<Real> stack;
    place(stack);
    return stack.used;
  }

  KOKKOS_FUNCTION void operator()(const Team &team, size_t unit, Real *memory) const {
    const int most = block.loop.most_rows, begin = (blocks() - 1 - int(unit % blocks())) * most; // longest first
    gather(team, unit / blocks(), {begin, begin + most < dq.count ? begin + most : dq.count}, Stack<Real>{memory});
  }
  KOKKOS_FUNCTION void operator()(const Team &team, size_t head, Range rows, const Real *sum, std::ptrdiff_t ld,
                                  const Real *peak, const Real *mass, Stack<Real> stack) const {
    const auto &loop = block.loop;
    const int V = block.d_o.width;
    Real *normaliser = block.facts.normaliser.data() + head * loop.queries.count + rows.begin,
         *read = block.facts.read.data() + head * loop.queries.count + rows.begin;
    const Real *d_o = block.d_o.at(head, rows.begin);
    each_row(team, rows.size(), [=](int r, int lane, int lanes) {
      Real along = 0;
      for (int c = lane; c < V; c += lanes) along += d_o[size_t(r) * V + c] * sum[r * ld + c];
      along = across_row(along, [](Real a, Real b) { return a + b; });
      if (lane > 0) return;
      const bool any = mass[r] > 0;
      normaliser[r] = any ? peak[r] + math::log(mass[r]) : Real(0);
      read[r] = any ? along / mass[r] : Real(0);
    });
    gather(team, head, rows, stack); // whose first barrier is before it reads them
  }

private:
  KOKKOS_FUNCTION void gather(const Team &team, size_t head, Range rows, Stack<Real> stack) const {
    const auto &loop = block.loop;
    const auto room = block.place(stack);
    typename BlockGradient<Real, Kernel>::Block b;
    block.stage_queries(team, head, rows, room, b);
    const int end = loop.sees == Sees::everything ? loop.keys.count : rows.end, width = loop.queries.width;
    for (int begin = 0; begin < end; begin += loop.most_keys) {
      const Range keys{begin, begin + loop.most_keys < end ? begin + loop.most_keys : end};
      block.stage_keys(team, head, keys, room, b);
      team.barrier();
      block.weigh(team, head, rows, keys, b, room);
      team.barrier();
      gates.of_queries(team, head, rows, keys, room.dz, block.ld());
      tile::gemm(team, rows.size(), width, keys.size(), Real(1), tile::rows<Real>(room.dz, block.ld()), b.k,
                 Real(begin > 0), dq.at(head, rows.begin), width);
      team.barrier();
    }
  }
};

/// One block of keys a unit: dk and dv.
template <class Number, class Kernel, class Gates = NoGates> struct KeyGradient {
  using Real = Number;
  BlockGradient<Real, Kernel> block;
  Rows<Real> dk, dv;
  Gates gates = {};

  KOKKOS_FUNCTION int blocks() const { return (dk.count - 1) / block.loop.most_keys + 1; }
  KOKKOS_FUNCTION void operator()(const Team &team, size_t unit, Real *memory) const {
    const auto &loop = block.loop;
    Stack<Real> stack{memory};
    const auto room = block.place(stack);
    const size_t head = unit / blocks();
    const int begin = int(unit % blocks()) * loop.most_keys, T = loop.queries.count; // the first are seen most
    const Range keys{begin, begin + loop.most_keys < dk.count ? begin + loop.most_keys : dk.count};
    const int first = loop.sees == Sees::everything ? 0 : begin, D = dk.width, V = dv.width;
    typename BlockGradient<Real, Kernel>::Block b;
    block.stage_keys(team, head, keys, room, b);
    for (int at = first; at < T; at += loop.most_rows) {
      const Range rows{at, at + loop.most_rows < T ? at + loop.most_rows : T};
      block.stage_queries(team, head, rows, room, b);
      team.barrier();
      block.weigh(team, head, rows, keys, b, room);
      team.barrier();
      gates.of_keys(team, head, rows, keys, room.dz, block.ld());
      tile::gemm(team, keys.size(), V, rows.size(), Real(1), tile::transposed<Real>(room.p, block.ld()), b.d_o,
                 Real(at > first), dv.at(head, begin), V);
      tile::gemm(team, keys.size(), D, rows.size(), Real(1), tile::transposed<Real>(room.dz, block.ld()), b.q,
                 Real(at > first), dk.at(head, begin), D);
      team.barrier();
    }
  }
  size_t scratch() const {
    Stack<Real> stack;
    block.place(stack);
    return stack.used;
  }
};

/// Gradients of attend(back.call): writes back.d.q, back.d.k and back.d.v, and returns what queries left.
template <class Real, class Kernel, class Gates = NoGates>
QueryFacts<Real> attend_vjp(const std::string &label, const Pullback<Real> &back, const Kernel &kernel,
                            Sees sees = Sees::through_self, const Gates &gates = {}) {
  const Call<Real> &call = back.call;
  const Shape &s = call.shape;
  const auto loop =
      key_loop(kernel, sees, rows_of(call.q, s, s.Dk), rows_of(call.k, s, s.Dk), rows_of(call.v, s, s.Dv), call.chunk);
  const size_t kept = kernel.normalised() ? call.steps() : 0;
  const QueryFacts<Real> facts{allocate(call, kept), allocate(call, kept)};
  const BlockGradient<Real, Kernel> block{loop, rows_of(back.d.o, s, s.Dv), facts};
  const QueryGradient<Real, Kernel, Gates> queries{block, rows_of(back.d.q, s, s.Dk), gates};
  if (kernel.normalised())
    attend(label + "::queries", call, loop, queries);
  else
    run<Real>({label + "::queries", s.heads() * queries.blocks(), 256, call.math}, *call.arena, queries.scratch(),
              queries);
  const KeyGradient<Real, Kernel, Gates> keys{block, rows_of(back.d.k, s, s.Dk), rows_of(back.d.v, s, s.Dv), gates};
  run<Real>({label + "::keys", s.heads() * keys.blocks(), 256, call.math}, *call.arena, keys.scratch(), keys);
  return facts;
}

} // namespace recollect::variants
