// SPDX-License-Identifier: Apache-2.0
// Attention to a few blocks of keys for every query (000 Eq 25-27): blocks of `block` consecutive rows are scored by
// s_e(q) = q . mean of the block's router rows, and the `topk` best are read. Selection is by index: of two equal
// scores the earlier block wins, so that never more than topk are chosen.
#pragma once
#include "harness/device/device.hpp"
#include <algorithm>

namespace recollect::variants {

template <class Real> struct Blocks {
  int T, width, block, count;
  Array<Real> means; // [heads,count,width]

  KOKKOS_FUNCTION Real score(size_t head, int e, const Real *q) const {
    return dot(q, means.data() + (head * count + e) * width, width);
  }

  /// The definition: e is among the `wanted` best of blocks 0 ... n-1.
  KOKKOS_FUNCTION bool among_best(size_t head, int e, const Real *q, int n, int wanted) const {
    const Real own = score(head, e, q);
    int better = 0;
    for (int other = 0; other < n; ++other) {
      const Real s = score(head, other, q);
      better += s > own || (s == own && other < e);
    }
    return better < wanted;
  }

  /// The same for all at once: indices of the `wanted` best of blocks 0 ... n-1 into best, and how many there are.
  /// scores: [wanted] work.
  KOKKOS_FUNCTION int find_best(size_t head, const Real *q, int n, int wanted, int *best, Real *scores) const {
    int found = 0;
    for (int e = 0; e < n; ++e) {
      const Real s = score(head, e, q);
      int place = found;
      while (place > 0 && scores[place - 1] < s) --place; // equal scores stay in order of index
      if (place == wanted) continue;
      if (found < wanted) ++found;
      for (int i = found - 1; i > place; --i) best[i] = best[i - 1], scores[i] = scores[i - 1];
      best[place] = e, scores[place] = s;
    }
    return found;
  }

  /// f(i) for the rows before `end` of the n blocks `chosen`.
  template <class F> KOKKOS_FUNCTION void each_row(const int *chosen, int n, int end, const F &f) const {
    for (int b = 0; b < n; ++b) {
      const int begin = chosen[b] * block, stop = begin + block < end ? begin + block : end;
      for (int i = begin; i < stop; ++i) f(i);
    }
  }
};

/// No lambda: nvcc keeps pointers of one that a header makes in several files, and lost them here.
template <class Real> struct BlockMeans {
  int T, width, block, count;
  Array<Real> router, means;
  KOKKOS_FUNCTION void operator()(size_t at) const {
    const size_t head = at / (size_t(count) * width), c = at % width;
    const int begin = int(at / width % count) * block, end = begin + block < T ? begin + block : T;
    Real sum = 0;
    for (int i = begin; i < end; ++i) sum += router((head * T + i) * width + c);
    means(at) = sum / Real(end - begin);
  }
};

/// Blocks of `block` rows of router [heads,T,Dk].
template <class Real> Blocks<Real> blocks_of(const Array<Real> &router, const Shape &s, int block) {
  const int T = s.T, width = s.Dk, count = (T + block - 1) / block;
  const Array<Real> means("block means", s.heads() * count * width);
  Kokkos::parallel_for("blocks::means", Kokkos::RangePolicy<Execution>(0, means.extent(0)),
                       BlockMeans<Real>{T, width, block, count, router, means});
  return {T, width, block, count, means};
}

/// Which blocks each query reads, found once.
struct ChosenOnce {
  int T, block, count;
  Kokkos::View<unsigned char *, Execution> marks; // [heads,T,count]
  KOKKOS_FUNCTION bool operator()(size_t head, int t, int i) const {
    return marks((head * T + t) * count + i / block) != 0;
  }
};
template <class Real> struct MarkBlocks {
  Blocks<Real> blocks;
  int wanted;
  bool own; // the query's own block is read besides, and those before it compete; else all do
  Array<Real> q, scores;
  Kokkos::View<int *, Execution> best; // [heads,T,wanted], as scores
  Kokkos::View<unsigned char *, Execution> marks;
  KOKKOS_FUNCTION void operator()(size_t step) const {
    const int here = int(step % blocks.T) / blocks.block, n = own ? here : blocks.count;
    int *chosen = best.data() + step * wanted;
    const int found = blocks.find_best(step / blocks.T, q.data() + step * blocks.width, n, wanted, chosen,
                                       scores.data() + step * wanted);
    for (int b = 0; b < found; ++b) marks(step * blocks.count + chosen[b]) = 1;
    if (own) marks(step * blocks.count + here) = 1;
  }
};
template <class Real> ChosenOnce choose_once(const Call<Real> &call, const Blocks<Real> &blocks, int wanted, bool own) {
  const size_t steps = call.steps();
  const Kokkos::View<unsigned char *, Execution> marks("block marks", steps * blocks.count);
  wanted = std::min(wanted, blocks.count);
  Kokkos::parallel_for("blocks::choose", Kokkos::RangePolicy<Execution>(0, steps),
                       MarkBlocks<Real>{blocks, wanted, own, call.q, Array<Real>("block scores", steps * wanted),
                                        Kokkos::View<int *, Execution>("best blocks", steps * wanted), marks});
  return {blocks.T, blocks.block, blocks.count, marks};
}

} // namespace recollect::variants
