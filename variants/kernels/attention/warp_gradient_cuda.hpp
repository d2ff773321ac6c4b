// SPDX-License-Identifier: Apache-2.0
// Gradients of attention in the registers of a warp. The backward kernels share this code, and differ in how they
// multiply (backward_cuda.hpp, backward_hopper_cuda.hpp). The method follows Dao et al. 2022, arXiv:2205.14135,
// Appendix B. It needs two saved numbers per query: m_t, the log of the softmax denominator, and read_t = do_t . o_t.
//
//   z_ti = q_t . k_i,   dp_ti = do_t . v_i
//   p_ti = exp(l_ti - m_t),  dz_ti = slope_ti p_ti (dp_ti - read_t)     if weights are normalised; l_ti is the logit
//   p_ti = l_ti,             dz_ti = slope_ti dp_ti                     otherwise; l_ti is the weight
//   dq_t = sum_i dz_ti k_i,   dk_i = sum_t dz_ti q_t,   dv_i = sum_t p_ti do_t
//
// The same kernel is compiled for queries and for keys. A warp keeps the gradients of its own rows (queries or keys)
// and loops over the other rows of its pairs (keys or queries). Every pair is therefore computed twice, but no two
// blocks add to the same sum, and results are the same in every run.
#pragma once
#ifdef __CUDACC__
#include "variants/kernels/attention/fragments_cuda.hpp"

namespace recollect::variants::attention {

/// Which gradients a kernel computes.
enum class Of { queries, keys_and_values, keys, values };
constexpr bool is_of_queries(Of of) { return of == Of::queries; }

/// A thread block owns `rows` rows, and each of its warps owns `tiles` tiles of 16 rows. If these rows
/// are queries, all warps of the block loop over the keys (else over the queries), `others` at a time.
template <class Op, int Dk, int Dv, int rows_, int tiles_, int others_, class Kernel, class Out, Of of>
struct WarpGradient {
  using Element = fragments::Element<Op>;
  static constexpr bool of_queries = is_of_queries(of), has_logits = of != Of::values,
                        has_values = of == Of::keys_and_values || of == Of::values;
  static constexpr int rows = rows_, tiles = tiles_, others = others_, warp_rows = 16 * tiles;
  using Pairs = Sum[tiles][others / 8];

  DeviceRows<const Element> q, k, v, d_o;
  Statistics saved;                   // only where weights are normalised
  DeviceRows<Out> d_logits, d_values; // d_logits: dq or dk; d_values: dv
  int heads, group; // heads: number of query heads; group: how many of them share a head of keys and values
  CausalMask mask;
  Kernel kernel;

  __host__ __device__ int own_count() const { return of_queries ? q.count : k.count; }
  __host__ __device__ int own_heads() const { return of_queries ? heads : heads / group; }
  __host__ __device__ int blocks() const { return (own_count() - 1) / rows + 1; }
  __host__ __device__ size_t units() const { return size_t(own_heads()) * blocks(); }

protected:
  /// The head and the first of the rows that a work unit of the launch owns. `begin` is the first other row that forms
  /// a visible pair with one of these rows. If these rows are keys, the other rows are the queries of `group` heads.
  struct Block {
    size_t head;
    // per_head, count: numbers of steps of `others` rows, for one head of the other rows and for all of their heads.
    int first, begin, per_head, count;
  };
  __device__ __forceinline__ Block block(size_t unit) const {
    Block b;
    const int nth = block_of(unit, own_heads(), blocks(), b.head); // blocks with the most pairs first
    b.first = (of_queries ? blocks() - 1 - nth : nth) * rows, b.begin = 0;
    if (!of_queries && mask != CausalMask::everything)
      b.begin = min(q.count, mask == CausalMask::earlier ? b.first + 1 : b.first);
    const int end = of_queries ? seen(min(b.first + rows, q.count) - 1) : q.count;
    b.per_head = (end - b.begin + others - 1) / others, b.count = of_queries ? b.per_head : group * b.per_head;
    return b;
  }
  __device__ __forceinline__ size_t other_head(size_t head, int nth) const {
    return of_queries ? head / group : head * group + nth;
  }
  __device__ __forceinline__ int seen(int t) const { return keys_seen(mask, t, q.count, k.count); }
  /// Whether every pair of the warp's rows (from `first` on) and the next `others` rows exists and is visible.
  __device__ __forceinline__ bool all_count(int first, int other) const {
    return of_queries ? first + warp_rows <= q.count && other + others <= seen(first)
                      : other + others <= q.count && first + warp_rows <= seen(other);
  }

