// SPDX-License-Identifier: Apache-2.0
// Attention of every query to a few blocks of keys (000 Eq 25-27). Block e has `block` consecutive steps, and its score
// for a query q is the inner product of q with the mean of the block's rows of `router`. The query reads the `topk`
// blocks with the largest scores. If two scores are equal, the earlier block wins, so that at most topk blocks are
// chosen.
#pragma once
#include "variants/kernels/common/arrays.hpp"
#include <algorithm>

namespace recollect::variants {

template <class Real> struct Blocks {
  int T, width, block, count;
  Array<Real> means; // [heads,count,width] mean of each block's rows

  KOKKOS_FUNCTION Real score(size_t head, int e, const Real *q) const {
    return dot(q, means.data() + (head * count + e) * width, width);
  }

  /// The definition: whether the score of block e is one of the `wanted` highest among the blocks first ... n-1.
  KOKKOS_FUNCTION bool among_best(size_t head, int e, const Real *q, int n, int wanted, int first = 0) const {
    const Real own = score(head, e, q);
    int better = 0;
    for (int other = first; other < n; ++other) {
      const Real s = score(head, other, q);
      better += s > own || (s == own && other < e);
    }
    return better < wanted;
  }

  /// Writes to `best` the indices of the `wanted` blocks with the highest scores among first ... n-1 (fewer if there
  /// are fewer blocks), and returns their number. `scores` [wanted] is scratch.
  KOKKOS_FUNCTION int find_best(size_t head, const Real *q, int n, int wanted, int *best, Real *scores,
                                int first = 0) const {
    int found = 0;
    for (int e = first; e < n; ++e) {
      const Real s = score(head, e, q);
      int place = found;
      while (place > 0 && scores[place - 1] < s) --place; // of equal scores the earlier block stays in front
      if (place == wanted) continue;
      if (found < wanted) ++found;
      for (int i = found - 1; i > place; --i) best[i] = best[i - 1], scores[i] = scores[i - 1];
      best[place] = e, scores[place] = s;
    }
    return found;
  }
};

/// A functor, because nvcc lost the captured pointers of a lambda in a header that several files include.
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

/// Returns the means of blocks of `block` rows of router [heads,T,Dk].
template <class Real> Blocks<Real> blocks_of(const Array<Real> &router, const Shape &s, int block) {
  const int T = s.T, width = s.Dk, count = (T + block - 1) / block;
  const Array<Real> means = allocated<Real>("block means", s.heads() * count * width);
  parallel_loop("blocks::means", means.extent(0), BlockMeans<Real>{T, width, block, count, router, means});
  return {T, width, block, count, means};
}

/// The blocks that each query reads. Without a causal mask, these are the `topk` best of all blocks. With a causal
/// mask, they are the query's own block (up to the query, whatever its score) and the topk - 1 best of the earlier
/// blocks.
template <class Real> struct Choice {
  Blocks<Real> blocks;
  int topk;
  bool causal;
  Array<Real> q, scores; // scores: scratch
  Array<int> best;       // [heads,T,topk] indices of blocks, -1 where there are fewer

  KOKKOS_FUNCTION void find(size_t step) const {
    const int here = int(step % blocks.T) / blocks.block;
    int *chosen = best.data() + step * topk;
    int found = blocks.find_best(step / blocks.T, q.data() + step * blocks.width, causal ? here : blocks.count,
                                 causal ? topk - 1 : topk, chosen, scores.data() + step * topk);
    if (causal) chosen[found++] = here;
    while (found < topk) chosen[found++] = -1;
  }

  // The following functions need the result of find().
  KOKKOS_FUNCTION bool reads(size_t step, int e) const {
    for (size_t b = step * topk; b < (step + 1) * topk; ++b)
      if (best(b) == e) return true;
    return false;
  }
  /// End (exclusive) of the rows of block e that a query at step t sees.
  KOKKOS_FUNCTION int end(int e, int t) const {
    const int stop = (e + 1) * blocks.block, all = causal ? t + 1 : blocks.T;
    return stop < all ? stop : all;
  }
  /// Calls f(i) for every row that the query reads.
  template <class F> KOKKOS_FUNCTION void each_read(size_t step, const F &f) const {
    const int *chosen = best.data() + step * topk;
    for (int b = 0; b < topk && chosen[b] >= 0; ++b)
      for (int i = chosen[b] * blocks.block, stop = end(chosen[b], int(step % blocks.T)); i < stop; ++i) f(i);
  }
};
template <class Real> Choice<Real> choice_of(const Call<Real> &call, const Blocks<Real> &blocks, bool causal) {
  const int topk = std::min(call.params.integer("topk"), blocks.count);
  const size_t n = call.steps() * topk;
  return {blocks, topk, causal, call.q, allocate(call, n), call.arena->template take<int>(n)};
}

} // namespace recollect::variants
