// SPDX-License-Identifier: Apache-2.0
// Attention (warp_softmax_cuda.hpp) on Hopper's warpgroups, for 16-bit operands and extents Dk and Dv of 64,
// 128 or 256.
//
// A thread block has `groups` warpgroups with 64 queries each. One thread of a further warpgroup copies keys and
// values, in tiles of `keys` rows, up to two tiles ahead. In each step, a warpgroup starts two products: the scores of
// the next keys, and the previous weights times their values. It waits for the scores only, so that its exponentials
// overlap with the second product. Warpgroups start their products in turn, so that exponentials of one warpgroup
// overlap with products of another (both after Shah et al. 2024, arXiv:2407.08608, sections 3.1 and 3.2).
#pragma once
#ifdef RECOLLECT_WARPGROUPS
#include "harness/device/tile/warpgroup_cuda.hpp"
#include "variants/kernels/attention/warp_softmax_cuda.hpp"

namespace recollect::variants::attention {

/// Keys per tile: two tiles of keys and two of values fit in shared memory, and the logits of a tile fit in registers
/// next to the sums.
template <int Dk, int Dv> constexpr int hopper_keys = Dk > 128 || Dv > 128 ? 64 : 128;

template <class Op, int Dk, int Dv, class Kernel, class Finish>
struct ForwardHopper : WarpSoftmax<Op, Dv, 1, hopper_keys<Dk, Dv>, Kernel, Finish> {
  using Base = WarpSoftmax<Op, Dv, 1, hopper_keys<Dk, Dv>, Kernel, Finish>;
  using Base::q, Base::k, Base::v, Base::heads, Base::group, Base::seen, Base::keys, Base::warp_rows;
  using typename Base::Element, typename Base::Logits, typename Base::Sums;
  static constexpr int groups = Dk == 64 && Dv == 64 ? 3 : 2, rows = 64 * groups, threads = 128 * (groups + 1),
                       blocks_at_once = 1;
  static constexpr size_t shared_bytes =
      warpgroup::panel_align + sizeof(Element) * (rows * Dk + 2 * keys * (Dk + Dv)) + 128; // alignment, tiles, barriers

  CUtensorMap q_map, k_map, v_map;

  explicit ForwardHopper(const Base &softmax)
      : Base(softmax), q_map(warpgroup::tensor_map(q.data, heads, q.count, q.width, rows)),
        k_map(warpgroup::tensor_map(k.data, heads / group, k.count, k.width, keys)),
        v_map(warpgroup::tensor_map(v.data, heads / group, v.count, v.width, keys)) {}

  __host__ __device__ int blocks() const { return (q.count - 1) / rows + 1; }
  __host__ __device__ size_t units() const { return size_t(heads) * blocks(); }

  __device__ void operator()(size_t unit, void *shared) const {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    Tiles &tiles = *reinterpret_cast<Tiles *>((std::uintptr_t(shared) + warpgroup::panel_align - 1) /
                                              warpgroup::panel_align * warpgroup::panel_align);
    if (threadIdx.x == 0) {
      for (warpgroup::Barrier *b :
           {&tiles.q_full, &tiles.k_full[0], &tiles.k_full[1], &tiles.v_full[0], &tiles.v_full[1]})
        b->start(1);
      for (warpgroup::Barrier *b : {&tiles.k_read[0], &tiles.k_read[1], &tiles.v_read[0], &tiles.v_read[1]})
        b->start(4 * groups);
      warpgroup::publish_barriers();
    }
    __syncthreads();
    size_t head;
    const int first = (blocks() - 1 - block_of(unit, heads, blocks(), head)) * rows, // blocks with the most keys first
        steps = (seen(min(first + rows, q.count) - 1) + keys - 1) / keys;
    if (threadIdx.x < 128 * groups) {
      warpgroup::take_registers<groups == 2 ? 240 : 160>();
      attend(tiles, head, first, steps);
    } else {
      warpgroup::give_registers<groups == 2 ? 24 : 32>();
      if (threadIdx.x == 128 * groups) copy(tiles, head, first, steps);
      __syncwarp();
    }
    __syncthreads();
    if (threadIdx.x == 0)
      for (int b = 0; b < 9; ++b) (&tiles.q_full)[b].end();
#else
    __trap(); // never runs: the driver prefers the code for sm_90a
#endif
  }

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
private:
  /// Step i uses the tiles i % 2. `full` signals that they have arrived, `read` that they may be overwritten.
  struct Tiles {
    Element q[rows * Dk], k[2][keys * Dk], v[2][keys * Dv];
    warpgroup::Barrier q_full, k_full[2], v_full[2], k_read[2], v_read[2];
  };

