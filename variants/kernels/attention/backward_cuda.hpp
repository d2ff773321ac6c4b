// SPDX-License-Identifier: Apache-2.0
// Gradients of forward_cuda.hpp's attention (after Dao et al. 2022, arXiv:2205.14135, Appendix B), from what the
// forward pass saves per query: the log of the softmax denominator m_t, and read_t = do_t . o_t.
//
//   z_ti = q_t . k_i,   dp_ti = do_t . v_i
//   p_ti = exp(l_ti - m_t),  dz_ti = slope_ti p_ti (dp_ti - read_t)     normalised, l_ti the logit
//   p_ti = l_ti,             dz_ti = slope_ti dp_ti                     not, l_ti the weight
//   dq_t = sum_i dz_ti k_i,   dk_i = sum_t dz_ti q_t,   dv_i = sum_t p_ti do_t
//
// One kernel for both sides: a warp keeps the gradients of its own rows (queries or keys) and loops over the other
// side's rows. Every pair is computed once per side, so no two blocks add to the same sum, and results are the same in
// every run. Where dk and dv together fill the registers, each has a separate pass.
#pragma once
#ifdef __CUDACC__
#include "variants/kernels/attention/forward_cuda.hpp"

namespace recollect::variants::attention {

/// Which gradients a kernel computes.
enum class Of { queries, keys_and_values, keys, values };
constexpr bool is_of_queries(Of of) { return of == Of::queries; }
/// Whether one pass computes both dk and dv. Above these widths two passes are faster: each keeps more rows in
/// registers.
template <int Dk, int Dv> constexpr bool keys_with_values = Dk <= 96 && Dv <= 96;

/// Tuning::keys is the number of rows of the other side that are loaded at a time.
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

template <class Op, int Dk, int Dv, class Kernel, class Out, Of of> struct Backward {
  using Element = fragments::Element<Op>;
  static constexpr bool of_queries = is_of_queries(of), has_logits = of != Of::values,
                        has_values = of == Of::keys_and_values || of == Of::values;
  static constexpr Tuning tuning = backward_tuning<Op, Dk, Dv, of>();
  static constexpr int threads = 32 * tuning.warps, blocks_at_once = tuning.blocks;
  static constexpr int tiles = tuning.tiles, others = tuning.keys, warp_rows = 16 * tiles,
                       rows = tuning.warps * warp_rows;
  static constexpr int pitch_k = Dk + fragments::pad<Op>, pitch_v = Dv + fragments::pad<Op>;
  static constexpr int others_size = others * (pitch_k + pitch_v); // numbers per block
  static constexpr size_t shared_bytes =
      sizeof(Element) * (rows * (pitch_k + (has_logits ? pitch_v : 0)) + 2 * others_size) + sizeof(float) * 4 * others;

  DeviceRows<const Element> q, k, v, d_o;
  Statistics saved;                   // only where weights are normalised
  DeviceRows<Out> d_logits, d_values; // dq or dk; dv
  int heads, group;                   // heads of queries; how many of them share one head of keys and values
  CausalMask mask;
  Kernel kernel;

  __host__ __device__ int own_count() const { return of_queries ? q.count : k.count; }
  __host__ __device__ int own_heads() const { return of_queries ? heads : heads / group; }
  __host__ __device__ int blocks() const { return (own_count() - 1) / rows + 1; }
  __host__ __device__ size_t units() const { return size_t(own_heads()) * blocks(); }

  __device__ void operator()(size_t unit, void *shared) const {
    const Room room = place(shared);
    size_t head;
    const int nth = block_of(unit, own_heads(), blocks(), head), // blocks with the most pairs first
        first_of_block = (of_queries ? blocks() - 1 - nth : nth) * rows;
    const int thread = threadIdx.x, warp_first = thread / 32 * warp_rows, first = first_of_block + warp_first;
    copy_rows<Element, rows, Dk, pitch_k, threads>(of_queries ? q : k, head, first_of_block, room.logits);
    if constexpr (has_logits)
      copy_rows<Element, rows, Dv, pitch_v, threads>(of_queries ? d_o : v, head, first_of_block, room.products);
    fragments::commit_copies();
    const Range range = others_of(first_of_block);
    const int per_head = (range.end - range.begin + others - 1) / others,
              count = of_queries ? per_head : group * per_head;
    const auto start = [&](int n) {
      load_others(other_head(head, n / per_head), range.begin + n % per_head * others, room.others_at(n % 2));
    };
    RowStatistics statistics;
    if constexpr (of_queries) statistics.of_rows(*this, head, first);
    Gradients sums;
    if (count > 0) start(0);
    for (int n = 0; n < count; ++n) {
      fragments::wait_for_copies();
      __syncthreads(); // the block has arrived, and all warps have read the last one
      if (n + 1 < count) start(n + 1);
      add_block(of_queries ? head : other_head(head, n / per_head), first, range.begin + n % per_head * others, room,
                warp_first, room.others_at(n % 2), statistics, sums);
    }
    fragments::wait_for_copies();
    bool finite = true;
    if constexpr (has_logits) finite = is_finite(sums.logits);
    if constexpr (has_values) finite = finite && is_finite(sums.values);
    if (!__all_sync(0xffffffffu, finite)) one_by_one(head, first, sums);
    write(head, first + thread % 32 / 4, sums);
  }

private:
  struct Others {
    Element *logits, *products; // [others, pitch]
    float *normaliser, *read;   // [others], per query
  };
  struct Room {
    Element *logits, *products; // [rows, pitch], the block's own rows
    Others first;
    __device__ __forceinline__ Others others_at(int which) const {
      return {first.logits + which * others_size, first.products + which * others_size,
              first.normaliser + which * 2 * others, first.read + which * 2 * others};
    }
  };
  __device__ __forceinline__ static Room place(void *shared) {
    Element *const logits = static_cast<Element *>(shared), *const products = logits + rows * pitch_k,
                   *const first = products + (has_logits ? rows * pitch_v : 0);
    float *const normaliser = reinterpret_cast<float *>(first + 2 * others_size);
    return {logits, products, {first, first + others * pitch_k, normaliser, normaliser + others}};
  }
  /// Of the queries of a lane: log2 of the softmax denominator, and do . o.
  struct RowStatistics {
    float normaliser[tiles][2], read[tiles][2];
    __device__ void of_rows(const Backward &self, size_t head, int first) {
#pragma unroll
      for (int i = 0; i < tiles; ++i)
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          const int t = first + 16 * i + 8 * r + threadIdx.x % 32 / 4;
          const bool given = self.kernel.normalised() && t < self.q.count;
          normaliser[i][r] = given ? self.saved.normaliser[head * self.q.count + t] * log2_e : 0.0f;
          read[i][r] = given ? self.saved.read[head * self.q.count + t] : 0.0f;
        }
    }
  };
  struct Gradients {
    Sum logits[has_logits ? tiles : 1][has_logits ? Dk / 8 : 1],
        values[has_values ? tiles : 1][has_values ? Dv / 8 : 1];
  };
  struct Range {
    int begin, end;
  };

