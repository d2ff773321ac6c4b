// SPDX-License-Identifier: Apache-2.0
// A block of queries and keys in attention's backward pass: its weights, computed again, and the gradients of its
// products q_t . k_i.
//
//   dp_ti = do_t . v_i
//   p_ti = exp(l_ti) / mass_t,   dz_ti = slope_ti p_ti (dp_ti - do_t . o_t)     if weights are normalised
//   p_ti = l_ti,                 dz_ti = slope_ti dp_ti                         otherwise
//
// with l_ti the logit or unnormalised weight of z_ti = q_t . k_i, and slope_ti its derivative. A kernel has the methods
// in online_softmax.hpp and also these, where l is the value that the kernel's operator() returned for the pair:
//   KOKKOS_FUNCTION Real slope(size_t head, int t, int i, Real z, Real l) const;
//   static constexpr bool steady = true;   if the slope is the same for all pairs
// If logits also depend on gates, the object `gates` receives dz of every block and sums the gates' gradients from it
// (crossing_sums.hpp is an example). Threads that process different blocks concurrently get separate copies of `gates`.
#pragma once
#include "harness/device/device.hpp"
#include "variants/kernels/attention/online_softmax.hpp"

namespace recollect::variants {

/// Log of a softmax denominator, where `mass` is the sum of exp(logit - peak). 0 for a query that sees no key.
template <class Real> KOKKOS_FUNCTION Real log_mass(Real peak, Real mass) {
  return mass > 0 ? peak + math::log(mass) : Real(0);
}

/// Softmax statistics of the queries, which the backward pass needs if weights are normalised.
template <class Real> struct QueryFacts {
  Array<Real> normaliser; // [heads,T] log of the softmax denominator
  Array<Real> read;       // [heads,T] do_t . o_t
  /// Saves the statistics of query `at`; `along` is the sum over i of exp(logit - peak) do_t . v_i.
  KOKKOS_FUNCTION void leave(size_t at, Real peak, Real mass, Real along) const {
    normaliser.data()[at] = log_mass(peak, mass);
    read.data()[at] = mass > 0 ? along / mass : Real(0);
  }
};

/// p and dz of a block of queries and keys.
template <class Number, class Kernel> struct BlockGradient {
  using Real = Number;
  OnlineSoftmax<Real, Kernel> loop;
  Rows<Real> d_o;
  QueryFacts<Real> facts;

  struct Buffers {
    Real *p, *dz;          // [rows,keys]
    Real *q, *k, *v, *d_o; // buffers of the operands with these names (tile::stage())
  };
  KOKKOS_FUNCTION std::ptrdiff_t ld() const { return tile::pitch<Real>(loop.most_keys); }
  size_t scratch() const {
    Stack<Real> stack;
    place(stack);
    return stack.used;
  }
  KOKKOS_FUNCTION Buffers place(Stack<Real> &s) const {
    return {s.take(loop.most_rows * ld()),
            s.take(loop.most_rows * ld()),
            tile::buffer(s, loop.most_rows, loop.queries.width),
            tile::buffer(s, loop.most_keys, loop.keys.width),
            tile::buffer(s, loop.most_keys, loop.values.width),
            tile::buffer(s, loop.most_rows, d_o.width)};
  }
  struct Block {
    tile::Matrix<Real> q, d_o;
    tile::Matrix<Real> k;            // [keys, Dk]
    tile::Matrix<Real> k_by_columns; // [Dk, keys]
    tile::Matrix<Real> v_by_columns; // [Dv, keys]
  };
  KOKKOS_FUNCTION void stage_queries(const Team &team, size_t head, Range rows, const Buffers &x, Block &b) const {
    const int width = loop.queries.width;
    b.q = tile::stage(team, rows.size(), width, loop.queries.at(head, rows.begin), width, x.q);
    b.d_o = tile::stage(team, rows.size(), d_o.width, d_o.at(head, rows.begin), d_o.width, x.d_o);
  }
  KOKKOS_FUNCTION void stage_keys(const Team &team, size_t head, Range keys, const Buffers &x, Block &b) const {
    const int width = loop.keys.width, values = loop.values.width;
    b.k = tile::stage(team, keys.size(), width, loop.keys.at(head, keys.begin), width, x.k);
    b.k_by_columns = tile::transposed(b.k.data, b.k.row);
    const auto v = tile::stage(team, keys.size(), values, loop.values.at(head, keys.begin), values, x.v);
    b.v_by_columns = tile::transposed(v.data, v.row);
  }

  /// The causal mask of these rows and keys.
  KOKKOS_FUNCTION tile::Staircase seen(Range rows, Range keys) const {
    if (loop.mask == CausalMask::everything) return {};
    return {rows.begin - keys.begin + (loop.mask == CausalMask::earlier ? 0 : 1), 1};
  }

  /// Computes p and dz of a block. The caller places barriers before and after.
  KOKKOS_FUNCTION void weigh(const Team &team, size_t head, Range rows, Range keys, const Block &b,
                             const Buffers &x) const {
    multiply(team, rows, keys, b, x.p, x.dz, ld());
    team.barrier();
    weigh(team, head, rows, keys, x.p, x.dz, ld());
  }
  /// Computes z and dp of the visible pairs; their rows are `ld` numbers apart.
  KOKKOS_FUNCTION void multiply(const Team &team, Range rows, Range keys, const Block &b, Real *z, Real *dp,
                                std::ptrdiff_t ld) const {
    tile::Product<Real> scores{b.q, b.k_by_columns, loop.queries.width}, products{b.d_o, b.v_by_columns, d_o.width};
    scores.wanted = products.wanted = seen(rows, keys);
    tile::gemm(team, rows.size(), keys.size(), Real(1), scores, tile::Product<Real>{}, Real(0), z, ld);
    tile::gemm(team, rows.size(), keys.size(), Real(1), products, tile::Product<Real>{}, Real(0), dp, ld);
  }
  /// Turns z and dp into p and dz, and writes 0 for masked pairs. Reads the softmax statistics if weights are
  /// normalised.
  KOKKOS_FUNCTION void weigh(const Team &team, size_t head, Range rows, Range keys, Real *all_p, Real *all_dz,
                             std::ptrdiff_t ld) const {
    const int n = keys.size();
    const tile::Staircase seen = this->seen(rows, keys);
    const Kernel kappa = loop.kernel;
    const Real *normaliser = facts.normaliser.data() + head * loop.queries.count,
               *read = facts.read.data() + head * loop.queries.count;
    each_row(team, rows.size(), [=](int r, int lane, int lanes) {
      Real *p = all_p + r * ld, *dz = all_dz + r * ld;
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

template <class Kernel, class = void> struct Steady : std::false_type {};
template <class Kernel> struct Steady<Kernel, std::enable_if_t<Kernel::steady>> : std::true_type {};

struct NoGates {
  template <class Real> NoGates copies(const Call<Real> &, int) const { return {}; }
  KOKKOS_FUNCTION NoGates copy(int, size_t) const { return {}; }
  template <class Real>
  KOKKOS_FUNCTION void of_queries(const Team &, size_t, Range, Range, const Real *, std::ptrdiff_t) const {}
  template <class Real>
  KOKKOS_FUNCTION void of_keys(const Team &, size_t, Range, Range, const Real *, std::ptrdiff_t) const {}
};

} // namespace recollect::variants
