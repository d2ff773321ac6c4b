// SPDX-License-Identifier: Apache-2.0
// Gradients of attention (warp_gradient_cuda.hpp) on Hopper's warpgroups, for 16-bit operands, extents Dk and Dv of 64
// or 128, and logits proportional to products.
//
// A thread block has `groups` warpgroups, and each owns 64 rows. One further warp copies the other rows of the pairs
// (keys for queries, queries for keys), in tiles of `others` rows, up to `stages` tiles ahead. A warpgroup computes
// weights while its products for dp run, and derivatives while its products for dv run. The products of another
// warpgroup can run during the rest of its scalar work.
#pragma once
#ifdef RECOLLECT_WARPGROUPS
#include "variants/kernels/attention/forward_hopper_cuda.hpp"
#include "variants/kernels/attention/warp_gradient_cuda.hpp"

namespace recollect::variants::attention {

/// groups: warpgroups that multiply; others: rows of a copied tile; stages: tiles in shared memory.
struct HopperTuning {
  int groups, others, stages;
};
template <int Dk, int Dv, Of of> constexpr HopperTuning hopper_tuning() {
  if (Dk == 64 && Dv == 64) return {2, 128, 3};
  return is_of_queries(of) ? HopperTuning{2, 128, 2} : HopperTuning{2, 64, 3};
}
template <class Op, int Dk, int Dv, class Kernel, class Out, Of of>
using HopperGradient = WarpGradient<Op, Dk, Dv, 64 * hopper_tuning<Dk, Dv, of>().groups, 1,
                                    hopper_tuning<Dk, Dv, of>().others, Kernel, Out, of>;

template <class Op, int Dk, int Dv, class Kernel, class Out, Of of>
struct BackwardHopper : HopperGradient<Op, Dk, Dv, Kernel, Out, of> {
  using Base = HopperGradient<Op, Dk, Dv, Kernel, Out, of>;
  using Base::q, Base::k, Base::v, Base::d_o, Base::heads, Base::group, Base::kernel, Base::seen, Base::of_queries,
      Base::has_values, Base::rows, Base::others, Base::warp_rows;
  using typename Base::Block, typename Base::Element, typename Base::Pairs, typename Base::Pair,
      typename Base::RowStatistics, typename Base::Sums;
  static constexpr HopperTuning tuning = hopper_tuning<Dk, Dv, of>();
  static constexpr int groups = tuning.groups, stages = tuning.stages, threads = 128 * (groups + 1), blocks_at_once = 1;
  static constexpr size_t shared_bytes = warpgroup::panel_align + // alignment, tiles, statistics, barriers
                                         sizeof(Element) * (rows + stages * others) * (Dk + Dv) +
                                         sizeof(float) * 2 * stages * others + 128;

  CUtensorMap own_k_map, own_v_map, k_map, v_map;

  explicit BackwardHopper(const Base &gradient)
      : Base(gradient), own_k_map(map_of(of_queries ? q : k, of_queries, rows)),
        own_v_map(map_of(of_queries ? d_o : v, of_queries, rows)),
        k_map(map_of(of_queries ? k : q, !of_queries, others)),
        v_map(map_of(of_queries ? v : d_o, !of_queries, others)) {}

  __device__ void operator()(size_t unit, void *shared) const {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    Tiles &tiles = *reinterpret_cast<Tiles *>((std::uintptr_t(shared) + warpgroup::panel_align - 1) /
                                              warpgroup::panel_align * warpgroup::panel_align);
    if (threadIdx.x == 0) {
      tiles.own_full.start(2);
      for (int s = 0; s < stages; ++s) {
        tiles.full[s].start(of_queries ? 2 : 3); // arrivals: two copies and, if columns are queries, their statistics
        tiles.read[s].start(4 * groups);
      }
      warpgroup::publish_barriers();
    }
    __syncthreads();
    const Block block = this->block(unit);
    if (threadIdx.x < 128 * groups) {
      warpgroup::take_registers<groups == 2 ? 240 : 160>();
      differentiate(tiles, block);
    } else {
      warpgroup::give_registers<groups == 2 ? 24 : 32>();
      if (threadIdx.x < 128 * groups + 32) copy(tiles, block);
      __syncwarp();
    }
    __syncthreads();
    if (threadIdx.x == 0)
      for (int b = 0; b < 1 + 2 * stages; ++b) (&tiles.own_full)[b].end();
#else
    __trap(); // never runs: the driver prefers the code for sm_90a
#endif
  }

private:
  CUtensorMap map_of(const DeviceRows<const Element> &x, bool queries, int at_once) const {
    return warpgroup::tensor_map(x.data, queries ? heads : heads / group, x.count, x.width, at_once);
  }

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  /// Step n uses the tiles n % stages. `full` signals that they have arrived, `read` that they may be overwritten.
  struct Tiles {
    Element own_k[rows * Dk], own_v[rows * Dv], k[stages][others * Dk], v[stages][others * Dv];
    float normaliser[stages][others], read_out[stages][others]; // statistics of the columns, if these are queries
    warpgroup::Barrier own_full, full[stages], read[stages];
  };

  /// Which tiles a step uses, and the parity of the number of times that they have been used before.
  struct Stage {
    int at = 0, parity = 0;
    __device__ __forceinline__ void advance() {
      if (++at == stages) at = 0, parity ^= 1;
    }
  };