  __device__ __forceinline__ int seen(int t) const { return keys_seen(mask, t, q.count, k.count); }
  /// The rows of the other side that form at least one visible pair with a row of this block.
  __device__ Range others_of(int first) const {
    if (of_queries) return {0, seen(min(first + rows, q.count) - 1)};
    return {mask == CausalMask::everything ? 0 : min(q.count, mask == CausalMask::earlier ? first + 1 : first),
            q.count};
  }
  __device__ size_t other_head(size_t head, int nth) const { return of_queries ? head / group : head * group + nth; }

  __device__ __forceinline__ void load_others(size_t head, int first, const Others &to) const {
    copy_rows<Element, others, Dk, pitch_k, threads>(of_queries ? k : q, head, first, to.logits);
    copy_rows<Element, others, Dv, pitch_v, threads>(of_queries ? v : d_o, head, first, to.products);
    fragments::commit_copies();
    if (of_queries || !kernel.normalised() || threadIdx.x >= others) return;
    const bool given = first + int(threadIdx.x) < q.count;
    const size_t t = head * q.count + first + threadIdx.x;
    to.normaliser[threadIdx.x] = given ? saved.normaliser[t] * log2_e : 0.0f;
    to.read[threadIdx.x] = given ? saved.read[t] : 0.0f;
  }

  /// Adds the gradients from pairs of the warp's rows with rows of this block.
  __device__ __forceinline__ void add_block(size_t head, int first, int other, const Room &room, int warp_first,
                                            const Others &block, const RowStatistics &statistics,
                                            Gradients &sums) const {
    if (of_queries) {
      if (first >= q.count || other >= seen(min(first + warp_rows, q.count) - 1)) return;
    } else {
      if (first >= k.count || first >= seen(min(other + others, q.count) - 1)) return;
    }
    Sum p[tiles][others / 8], dz[tiles][others / 8];
    multiply<pitch_k, Dk>(room.logits, warp_first, block.logits, p);
    if constexpr (has_logits) multiply<pitch_v, Dv>(room.products, warp_first, block.products, dz);
    const bool all_count = of_queries ? first + warp_rows <= q.count && other + others <= seen(first)
                                      : other + others <= q.count && first + warp_rows <= seen(other);
    if (all_count)
      weigh<false>(head, first, other, block, statistics, p, dz);
    else
      weigh<true>(head, first, other, block, statistics, p, dz);
    if constexpr (has_values) apply<pitch_v, Dv>(p, block.products, sums.values);
    if constexpr (has_logits) apply<pitch_k, Dk>(dz, block.logits, sums.logits);
  }

