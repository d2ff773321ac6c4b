// SPDX-License-Identifier: Apache-2.0
// Gradients of attention (warp_gradient_cuda.hpp) on tensor cores by mma.sync, for any number of queries and keys, and
// rows at most as wide as the extents Dk and Dv (padded with zeros). Where the sums of dk and dv together do not fit in
// the registers, dk and dv are computed in separate passes.
#pragma once
#ifdef __CUDACC__
#include "variants/kernels/attention/forward_cuda.hpp"
#include "variants/kernels/attention/warp_gradient_cuda.hpp"

namespace recollect::variants::attention {

/// Whether one pass computes both dk and dv. For wider rows two passes are faster, because each pass then keeps the
/// sums of more rows in registers.
template <int Dk, int Dv> constexpr bool keys_with_values = Dk <= 96 && Dv <= 96;

/// Here Tuning::keys is the number of rows that are loaded together: rows of keys if the gradient is dq, else rows of
/// queries.
template <class Op, int Dk, int Dv, Of of> constexpr Tuning backward_tuning() {
  constexpr int D = Dk > Dv ? Dk : Dv;
  if (fragments::is_narrow<Op>) {
    if (of == Of::keys_and_values) return {4, 1, 64, 2};
    if (of == Of::values) return D <= 128 ? Tuning{4, 2, 64, 2} : Tuning{8, 1, 64, 1};
    return D <= 64 ? Tuning{4, 1, 64, 3} : D <= 128 ? Tuning{4, 2, 32, 2} : Tuning{8, 1, 32, 1};
  }
  if (D <= 64) return is_of_queries(of) ? Tuning{4, 2, 32, 2} : Tuning{4, 1, 32, 2};
  if (of == Of::values) return D <= 128 ? Tuning{4, 2, 16, 2} : Tuning{8, 1, 16, 1};
  return D <= 128 ? Tuning{8, 1, 16, 1} : Tuning{4, 1, 16, 1};
}

template <class Op, int Dk, int Dv, Of of, class Kernel, class Out> struct BackwardBase {
  static constexpr Tuning tuning = backward_tuning<Op, Dk, Dv, of>();
  using type = WarpGradient<Op, Dk, Dv, 16 * tuning.warps * tuning.tiles, tuning.tiles, tuning.keys, Kernel, Out, of>;
};

template <class Op, int Dk, int Dv, class Kernel, class Out, Of of>
struct Backward : BackwardBase<Op, Dk, Dv, of, Kernel, Out>::type {
  using Base = typename BackwardBase<Op, Dk, Dv, of, Kernel, Out>::type;
  using Base::q, Base::k, Base::v, Base::d_o, Base::group, Base::kernel, Base::seen, Base::of_queries, Base::has_logits,
      Base::has_values, Base::rows, Base::tiles, Base::others, Base::warp_rows;
  using typename Base::Element, typename Base::Pairs, typename Base::Pair, typename Base::RowStatistics,
      typename Base::Sums;
  static constexpr Tuning tuning = backward_tuning<Op, Dk, Dv, of>();
  static constexpr int threads = 32 * tuning.warps, blocks_at_once = tuning.blocks;
  static constexpr int pitch_k = Dk + fragments::pad<Op>, pitch_v = Dv + fragments::pad<Op>;
  static constexpr int others_size = others * (pitch_k + pitch_v); // elements of one loaded block
  static constexpr size_t shared_bytes =
      sizeof(Element) * (rows * (pitch_k + (has_logits ? pitch_v : 0)) + 2 * others_size) + sizeof(float) * 4 * others;

