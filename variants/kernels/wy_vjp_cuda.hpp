// SPDX-License-Identifier: Apache-2.0
// The gradients of the delta rule's chunks (wy_vjp.hpp) on CUDA where heads are 64 wide, chunks 64 steps long, one key is
// read and written, and one number a step decays, or nothing.
#pragma once
#include "variants/kernels/pairs_in_warps.hpp"
#include "variants/kernels/too_old.hpp"
#include "variants/kernels/wy_vjp_algebra.hpp"
#ifdef __CUDACC__

namespace recollect::variants {

template <bool decaying> struct WyBackInWarps : WyAdjoint<float>, PairsInWarps {
  static constexpr bool usual_alone = true, every_precision = true;
  static constexpr int kinds = 1, reading_teams = 3;
  using WyAdjoint<float>::fetch;

  static bool suits(const Call<float> &call, const WyAdjoint<float> &adjoint) {
    return PairsInWarps::suits(call) && adjoint.has_sizes(size) && adjoint.one_key() && adjoint.decays == decaying;
  }
  KOKKOS_FUNCTION int kind() const { return 0; }
  KOKKOS_FUNCTION void set_sizes(int width, int) { WyAdjoint<float>::set_sizes(width, decaying); }

  struct Summarising {
    float *q, *k, *o;
    Decay decay;
  };
  KOKKOS_FUNCTION Summarising summarising(Stack<float> &s) const {
    return {room(s), room(s), room(s), place_decay(s, decaying)};
  }
  struct Reading {
    float *first, *second, *state;
    float *dY; // later the gates' table
    Decay decay;
  };
  KOKKOS_FUNCTION Reading reading(Stack<float> &s) const {
    return {room(s), room(s), room(s), room(s), place_decay(s, decaying)};
  }

  template <Math math>
  RECOLLECT_IN_LINE void summarise(const Precise<math> &team, const Chunk &c, const Summary &out,
                                   const Summarising &x) const {
#if __CUDA_ARCH__ >= 800
    using Unit = tile::cuda::UnitOf<math>;
    const Lane at(team);
    const Given g = given(c, out, nullptr);
    PairsInWarps::fetch<pitch>(team, g.k, x.k), PairsInWarps::fetch<pitch>(team, g.q, x.q),
        PairsInWarps::fetch<pitch>(team, g.d_o, x.o);
    if (decaying) prepare(team, g.alpha, x.decay);
    team.barrier();
    Results none[blocks];
    float left[2];
    { // L(t,i) = erase_t D(t-1,i) k_t . k_i, flipped
      auto row = RowsOf{g.k}.of<Unit::groups>(at);
      Results p[blocks];
      meet<Unit, pitch, Seen::before>(at, row, x.k, nullptr, p, none);
      weigh<true>(at, decaying, x.decay, p, left);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int t = at.row() + 8 * r, last = size - 1;
        const float factor = g.erase ? g.erase[t] : 1;
        each_pair(at,
                  [&](int b, int e, int i) { out.flipped[(last - i) * size + last - t] = factor * p[b].x[2 * r + e]; });
      }
    }
    { // dE_i = sum_{t>=i} D(t,i) (k_i . q_t) do_t
      auto row = RowsOf{g.k}.of<Unit::groups>(at);
      Results p[blocks], dE[blocks];
      meet<Unit, pitch, Seen::from>(at, row, x.q, nullptr, p, none);
      weigh_ahead(at, decaying, x.decay, p, left);
      read_own<Unit, pitch, Seen::from>(at, x.o, p, dE);
      if (finite(dE))
        put(at, dE, out.dE);
      else
        error_slowly(at.first, g, out.dE);
    }
    if (decaying)
#pragma unroll
      for (int r = 0; r < 2; ++r)
        for (int j = at.lane % 4; j < size; j += 4) {
          const int i = at.row() + 8 * r;
          out.ends[i * size + j] = left[r] * x.k[i * pitch + j];
        }
    Results sum[blocks];
    float z[2] = {};
    const float carried = add_up<Unit, pitch, true>(at, decaying, nullptr, x.q, x.o, x.decay, sum, z);
    put(at, sum, out.added);
    if (decaying) once(team, [&] { out.carried[0] = carried; });
#else
    too_old(team, c, out, x);
#endif
  }

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
    if (decaying) prepare(team, g.alpha, x.decay);
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    team.meet();
    tile::solve_flipped(Precise<Math::exact>(team), size, size, x.first, pitch, x.dY, pitch);
    PairsInWarps::fetch<pitch>(team, g.E, x.first, g.lde);
    leave_dY(at, step, x.dY, chunk.dE);
    team.barrier();
    float *const G = decaying && d.alpha.extent(0) ? x.dY : nullptr;
    const auto nothing = [](const Results(&)[blocks]){};
    {
      Results dq[blocks];
      const auto look = [&](const Results(&p)[blocks]) {
        if (G) leave_reads<Unit>(at, g.q, x.second, 1, nullptr, p, dq, G);
      };
      add_pairs<Unit, Seen::until, true, decaying>(at, {g.d_o}, {x.first, x.second, x.state}, x.decay, dq, look,
                                                   nothing);
      if (finite(dq))
        put(at, dq, g.dq);
      else
        query_slowly(at.first, g);
    }
    if (G) team.meet(); // its rows are other warps'
    Results dk[blocks];
    {
      const auto look = [&](const Results(&p)[blocks]) {
        if (G) add_erasures<Unit>(at, g.k, x.second, g.erase, p, dk, G);
      };
      add_pairs<Unit, Seen::before, true, decaying>(at, {g.dY}, {x.first, x.second, x.state}, x.decay, dk, look,
                                                    nothing);
    }
    erased(at, g, x.second, dk);
    if (decaying) { // the rest decays by itself
      put(at, dk, g.dk);
#pragma unroll
      for (Results &each : dk) each = {};
    }
    team.meet(); // all have read
    PairsInWarps::fetch<pitch>(team, g.d_o, x.first), PairsInWarps::fetch<pitch>(team, g.q, x.second),
        PairsInWarps::fetch<pitch>(team, after, x.state);
    team.barrier();
    {
      const auto look = [&](const Results(&)[blocks]) {
        if (G) leave_writes(at, g.k, nullptr, dk, G);
      };
      add_pairs<Unit, Seen::from, true, decaying>(at, {g.E, g.lde}, {x.first, x.second, x.state}, x.decay, dk, look,
                                                  nothing);
    }
    team.meet();
    PairsInWarps::fetch<pitch>(team, g.k, x.second);
    if (decaying) PairsInWarps::fetch<pitch>(team, g.dY, x.first);
    team.barrier();
    const auto minus = [&](Results(&p)[blocks]) {
#pragma unroll
      for (int b = 0; b < blocks; ++b)
#pragma unroll
        for (int e = 0; e < 4; ++e) p[b].x[e] *= Minus{g.erase}(b * block + at.place + e % 2);
    };
    add_pairs<Unit, Seen::after, true, decaying>(at, {g.E, g.lde}, {decaying ? x.first : x.dY, x.second, nullptr},
                                                 x.decay, dk, nothing, minus);
    if (decaying) {
      Results earlier[blocks];
      take(at, g.dk, size, earlier);
#pragma unroll
      for (int b = 0; b < blocks; ++b)
#pragma unroll
        for (int e = 0; e < 4; ++e) dk[b].x[e] += earlier[b].x[e];
    }
    if (finite(dk))
      put(at, dk, g.dk);
    else
      key_slowly(at.first, g);
    if (G) finish_gates(team, g.S, after, g.alpha, G, d.alpha.data() + step);
#else
    too_old(team, c, after, x);
#endif
  }