  /// Dot products of own rows with the other side's, over `width` columns.
  template <int pitch, int width>
  __device__ __forceinline__ static void multiply(const Element *own, int row, const Element *other,
                                                  Sum (&x)[tiles][others / 8]) {
#pragma unroll
    for (int s = 0; s < width / 16; ++s) {
      fragments::A16<Op> a[tiles];
#pragma unroll
      for (int i = 0; i < tiles; ++i) a[i] = fragments::load_a<Op, pitch>(own, row + 16 * i, 16 * s);
#pragma unroll
      for (int c = 0; c < others / 16; ++c) {
        const fragments::B16<Op> b = fragments::load_b_across<Op, pitch>(other, 16 * s, 16 * c);
#pragma unroll
        for (int i = 0; i < tiles; ++i) fragments::multiply_add(a[i], b, x[i][2 * c], x[i][2 * c + 1]);
      }
    }
  }
  /// sums += weights times the other side's rows.
  template <int pitch, int width>
  __device__ __forceinline__ static void apply(const Sum (&weights)[tiles][others / 8], const Element *other,
                                               Sum (&sums)[tiles][width / 8]) {
#pragma unroll
    for (int s = 0; s < others / 16; ++s) {
      fragments::A16<Op> a[tiles];
#pragma unroll
      for (int i = 0; i < tiles; ++i) a[i] = fragments::as_a<Op>(weights[i][2 * s], weights[i][2 * s + 1]);
#pragma unroll
      for (int c = 0; c < width / 16; ++c) {
        const fragments::B16<Op> b = fragments::load_b<Op, pitch>(other, 16 * s, 16 * c);
#pragma unroll
        for (int i = 0; i < tiles; ++i) fragments::multiply_add(a[i], b, sums[i][2 * c], sums[i][2 * c + 1]);
      }
    }
  }

  /// On entry p is z and dz is dp. On return p is the weight and dz the derivative with respect to z; where logits are
  /// proportional to z, still without that factor.
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
  template <bool masked>
  __device__ __forceinline__ void weigh(size_t head, int first, int other, const Others &block,
                                        const RowStatistics &statistics, Sum (&p)[tiles][others / 8],
                                        Sum (&dz)[tiles][others / 8]) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int c = 0; c < others / 8; ++c) {
      const int column = 8 * c + lane % 4 * 2;
      float2 normalisers, reads;
      if (!of_queries && kernel.normalised())
        normalisers = *reinterpret_cast<const float2 *>(block.normaliser + column),
        reads = *reinterpret_cast<const float2 *>(block.read + column);
#pragma unroll
      for (int i = 0; i < tiles; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int mine = first + 16 * i + lane / 4 + 8 * (e / 2), its = other + column + e % 2,
                    t = of_queries ? mine : its, key = of_queries ? its : mine;
          const float normaliser = of_queries ? statistics.normaliser[i][e / 2]
                                   : e % 2    ? normalisers.y
                                              : normalisers.x,
                      read = of_queries ? statistics.read[i][e / 2]
                             : e % 2    ? reads.y
                                        : reads.x;
          float &x = p[i][c].x[e], &dx = dz[i][c].x[e];
          if (!masked || key < seen(t))
            weigh_pair(head, t, key, normaliser, read, x, dx);
          else
            x = dx = 0;
        }
    }
  }

  /// Scalar fallback: the warp's gradients, row by row and pair by pair.
  __device__ __forceinline__ void one_by_one(size_t own_head, int first, Gradients &sums) const {
    const int lane = threadIdx.x % 32;
    sums = Gradients();
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
              float p = row_product(q.at(head, t), k.at(shared, i), q.width),
                    dz = has_logits ? row_product(d_o.at(head, t), v.at(shared, i), v.width) : 0.0f;
              const bool normalised = kernel.normalised();
              weigh_pair(head, t, i, normalised ? saved.normaliser[head * q.count + t] * log2_e : 0.0f,
                         normalised ? saved.read[head * q.count + t] : 0.0f, p, dz);
              if (lane / 4 == row) {
                if constexpr (has_logits)
                  add_row(sums.logits[tile], r, 1.0f, dz, of_queries ? k.at(shared, i) : q.at(head, t), q.width);
                if constexpr (has_values) add_row(sums.values[tile], r, 1.0f, p, d_o.at(head, t), d_o.width);
              }
            }
        }
  }

  __device__ __forceinline__ void write(size_t head, int first, const Gradients &sums) const {
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