  __device__ void operator()(size_t unit, void *shared) const {
    const Buffers buffers = place(shared);
    const auto block = this->block(unit);
    const size_t head = block.head;
    const int warp_first = int(threadIdx.x) / 32 * warp_rows, first = block.first + warp_first;
    copy_rows<Element, rows, Dk, pitch_k, threads>(of_queries ? q : k, head, block.first, buffers.logits);
    if constexpr (has_logits)
      copy_rows<Element, rows, Dv, pitch_v, threads>(of_queries ? d_o : v, head, block.first, buffers.products);
    fragments::commit_copies();
    const auto head_of = [&](int n) { return this->other_head(head, n / block.per_head); };
    const auto first_of = [&](int n) { return block.begin + n % block.per_head * others; };
    const RowStatistics statistics(*this, head, of_queries ? first : q.count);
    Sums sums;
    if (block.count > 0) load_others(head_of(0), first_of(0), buffers.others_at(0));
    for (int n = 0; n < block.count; ++n) {
      fragments::wait_for_copies();
      __syncthreads(); // the block has arrived, and all warps have read the previous one
      if (n + 1 < block.count) load_others(head_of(n + 1), first_of(n + 1), buffers.others_at((n + 1) % 2));
      add_block(of_queries ? head : head_of(n), first, first_of(n), buffers, warp_first, buffers.others_at(n % 2),
                statistics, sums);
    }
    fragments::wait_for_copies();
    this->finish(head, first, sums);
  }

private:
  struct Others {
    Element *logits, *products; // [others, pitch]
    float *normaliser, *read;   // [others], per query
  };
  struct Buffers {
    Element *logits, *products; // [rows, pitch], the block's own rows
    Others first;
    __device__ __forceinline__ Others others_at(int which) const {
      return {first.logits + which * others_size, first.products + which * others_size,
              first.normaliser + which * 2 * others, first.read + which * 2 * others};
    }
  };
  __device__ __forceinline__ static Buffers place(void *shared) {
    Element *const logits = static_cast<Element *>(shared), *const products = logits + rows * pitch_k,
                   *const first = products + (has_logits ? rows * pitch_v : 0);
    float *const normaliser = reinterpret_cast<float *>(first + 2 * others_size);
    return {logits, products, {first, first + others * pitch_k, normaliser, normaliser + others}};
  }

  __device__ __forceinline__ void load_others(size_t head, int first, const Others &to) const {
    copy_rows<Element, others, Dk, pitch_k, threads>(of_queries ? k : q, head, first, to.logits);
    copy_rows<Element, others, Dv, pitch_v, threads>(of_queries ? v : d_o, head, first, to.products);
    fragments::commit_copies();
    if (of_queries || !kernel.normalised() || threadIdx.x >= others) return;
    const float2 x = this->statistics_of(head, first + int(threadIdx.x));
    to.normaliser[threadIdx.x] = x.x, to.read[threadIdx.x] = x.y;
  }

  /// Adds to `sums` the gradients from the pairs of a row of the warp and a row of `block`.
  __device__ __forceinline__ void add_block(size_t head, int first, int other, const Buffers &buffers, int warp_first,
                                            const Others &block, const RowStatistics &statistics, Sums &sums) const {
    if (of_queries) {
      if (first >= q.count || other >= seen(min(first + warp_rows, q.count) - 1)) return;
    } else {
      if (first >= k.count || first >= seen(min(other + others, q.count) - 1)) return;
    }
    Pairs p, dz;
    multiply<pitch_k, Dk>(buffers.logits, warp_first, block.logits, p);
    if constexpr (has_logits) multiply<pitch_v, Dv>(buffers.products, warp_first, block.products, dz);
    if (this->all_count(first, other))
      weigh<false>(head, first, other, block, statistics, p, dz);
    else
      weigh<true>(head, first, other, block, statistics, p, dz);
    if constexpr (has_values) apply<pitch_v, Dv>(p, block.products, sums.values);
    if constexpr (has_logits) apply<pitch_k, Dk>(dz, block.logits, sums.logits);
  }

  /// Dot products of the warp's rows with the rows of a loaded block, over `width` columns.
  template <int pitch, int width>
  __device__ __forceinline__ static void multiply(const Element *own, int row, const Element *other, Pairs &x) {
    fragments::multiply_add<Op, pitch, width / 16, true>(
        [&](int i, int s) { return fragments::load_a<Op, pitch>(own, row + 16 * i, 16 * s); }, other, x);
  }
  /// sums += weights times the rows of a loaded block.
  template <int pitch, int width>
  __device__ __forceinline__ static void apply(const Pairs &weights, const Element *other,
                                               Sum (&sums)[tiles][width / 8]) {
    fragments::multiply_add<Op, pitch, others / 16, false>(
        [&](int i, int s) { return fragments::as_a<Op>(weights[i][2 * s], weights[i][2 * s + 1]); }, other, sums);
  }

  template <bool masked>
  __device__ __forceinline__ void weigh(size_t head, int first, int other, const Others &block,
                                        const RowStatistics &statistics, Pairs &p, Pairs &dz) const {
#pragma unroll
    for (int c = 0; c < others / 8; ++c) {
      float2 normalisers, reads;
      if (kernel.normalised())
        normalisers = Base::two_columns(block.normaliser, c), reads = Base::two_columns(block.read, c);
#pragma unroll
      for (int i = 0; i < tiles; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const Pair at(first, other, i, c, e);
          float &x = p[i][c].x[e], &dx = dz[i][c].x[e];
          if (!masked || at.key < seen(at.t))
            this->weigh_pair(head, at.t, at.key, Base::statistic(statistics.normaliser[i], normalisers, e),
                             Base::statistic(statistics.read[i], reads, e), x, dx);
          else
            x = dx = 0;
        }
    }
  }
};

} // namespace recollect::variants::attention
#endif
