// SPDX-License-Identifier: Apache-2.0
// The gradients of the delta rule's chunks (wy_vjp.hpp) on CUDA where heads are 64 wide, chunks 64 steps long, one key is
// read and written and nothing decays.
#pragma once
#include "variants/kernels/pairs_in_warps.hpp"
#include "variants/kernels/too_old.hpp"
#include "variants/kernels/wy_vjp_algebra.hpp"
#ifdef __CUDACC__

namespace recollect::variants {

struct WyBackInWarps : WyAdjoint<float>, PairsInWarps {
  static constexpr bool usual_alone = true, every_precision = true;
  static constexpr int kinds = 1;                                                               // nothing decays
  static constexpr int threads = 0, reading_threads = PairsInWarps::threads, reading_teams = 3; // reading's alone
  using WyAdjoint<float>::fetch;

  static bool suits(const Call<float> &call, const WyAdjoint<float> &adjoint) {
    return PairsInWarps::suits(call) && adjoint.has_sizes(size) && adjoint.one_key() && adjoint.decays == 0;
  }

  struct Reading {
    float *first, *second, *state, *dY;
  };
  KOKKOS_FUNCTION Reading reading(Stack<float> &s) const { return {room(s), room(s), room(s), room(s)}; }

  /// `after` is dS_C: what comes after the chunk has left it.
  template <Math math>
  RECOLLECT_IN_LINE void read(const Precise<math> &team, const Chunk &c, const Summary &chunk, const float *after,
                              const Reading &x) const {
#if __CUDA_ARCH__ >= 800
    using Unit = tile::cuda::UnitOf<math>;
    const Lane at(team);
    const size_t step = c.head * T + c.first;
    const Given g = given(c, chunk, after);
    PairsInWarps::fetch<pitch>(team, chunk.dE, x.dY), PairsInWarps::fetch<pitch>(team, chunk.flipped, x.first);
    asm volatile("cp.async.commit_group;" ::: "memory");
    PairsInWarps::fetch<pitch>(team, g.k, x.second), PairsInWarps::fetch<pitch>(team, g.S, x.state);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    team.meet();
    tile::solve_flipped(Precise<Math::exact>(team), size, size, x.first, pitch, x.dY, pitch);
    PairsInWarps::fetch<pitch>(team, g.E, x.first, g.lde);
    leave_dY(team, step, x.dY, chunk.dE);
    team.barrier();
    {
      Results dq[blocks];
      add_pairs<Unit, Seen::until, true>(at, {g.d_o}, {x.first, x.second, x.state}, Plain(), dq);
      if (finite(dq))
        put(at, dq, g.dq);
      else
        query_slowly(at.first, g);
    }
    Results dk[blocks];
    add_pairs<Unit, Seen::before, true>(at, {g.dY}, {x.first, x.second, x.state}, Plain(), dk);
    erased(at, g, x.second, dk);
    team.meet(); // all have read
    PairsInWarps::fetch<pitch>(team, g.d_o, x.first), PairsInWarps::fetch<pitch>(team, g.q, x.second),
        PairsInWarps::fetch<pitch>(team, after, x.state);
    team.barrier();
    add_pairs<Unit, Seen::from, true>(at, {g.E, g.lde}, {x.first, x.second, x.state}, Plain(), dk);
    team.meet();
    PairsInWarps::fetch<pitch>(team, g.k, x.second);
    team.barrier();
    add_pairs<Unit, Seen::after, true>(at, {g.E, g.lde}, {x.dY, x.second, nullptr}, Minus{g.erase}, dk);
    if (finite(dk))
      put(at, dk, g.dk);
    else
      key_slowly(at.first, g);
#else
    too_old(team, c, after, x);
#endif
  }

#if __CUDA_ARCH__ >= 800
private:
  /// A chunk's, in device memory. erase and d_erase may be null.
  struct Given {
    const float *q, *k, *d_o, *E, *dY, *S, *dS, *erase;
    int lde;
    float *dq, *dk, *d_erase;
  };
  __device__ __forceinline__ Given given(const Chunk &c, const Summary &chunk, const float *after) const {
    const size_t step = c.head * T + c.first, first = step * size;
    return {q.data() + first,
            in.p.data() + first,
            d_o.data() + first,
            kept.X.data() + step * ldx() + F,
            chunk.dE,
            kept.starts.of(c),
            after,
            at(in.erase, step),
            int(ldx()),
            d.q.data() + first,
            d.p.data() + first,
            at(d.erase, step)};
  }
  using WyAdjoint<float>::at;
  struct Plain {
    __device__ float operator()(int) const { return 1; }
  };
  struct Minus {
    const float *erase;
    __device__ float operator()(int i) const { return erase ? -erase[i] : -1; }
  };