#if __CUDA_ARCH__ >= 800
private:
  /// A chunk's, in device memory. erase, alpha and d_erase may be null.
  struct Given {
    const float *q, *k, *d_o, *E, *dY, *S, *dS, *erase, *alpha;
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
            decaying ? in.alpha.data() + step : nullptr,
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

  /// dY to memory, and the gradients of v and of what writes it. A warp's rows; their values are on their way before
  /// the first is needed.
  __device__ __forceinline__ void leave_dY(const Lane &at, size_t step, const float *dY, float *to) const {
    constexpr int together = 8;
    const float *const write = WyAdjoint<float>::at(in.write, step), *const values = v.data() + step * size;
    float *const dv = d_v.data() + step * size, *const d_write = WyAdjoint<float>::at(d.write, step);
    for (int first = at.first; first < at.first + height; first += together) {
      float value[together][2], factor[together];
#pragma unroll
      for (int i = 0; i < together; ++i) {
        factor[i] = write ? write[first + i] : 1;
#pragma unroll
        for (int h = 0; h < 2; ++h) value[i][h] = d_write ? values[(first + i) * size + at.lane + 32 * h] : 0;
      }
#pragma unroll
      for (int i = 0; i < together; ++i) {
        const int t = first + i;
        float own[2], written = 0;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const int j = at.lane + 32 * h;
          own[h] = dY[t * pitch + j], written += value[i][h] * own[h];
          dv[t * size + j] = factor[i] * own[h], to[t * size + j] = own[h];
        }
        if (!d_write) continue;
        written = across_row(written, [](float a, float b) { return a + b; });
        if (at.lane == 0) d_write[t] = written;
      }
    }
  }
  /// x_t = sum of (dY_t . e_i) k_i + S dY_t, i < t, is what erasing at t takes from k_t's gradient: x becomes -erase_t x_t.
  __device__ __forceinline__ static void erased(const Lane &at, const Given &g, const float *k, Results (&x)[blocks]) {
    float along[2];
    dot_rows(at, k, pitch, x, along);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int t = at.row() + 8 * r;
      if (g.d_erase && at.place == 0) g.d_erase[t] = -along[r];
      const float factor = Minus{g.erase}(t);
#pragma unroll
      for (int b = 0; b < blocks; ++b)
#pragma unroll
        for (int e = 0; e < 2; ++e) x[b].x[2 * r + e] *= factor;
    }
  }

  // A warp's rows one by one, where some of its numbers are not finite.
  __device__ __noinline__ static void error_slowly(int first, Given g, float *dE) {
    const int lane = threadIdx.x % 32;
    for (int t = first; t < first + height; ++t) {
      float sum[2] = {};
      add_pairs<Seen::from, false>(t, {{g.k}, {g.q}, {g.d_o}, nullptr, g.alpha}, Plain(), sum);
      for (int h = 0; h < 2; ++h) dE[t * size + lane + 32 * h] = sum[h];
    }
  }
  __device__ __noinline__ static void query_slowly(int first, Given g) {
    const int lane = threadIdx.x % 32;
    for (int t = first; t < first + height; ++t) {
      float sum[2] = {};
      add_pairs<Seen::until, true>(t, {{g.d_o}, {g.E, g.lde}, {g.k}, g.S, g.alpha}, Plain(), sum);
      for (int h = 0; h < 2; ++h) g.dq[t * size + lane + 32 * h] = sum[h];
    }
  }
  __device__ __noinline__ static void key_slowly(int first, Given g) {
    const int lane = threadIdx.x % 32;
    for (int t = first; t < first + height; ++t) {
      float sum[2] = {};
      add_pairs<Seen::before, true>(t, {{g.dY}, {g.E, g.lde}, {g.k}, g.S, g.alpha}, Plain(), sum);
      const float *const k = g.k + t * size;
      const float along = across_row(k[lane] * sum[0] + k[lane + 32] * sum[1], [](float a, float b) { return a + b; });
      if (g.d_erase && lane == 0) g.d_erase[t] = -along;
      for (int h = 0; h < 2; ++h) sum[h] *= Minus{g.erase}(t);
      add_pairs<Seen::from, true>(t, {{g.E, g.lde}, {g.d_o}, {g.q}, g.dS, g.alpha}, Plain(), sum);
      add_pairs<Seen::after, true>(t, {{g.E, g.lde}, {g.dY}, {g.k}, nullptr, g.alpha}, Minus{g.erase}, sum);
      for (int h = 0; h < 2; ++h) g.dk[t * size + lane + 32 * h] = sum[h];
    }
  }
#endif
};

} // namespace recollect::variants
#endif