  __device__ __forceinline__ void copy(Tiles &tiles, size_t head, int first, int steps) const {
    if (steps > 0) warpgroup::copy_tile<rows, Dk>(q_map, head, first, tiles.q, tiles.q_full);
    for (int i = 0; i <= steps; ++i) { // keys are needed one step before values
      if (i < steps) {
        if (i >= 2) tiles.k_read[i % 2].wait((i / 2 - 1) % 2);
        warpgroup::copy_tile<keys, Dk>(k_map, head / group, i * keys, tiles.k[i % 2], tiles.k_full[i % 2]);
      }
      if (i > 0) {
        const int j = i - 1;
        if (j >= 2) tiles.v_read[j % 2].wait((j / 2 - 1) % 2);
        warpgroup::copy_tile<keys, Dv>(v_map, head / group, j * keys, tiles.v[j % 2], tiles.v_full[j % 2]);
      }
    }
  }

  __device__ __forceinline__ void attend(Tiles &tiles, size_t head, int first_of_block, int steps) const {
    const int warp = __shfl_sync(0xffffffffu, int(threadIdx.x) / 32, 0), group_of_warp = warp / 4,
              first = first_of_block + warp * warp_rows;
    const Element *const q_rows = tiles.q + group_of_warp * 64 * warpgroup::panel;
    Sums sums;
    if (steps > 0) {
      Logits p;
      float shrink[1][2];
      fragments::A16<Op> weights[keys / 16];
      if (group_of_warp == groups - 1 && steps > 1) give_turn(0);
      tiles.q_full.wait(0);
      tiles.k_full[0].wait(0);
      warpgroup::multiply_rows<Op, rows, Dk, keys>(q_rows, tiles.k[0], p[0]);
      warpgroup::wait_for_products<0>();
      tiles.k_read[0].arrive_as_warp();
      this->find_peaks(head, first, 0, p, sums, shrink);
      weigh_all(p, sums);
      fragments::as_operands<Op>(p[0], weights);
#pragma unroll 1
      for (int i = 1; i < steps; ++i) {
        tiles.k_full[i % 2].wait(i / 2 % 2);
        wait_for_turn(group_of_warp);
        warpgroup::multiply_rows<Op, rows, Dk, keys>(q_rows, tiles.k[i % 2], p[0]);
        tiles.v_full[(i - 1) % 2].wait((i - 1) / 2 % 2);
        warpgroup::add_product(weights, tiles.v[(i - 1) % 2], sums.of[0]);
        if (i < steps - 1 || group_of_warp < groups - 1) give_turn((group_of_warp + 1) % groups);
        warpgroup::wait_for_products<1>();
        tiles.k_read[i % 2].arrive_as_warp();
        const bool rescales = this->find_peaks(head, first, i * keys, p, sums, shrink);
        weigh_all(p, sums);
        warpgroup::wait_for_products<0>();
        tiles.v_read[(i - 1) % 2].arrive_as_warp();
        if (rescales) this->rescale(sums, shrink);
        fragments::as_operands<Op>(p[0], weights);
      }
      tiles.v_full[(steps - 1) % 2].wait((steps - 1) / 2 % 2);
      warpgroup::add_product(weights, tiles.v[(steps - 1) % 2], sums.of[0]);
      warpgroup::wait_for_products<0>();
    }
    if (!__all_sync(0xffffffffu, is_finite(sums.of))) this->scalar_fallback(head, first, sums);
    this->finish_rows(head, first, sums);
  }

  /// Each warpgroup has a named barrier, at which it waits until the previous warpgroup has started its products.
  __device__ __forceinline__ static void wait_for_turn(int of) {
    asm volatile("bar.sync %0, 256;" ::"r"(1 + of) : "memory");
  }
  __device__ __forceinline__ static void give_turn(int to) {
    asm volatile("bar.arrive %0, 256;" ::"r"(1 + to) : "memory");
  }
  __device__ __forceinline__ void weigh_all(Logits &p, Sums &sums) const {
#pragma unroll
    for (int c = 0; c < keys / 16; ++c) this->weigh(0, p[0][2 * c], p[0][2 * c + 1], sums);
  }
#endif
};

} // namespace recollect::variants::attention
#endif