  /// dY to memory, and the gradients of v and of what writes it.
  __device__ __forceinline__ void leave_dY(const Team &team, size_t step, const float *dY, float *to) const {
    const float *const write = at(in.write, step), *const values = v.data() + step * size;
    float *const dv = d_v.data() + step * size, *const d_write = at(d.write, step);
    each_row(team, size, [=](int t, int first, int side) {
      const float w = write ? write[t] : 1, *const own = dY + t * pitch;
      if (d_write) {
        const float written = row_dot(values + t * size, own, size, first, side);
        if (first == 0) d_write[t] = written;
      }
      for (int i = first; i < size; i += side) dv[t * size + i] = w * own[i], to[t * size + i] = own[i];
    });
  }
  /// x_t = sum of (dY_t . e_i) k_i + S dY_t, i < t, is what erasing at t takes from k_t's gradient: x becomes -erase_t x_t.
  __device__ __forceinline__ static void erased(const Lane &at, const Given &g, const float *k, Results (&x)[blocks]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int t = at.row() + 8 * r;
      float along = 0;
#pragma unroll
      for (int b = 0; b < blocks; ++b)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          along += k[t * pitch + tile::cuda::column_of(b, at.lane) + 2 * e] * x[b].x[2 * r + e];
      along = tile::cuda::across_four(along);
      if (g.d_erase && at.place == 0) g.d_erase[t] = -along;
      const float factor = Minus{g.erase}(t);
#pragma unroll
      for (int b = 0; b < blocks; ++b)
#pragma unroll
        for (int e = 0; e < 2; ++e) x[b].x[2 * r + e] *= factor;
    }
  }

  // A warp's rows one by one, where some of its numbers are not finite.
  __device__ __noinline__ static void query_slowly(int first, Given g) {
    const int lane = threadIdx.x % 32;
    for (int t = first; t < first + height; ++t) {
      float sum[2] = {};
      add_pairs<Seen::until, true>(t, {{g.d_o}, {g.E, g.lde}, {g.k}, g.S}, Plain(), sum);
      for (int h = 0; h < 2; ++h) g.dq[t * size + lane + 32 * h] = sum[h];
    }
  }
  __device__ __noinline__ static void key_slowly(int first, Given g) {
    const int lane = threadIdx.x % 32;
    for (int t = first; t < first + height; ++t) {
      float sum[2] = {};
      add_pairs<Seen::before, true>(t, {{g.dY}, {g.E, g.lde}, {g.k}, g.S}, Plain(), sum);
      const float *const k = g.k + t * size;
      const float along = across_row(k[lane] * sum[0] + k[lane + 32] * sum[1], [](float a, float b) { return a + b; });
      if (g.d_erase && lane == 0) g.d_erase[t] = -along;
      for (int h = 0; h < 2; ++h) sum[h] *= Minus{g.erase}(t);
      add_pairs<Seen::from, true>(t, {{g.E, g.lde}, {g.d_o}, {g.q}, g.dS}, Plain(), sum);
      add_pairs<Seen::after, true>(t, {{g.E, g.lde}, {g.dY}, {g.k}, nullptr}, Minus{g.erase}, sum);
      for (int h = 0; h < 2; ++h) g.dk[t * size + lane + 32 * h] = sum[h];
    }
  }
#endif
};

} // namespace recollect::variants
#endif
