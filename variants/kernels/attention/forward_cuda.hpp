// SPDX-License-Identifier: Apache-2.0
// Attention (warp_softmax_cuda.hpp) on tensor cores by mma.sync, for any number of queries and keys, and rows at most
// as wide as the extents Dk and Dv (padded with zeros).
//
// A warp owns 16 `tiles` queries and loops over the keys, `keys` at a time, while the next keys are copied to shared
// memory. Scores, weights and sums stay in its registers, because the results of q k^T have the register layout that p
// v needs for its first operand.
#pragma once
#ifdef __CUDACC__
#include "variants/kernels/attention/warp_softmax_cuda.hpp"

namespace recollect::variants::attention {

/// Warps per block, tiles of 16 queries per warp, keys loaded at a time, and blocks per multiprocessor.
struct Tuning {
  int warps, tiles, keys, blocks;
};
template <class Op, int Dk, int Dv> constexpr Tuning forward_tuning() {
  constexpr int D = Dk > Dv ? Dk : Dv;
  if (fragments::is_narrow<Op>) return D <= 128 ? Tuning{4, 2, 64, 2} : Tuning{8, 1, 64, 1};
  return D <= 64 ? Tuning{4, 2, 32, 2} : D <= 128 ? Tuning{4, 2, 16, 2} : Tuning{8, 1, 16, 1};
}

template <class Op, int Dk, int Dv, class Kernel, class Finish>
struct Forward
    : WarpSoftmax<Op, Dv, forward_tuning<Op, Dk, Dv>().tiles, forward_tuning<Op, Dk, Dv>().keys, Kernel, Finish> {
  static constexpr Tuning tuning = forward_tuning<Op, Dk, Dv>();
  using Base = WarpSoftmax<Op, Dv, tuning.tiles, tuning.keys, Kernel, Finish>;
  using Base::q, Base::k, Base::v, Base::heads, Base::group, Base::kernel, Base::seen, Base::tiles, Base::keys,
      Base::warp_rows;
  using typename Base::Element, typename Base::Logits, typename Base::Sums;
  static constexpr int threads = 32 * tuning.warps, blocks_at_once = tuning.blocks, rows = tuning.warps * warp_rows;
  static constexpr int pitch_k = Dk + fragments::pad<Op>, pitch_v = Dv + fragments::pad<Op>;
  static constexpr size_t shared_bytes = sizeof(Element) * (rows * pitch_k + 2 * keys * (pitch_k + pitch_v));
  static constexpr bool keeps_queries = fragments::is_narrow<Op> && tiles * Dk <= 128; // in registers

  __host__ __device__ int blocks() const { return (q.count - 1) / rows + 1; }
  __host__ __device__ size_t units() const { return size_t(heads) * blocks(); }

  __device__ void operator()(size_t unit, void *shared) const {
    Element *const q_tile = static_cast<Element *>(shared), *const k_tiles = q_tile + rows * pitch_k,
                   *const v_tiles = k_tiles + 2 * keys * pitch_k;
    size_t head;
    const int first_of_block =
        (blocks() - 1 - block_of(unit, heads, blocks(), head)) * rows; // blocks with the most keys first
    const int warp_first = int(threadIdx.x) / 32 * warp_rows, first = first_of_block + warp_first;
    const int end = seen(min(first_of_block + rows, q.count) - 1), // number of keys that the block sees
        warp_end = first < q.count ? seen(min(first + warp_rows, q.count) - 1) : 0;
    copy_rows<Element, rows, Dk, pitch_k, threads>(q, head, first_of_block, q_tile);
    load_keys(head / group, 0, k_tiles, v_tiles);

    Sums sums;
    fragments::A16<Op> queries[keeps_queries ? tiles : 1][keeps_queries ? Dk / 16 : 1];
    for (int key = 0, here = 0; key < end; key += keys, here = 1 - here) {
      fragments::wait_for_copies();
      __syncthreads(); // the block has arrived, and all warps have read the previous one
      if (keeps_queries && key == 0) load_queries(q_tile, warp_first, queries);
      if (key + keys < end)
        load_keys(head / group, key + keys, k_tiles + (1 - here) * keys * pitch_k,
                  v_tiles + (1 - here) * keys * pitch_v);
      if (key >= warp_end) continue;
      Logits p;
      score(q_tile, warp_first, queries, k_tiles + here * keys * pitch_k, p);
      float shrink[tiles][2];
      if (this->find_peaks(head, first, key, p, sums, shrink)) this->rescale(sums, shrink);
      add_values(p, v_tiles + here * keys * pitch_v, sums);
    }
    fragments::wait_for_copies();
    if (!__all_sync(0xffffffffu, is_finite(sums.of))) this->scalar_fallback(head, first, sums);
    this->finish_rows(head, first, sums);
  }

private:
  __device__ __forceinline__ void load_keys(size_t head, int key, Element *k_tile, Element *v_tile) const {
    copy_rows<Element, keys, Dk, pitch_k, threads>(k, head, key, k_tile);
    copy_rows<Element, keys, Dv, pitch_v, threads>(v, head, key, v_tile);
    fragments::commit_copies();
  }

  template <int N, int steps>
  __device__ __forceinline__ static void load_queries(const Element *q_tile, int row,
                                                      fragments::A16<Op> (&a)[N][steps]) {
#pragma unroll
    for (int i = 0; i < N; ++i)
#pragma unroll
      for (int s = 0; s < steps; ++s) a[i][s] = fragments::load_a<Op, pitch_k>(q_tile, row + 16 * i, 16 * s);
  }

  template <int N, int steps>
  __device__ __forceinline__ static void score(const Element *q_tile, int row,
                                               const fragments::A16<Op> (&queries)[N][steps], const Element *k_tile,
                                               Logits &p) {
    fragments::multiply_add<Op, pitch_k, Dk / 16, true>(
        [&](int i, int s) {
          if constexpr (keeps_queries)
            return queries[i][s];
          else
            return fragments::load_a<Op, pitch_k>(q_tile, row + 16 * i, 16 * s);
        },
        k_tile, p);
  }

  /// Turns logits into weights, and sums += weights times values. Exponentials of some keys overlap with products of
  /// others.
  __device__ __forceinline__ void add_values(Logits &p, const Element *v_tile, Sums &sums) const {
    fragments::multiply_add<Op, pitch_v, keys / 16, false>(
        [&](int i, int s) {
          this->weigh(i, p[i][2 * s], p[i][2 * s + 1], sums);
          return fragments::as_a<Op>(p[i][2 * s], p[i][2 * s + 1]);
        },
        v_tile, sums.of);
  }
};

} // namespace recollect::variants::attention
#endif