  /// Copies the tiles of the other rows (keys for queries, queries for keys); called by one warp.
  __device__ __forceinline__ void copy(Tiles &tiles, const Block &block) const {
    const int lane = threadIdx.x % 32;
    if (lane == 0 && block.count > 0) {
      warpgroup::copy_tile<rows, Dk>(own_k_map, block.head, block.first, tiles.own_k, tiles.own_full);
      warpgroup::copy_tile<rows, Dv>(own_v_map, block.head, block.first, tiles.own_v, tiles.own_full);
    }
    Stage stage;
    for (int n = 0; n < block.count; ++n, stage.advance()) {
      const size_t head = this->other_head(block.head, n / block.per_head);
      const int first = block.begin + n % block.per_head * others, s = stage.at;
      float2 statistics[others / 32];
      if constexpr (!of_queries)
#pragma unroll
        for (int i = 0; i < others / 32; ++i) statistics[i] = this->statistics_of(head, first + 32 * i + lane);
      if (n >= stages) tiles.read[s].wait(stage.parity ^ 1);
      if (lane == 0) {
        warpgroup::copy_tile<others, Dk>(k_map, head, first, tiles.k[s], tiles.full[s]);
        warpgroup::copy_tile<others, Dv>(v_map, head, first, tiles.v[s], tiles.full[s]);
      }
      if constexpr (!of_queries) {
#pragma unroll
        for (int i = 0; i < others / 32; ++i) {
          tiles.normaliser[s][32 * i + lane] = statistics[i].x;
          tiles.read_out[s][32 * i + lane] = statistics[i].y;
        }
        __syncwarp();
        if (lane == 0) tiles.full[s].arrive();
      }
    }
  }

  __device__ __forceinline__ void differentiate(Tiles &tiles, const Block &block) const {
    const int warp = __shfl_sync(0xffffffffu, int(threadIdx.x) / 32, 0), first = block.first + warp * warp_rows,
              first_of_group = warp / 4 * 64;
    const Element *const own_k = tiles.own_k + first_of_group * warpgroup::panel;
    const Element *const own_v = tiles.own_v + first_of_group * warpgroup::panel;
    const RowStatistics statistics(*this, block.head, of_queries ? first : q.count);
    Sums sums;
    if (block.count > 0) {
      Pairs p, dz;
      fragments::A16<Op> weights[others / 16], derivatives[others / 16];
      Stage stage;
      tiles.own_full.wait(0);
#pragma unroll 1
      for (int n = 0, other = block.begin; n < block.count; ++n, stage.advance()) {
        const int s = stage.at;
        tiles.full[s].wait(stage.parity);
        warpgroup::multiply_rows<Op, rows, Dk, others>(own_k, tiles.k[s], p[0]);
        warpgroup::multiply_rows<Op, rows, Dv, others>(own_v, tiles.v[s], dz[0]);
        warpgroup::wait_for_products<1>();
        warpgroup::settle(p[0]);
        if (this->all_count(first, other))
          weigh<false>(first, other, tiles.normaliser[s], statistics, p);
        else
          weigh<true>(first, other, tiles.normaliser[s], statistics, p);
        if constexpr (has_values) {
          fragments::as_operands<Op>(p[0], weights);
          warpgroup::add_product(weights, tiles.v[s], sums.values[0]);
        }
        warpgroup::wait_for_products<has_values ? 1 : 0>();
        warpgroup::settle(dz[0]);
        derive(tiles.read_out[s], statistics, p, weights, dz);
        fragments::as_operands<Op>(dz[0], derivatives);
        warpgroup::add_product(derivatives, tiles.k[s], sums.logits[0]);
        warpgroup::wait_for_products<0>();
        tiles.read[s].arrive_as_warp();
        other += others;
        if (!of_queries && other >= q.count) other = block.begin; // first visible query of the next head
      }
      warpgroup::settle(sums.logits[0]);
      if constexpr (has_values) warpgroup::settle(sums.values[0]);
    }
    this->finish(block.head, first, sums);
  }

  /// Turns products into weights; 0 where the query does not see the key.
  template <bool masked>
  __device__ __forceinline__ void weigh(int first, int other, const float *normaliser, const RowStatistics &of_rows,
                                        Pairs &p) const {
    const float scale = exponent_scale(kernel);
#pragma unroll
    for (int c = 0; c < others / 8; ++c) {
      const float2 of_columns = Base::two_columns(normaliser, c);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const Pair at(first, other, 0, c, e);
        float &x = p[0][c].x[e];
        x = exp2_of(fmaf(x, scale, -Base::statistic(of_rows.normaliser[0], of_columns, e)));
        if (masked && at.key >= seen(at.t)) x = 0;
      }
    }
  }
  /// Turns dp into the derivatives with respect to the logits. If dk and dv are both summed, registers are scarce, and
  /// the rounded weights p are used.
  __device__ __forceinline__ static void derive(const float *read_out, const RowStatistics &of_rows, const Pairs &p,
                                                const fragments::A16<Op> (&weights)[others / 16], Pairs &dz) {
#pragma unroll
    for (int c = 0; c < others / 8; ++c) {
      const float2 of_columns = Base::two_columns(read_out, c);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        float2 two = make_float2(p[0][c].x[2 * r], p[0][c].x[2 * r + 1]);
        if constexpr (has_values && others > 64) two = fragments::unpacked<Element>(weights[c / 2].x[c % 2 * 2 + r]);
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float &x = dz[0][c].x[2 * r + e];
          x = (e ? two.y : two.x) * (x - Base::statistic(of_rows.read[0], of_columns, 2 * r + e));
        }
      }
    }
  }
#endif
};

} // namespace recollect::variants::attention
#endif