  /// log2 of a query's softmax denominator, and do_t . o_t; both are 0 past the last query.
  __device__ __forceinline__ float2 statistics_of(size_t head, int t) const {
    if (!kernel.normalised() || t >= q.count) return make_float2(0, 0);
    return make_float2(saved.normaliser[head * q.count + t] * log2_e, saved.read[head * q.count + t]);
  }
  /// The statistics of the queries in a lane's rows, if the warp's rows are queries.
  struct RowStatistics {
    float normaliser[tiles][2], read[tiles][2];
    __device__ __forceinline__ RowStatistics(const WarpGradient &self, size_t head, int first) {
#pragma unroll
      for (int i = 0; i < tiles; ++i)
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          const float2 x = self.statistics_of(head, first + 16 * i + 8 * r + threadIdx.x % 32 / 4);
          normaliser[i][r] = x.x, read[i][r] = x.y;
        }
    }
  };
  /// The statistic for element e of a lane's results. It is taken from `rows` if the warp's own rows are queries, else
  /// from `columns`.
  __device__ __forceinline__ static float statistic(const float (&rows)[2], float2 columns, int e) {
    return of_queries ? rows[e / 2] : e % 2 ? columns.y : columns.x;
  }
  __device__ __forceinline__ static float2 two_columns(const float *of_others, int c) {
    if (of_queries) return make_float2(0, 0);
    return *reinterpret_cast<const float2 *>(of_others + 8 * c + threadIdx.x % 4 * 2);
  }
  /// Query t and key of element e of a lane's results in tile i, columns 8 c ... 8 c + 7. `first` is the warp's first
  /// row, and `other` the first of the other rows.
  struct Pair {
    int t, key;
    __device__ __forceinline__ Pair(int first, int other, int i, int c, int e) {
      const int lane = threadIdx.x % 32, mine = first + 16 * i + lane / 4 + 8 * (e / 2),
                its = other + 8 * c + lane % 4 * 2 + e % 2;
      t = of_queries ? mine : its, key = of_queries ? its : mine;
    }
  };

  struct Sums {
    Sum logits[has_logits ? tiles : 1][has_logits ? Dk / 8 : 1],
        values[has_values ? tiles : 1][has_values ? Dv / 8 : 1];
  };

  /// On entry p is z and dz is dp. On return p is the weight, and dz the derivative with respect to z. If the kernel is
  /// proportional and normalised, write() multiplies by the factor between z and logit, which dz does not contain.
  __device__ __forceinline__ void weigh_pair(size_t head, int t, int i, float normaliser, float read, float &p,
                                             float &dz) const {
    if (is_proportional<Kernel> && kernel.normalised()) {
      p = exp2_of(fmaf(p, exponent_scale(kernel), -normaliser)), dz = p * (dz - read);
      return;
    }
    const float z = p, l = kernel(head, t, i, z);
    p = l;
    if (kernel.normalised()) p = exp2_of(fmaf(l, log2_e, -normaliser)), dz = p * (dz - read);
    if (has_logits) dz *= kernel.slope(head, t, i, z, l);
  }

  /// Writes the gradients of the warp's rows. A masked weight is 0, but 0 times Inf or NaN is NaN. So if any gradient
  /// of the warp is not finite, the scalar fallback first recomputes all of them.
  __device__ __forceinline__ void finish(size_t head, int first, Sums &sums) const {
    bool finite = true;
    if constexpr (has_logits) finite = is_finite(sums.logits);
    if constexpr (has_values) finite = finite && is_finite(sums.values);
    if (!__all_sync(0xffffffffu, finite)) scalar_fallback(head, first, sums);
    write(head, first + threadIdx.x % 32 / 4, sums);
  }

private:
  __device__ __forceinline__ void scalar_fallback(size_t own_head, int first, Sums &sums) const {
    const int lane = threadIdx.x % 32;
    sums = Sums();
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll 1
        for (int row = 0; row < 8; ++row) {
          const int own = first + 16 * tile + 8 * r + row;
          if (own >= own_count()) continue;
#pragma unroll 1
          for (int nth = 0; nth < (of_queries ? 1 : group); ++nth)
#pragma unroll 1
            for (int other = 0; other < (of_queries ? k.count : q.count); ++other) {
              const int t = of_queries ? own : other, i = of_queries ? other : own;
              if (i >= seen(t)) continue;
              const size_t other_head = this->other_head(own_head, nth), head = of_queries ? own_head : other_head,
                           shared = of_queries ? other_head : own_head;
              float p = fragments::warp_dot(q.at(head, t), k.at(shared, i), q.width),
                    dz = has_logits ? fragments::warp_dot(d_o.at(head, t), v.at(shared, i), v.width) : 0.0f;
              const float2 statistics = statistics_of(head, t);
              weigh_pair(head, t, i, statistics.x, statistics.y, p, dz);
              if (lane / 4 == row) {
                if constexpr (has_logits)
                  add_row(sums.logits[tile], r, 1.0f, dz, of_queries ? k.at(shared, i) : q.at(head, t), q.width);
                if constexpr (has_values) add_row(sums.values[tile], r, 1.0f, p, d_o.at(head, t), d_o.width);
              }
            }
        }
  }

  __device__ __forceinline__ void write(size_t head, int first, const Sums &sums) const {
    float factor = 1;
    if constexpr (is_proportional<Kernel>)
      if (kernel.normalised()) factor = kernel.factor;
    const int column = threadIdx.x % 4 * 2;
#pragma unroll
    for (int i = 0; i < tiles; ++i)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int row = first + 16 * i + 8 * r;
        if (row >= own_count()) continue;
        if constexpr (has_logits)
#pragma unroll
          for (int j = 0; j < Dk / 8; ++j)
            put_two(d_logits.at(head, row), 8 * j + column, d_logits.width, factor * sums.logits[i][j].x[2 * r],
                    factor * sums.logits[i][j].x[2 * r + 1]);
        if constexpr (has_values)
#pragma unroll
          for (int j = 0; j < Dv / 8; ++j)
            put_two(d_values.at(head, row), 8 * j + column, d_values.width, sums.values[i][j].x[2 * r],
                    sums.values[i][j].x[2 * r + 1]);
      }
  }
};

} // namespace recollect::variants::attention
#endif
