// SPDX-License-Identifier: Apache-2.0
// State passing of the delta family (delta_rule.hpp): advances the state S [F,V] by a chunk of N writes. The backward
// pass passes the state's gradient back in the same way (delta_rule_backward.hpp):
//
//   E <- solve(E + sign A S),   S <- D S + added - sign B^T E
//
// A and B are [N,F], E is [N,V], D is diagonal, and sign is 1 or -1. Columns of V are independent and may be divided
// among teams. On a GPU the state stays in a team's scratch memory from chunk to chunk; meanwhile the matrices of the
// next chunk are copied to a second buffer.
#pragma once
#include "harness/device/chunk.hpp"
#include "harness/device/tile/tile.hpp"

namespace recollect::variants {

template <class Real> struct DeltaRuleState {
  int N, F, V; // N: largest number of writes per chunk
  bool apart;  // the chunk-local phase solved for E, so teams may take parts of the columns
  bool adds;   // `added` is given

  static constexpr int grain = on_host ? 64 / sizeof(Real) : 16; // columns per part: a cache line on a CPU
  struct Buffers {
    Real *S, *E, *A, *B, *added; // one buffer of S, buffers() buffers of each other matrix
  };
  struct Factors {
    int n; // number of writes in the chunk
    const Real *A;
    std::ptrdiff_t lda;
    const Real *B;
    std::ptrdiff_t ldb;
    Real *E;
    std::ptrdiff_t lde;
    const Real *added; // [F,V]
  };
  struct Decay {
    const Real *diagonal; // [width] the diagonal of D
    int width;            // 0: D = 1; 1: one number for all channels; F: one per channel
  };

  KOKKOS_FUNCTION int parts() const { return (V - 1) / grain + 1; }
  /// Number of buffers: two if shared memory holds two teams with two buffers each (never in float64), else one.
  KOKKOS_FUNCTION int buffers() const { return apart && !on_host && sizeof(Real) == 4 && N * F <= 1 << 13 ? 2 : 1; }

  KOKKOS_FUNCTION Buffers place(Stack<Real> &s) const {
    const int columns = apart && !on_host && V > grain ? grain : V; // width of a part, if there are several
    Buffers x;
    x.S = tile::buffer(s, F, columns);
    x.E = tile::buffer(s, buffers() * N, columns);
    x.A = tile::buffer(s, buffers() * N, F);
    x.B = tile::buffer(s, buffers() * N, F);
    x.added = adds ? tile::buffer(s, buffers() * F, columns) : nullptr;
    return x;
  }

  RECOLLECT_IN_LINE void fetch(const Team &team, const Factors &f, const Part &part, const Buffers &x) const {
    if (on_host) return;
    const Columns of = columns(part);
    tile::stage<Real>(team, f.n, of.count, f.E + of.begin, f.lde, buffer(x.E, of.count, part));
    tile::stage(team, f.n, F, f.A, f.lda, buffer(x.A, F, part));
    tile::stage(team, f.n, F, f.B, f.ldb, buffer(x.B, F, part));
    if (adds) tile::stage(team, F, of.count, f.added + of.begin, V, buffer(x.added, of.count, part, F));
  }

  /// Advances the columns of S that `part` selects. solve(E, lde, columns) solves for the same columns of E in place;
  /// rows of E are lde apart.
  template <class AnyTeam, class Solve>
  RECOLLECT_IN_LINE void operator()(const AnyTeam &team, const Factors &f, Real sign, const Decay &decay,
                                    const Part &part, const Real *before, Real *after, const Buffers &x,
                                    const Solve &solve) const {
    const Columns of = columns(part);
    const int n = f.n, V = this->V, begin = of.begin;
    const std::ptrdiff_t pitch = tile::pitch<Real>(of.count), ld = tile::pitch<Real>(F), lde = on_host ? f.lde : pitch,
                         lds = on_host ? V : pitch;
    Real *const own = f.E + begin, *const E = on_host ? own : buffer(x.E, of.count, part),
                *const S = on_host ? after + begin : x.S;
    const auto A = on_host ? tile::rows(f.A, f.lda) : tile::rows<Real>(buffer(x.A, F, part), ld),
               B = on_host ? tile::rows(f.B, f.ldb) : tile::rows<Real>(buffer(x.B, F, part), ld),
               old = on_host ? tile::rows(before + begin, V) : tile::rows<Real>(S, lds);
    tile::Matrix<Real> added{};
    if (adds)
      added = on_host ? tile::rows(f.added + begin, V) : tile::rows<Real>(buffer(x.added, of.count, part, F), pitch);
    if (!on_host && part.turn == 0) {
      tile::stage(team, F, of.count, before + begin, V, x.S);
      team.barrier();
    }
    tile::gemm(team, n, of.count, F, sign, A, old, Real(1), E, lde);
    team.meet();
    solve(E, lde, of.count);
    const bool scales = !on_host && decay.width <= 1 && !adds; // if true, the product scales S by the decay
    if (!scales) {
      const Decay d = decay;
      each_cell(team, F, of.count, [=](int j, int i) {
        const Real kept = d.width == 0 ? Real(1) : d.diagonal[d.width > 1 ? j : 0];
        S[j * lds + i] = kept * old(j, i) + (added.data ? added(j, i) : Real(0));
      });
      team.meet();
    }
    tile::gemm(team, F, of.count, n, -sign, tile::transposed(B.data, B.row), tile::rows<Real>(E, lde),
               scales && decay.width ? decay.diagonal[0] : Real(1), S, lds);
    if (on_host) return;
    tile::copy<Real>(team, n, of.count, E, lde, own, f.lde);
    team.meet();
    tile::copy<Real>(team, F, of.count, S, lds, after + begin, V);
  }

private:
  struct Columns {
    int begin, count;
  };
  KOKKOS_FUNCTION Columns columns(const Part &part) const {
    const int begin = part.begin(V, grain);
    return {begin, part.count == parts() && V % grain == 0 ? grain : part.end(V, grain) - begin};
  }
  /// The buffer for the part's current turn. All buffers() buffers lie one after another from `first`, with rows of
  /// `width` numbers.
  KOKKOS_FUNCTION Real *buffer(Real *first, int width, const Part &part) const { return buffer(first, width, part, N); }
  KOKKOS_FUNCTION Real *buffer(Real *first, int width, const Part &part, int rows) const {
    return buffers() == 2 && part.turn % 2 ? first + rows * tile::pitch<Real>(width) : first;
  }
};

} // namespace recollect::variants
