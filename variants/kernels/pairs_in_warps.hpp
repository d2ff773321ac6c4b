// SPDX-License-Identifier: Apache-2.0
// A chunk's reads as gradients are made of them, where chunk_in_warps.hpp serves: of every pair of a row with those before
// it or after it, and of a state; and the table that gradients of decays are made of.
#pragma once
#include "variants/kernels/chunk_in_warps.hpp"
#include "variants/kernels/gate_gradient.hpp"
#ifdef __CUDACC__

namespace recollect::variants {

struct PairsInWarps : ChunkInWarps {
  /// [size,size] in shared memory.
  KOKKOS_FUNCTION static float *room(Stack<float> &s) { return s.take(size * pitch); }
  static constexpr int ldg = size + 1; // of gate_gradient.hpp's table, for which a room suffices
  static_assert((size + 1) * ldg <= size * pitch);

#if __CUDA_ARCH__ >= 800
  /// In shared memory; no state where it is null.
  struct Tiles {
    const float *met, *read, *state;
  };
  /// A warp's rows in device memory, ld apart.
  struct RowsOf {
    const float *data;
    int ld = size;
    template <int groups> __device__ Queries<groups> of(const Lane &at) const {
      return Queries<groups>(data + at.row() * ld + at.place, ld);
    }
  };

  /// sum_t += the state's read (meet), of which D(t,0), or looking ahead D(C,t), is left where something is `decaying`;
  /// then sum_t += sum over the seen of p(t,i) read_i, p(t,i) = D (row_t . met_i), which look(p) sees before it decays
  /// and change(p) changes after that. Without a state nothing that is in the sum decays.
  template <class Unit, Seen seen, bool along, bool decaying, class Look, class Change>
  __device__ __forceinline__ static void add_pairs(const Lane &at, const RowsOf &rows, const Tiles &x,
                                                   const Decay &decay, Results (&sum)[blocks], const Look &look,
                                                   const Change &change) {
    constexpr bool early = !is_seen(seen, 0, 0); // before the step decays
    auto row = rows.of<Unit::groups>(at);
    Results p[blocks];
    float left[2];
    meet<Unit, pitch, seen, along>(at, row, x.met, x.state, p, sum);
    look(p);
    if constexpr (looks_back(seen))
      weigh<early>(at, decaying, decay, p, left);
    else
      weigh_ahead<early>(at, decaying, decay, p, left);
    change(p);
    if (decaying && x.state) decay_rows(left, sum);
    read_own<Unit, pitch, seen>(at, x.read, p, sum);
  }

  // The table G. What looks sees pairs and the state's read before anything decays.

  /// Of reads t, of the chunk's writes and of what was before them: dp(t,i) = do_t . v_i, started_t = S_0 do_t; keys in
  /// shared memory. Null strengths are 1.
  template <class Unit>
  __device__ __forceinline__ static void leave_reads(const Lane &at, const float *q, const float *k, float scale,
                                                     const float *strength, const Results (&dp)[blocks],
                                                     const Results (&started)[blocks], float *G) {
    Results p[blocks];
    float along[2];
    meet_again<Unit>(at, q, k, started, p, along);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int t = at.row() + 8 * r;
      float *const own = G + t * ldg;
      if (at.place == 0) own[0] = scale * along[r];
      each_pair(at, [&](int b, int e, int i) {
        if (i < t) own[i + 1] = scale * (strength ? strength[i] : 1) * p[b].x[2 * r + e] * dp[b].x[2 * r + e];
      });
    }
  }
  /// Adds those of erasures, which read what step t - 1 has left: dp(t,i) = dY_t . e_i, started_t = S_0 dY_t.
  template <class Unit>
  __device__ __forceinline__ static void add_erasures(const Lane &at, const float *keys, const float *k,
                                                      const float *erase, const Results (&dp)[blocks],
                                                      const Results (&started)[blocks], float *G) {
    Results p[blocks];
    float along[2];
    meet_again<Unit>(at, keys, k, started, p, along);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int t = at.row() + 8 * r;
      if (t == 0) continue;
      const float factor = erase ? -erase[t] : -1;
      float *const own = G + (t - 1) * ldg;
      if (at.place == 0) own[0] += factor * along[r];
      each_pair(at, [&](int b, int e, int i) {
        if (i < t - 1) own[i + 1] += factor * p[b].x[2 * r + e] * dp[b].x[2 * r + e];
      });
    }
  }
  /// Of writes i that are read after the chunk: left_i = dS_C v_i.
  __device__ __forceinline__ static void leave_writes(const Lane &at, const float *k, const float *strength,
                                                      const Results (&left)[blocks], float *G) {
    float along[2];
    dot_rows(at, k, size, left, along);
    for (int r = 0; at.place == 0 && r < 2; ++r) {
      const int i = at.row() + 8 * r;
      G[size * ldg + i + 1] = (strength ? strength[i] : 1) * along[r];
    }
  }
  /// What passes from before the chunk to after it, and the gradients. Barriers inside.
  __device__ __forceinline__ static void finish_gates(const Team &team, const float *S, const float *dS,
                                                      const float *alpha, float *G, float *d_alpha) {
    const float across = reduce(
        team, size * size, 0.0f, [=](int i) { return S[i] * dS[i]; }, [](float a, float b) { return a + b; });
    once(team, [&] { G[size * ldg] = across; });
    team.barrier();
    gate_gradient(team, size, alpha, G, ldg, d_alpha);
  }

  /// The same for one row t by a whole warp, from device memory: a lane's columns, lane and lane + 32. Numbers that are not
  /// finite and not seen do not reach it. Where something decays, pairs and the state count what is left between.
  struct InMemory {
    RowsOf rows, met, read;
    const float *state; // rows `size` apart, or null
    const float *alpha = nullptr;
  };
  template <Seen seen, bool along, class Factor>
  __device__ static void add_pairs(int t, const InMemory &x, const Factor &factor, float (&sum)[2]) {
    constexpr int step = looks_back(seen) ? -1 : 1, first = is_seen(seen, 0, 0) ? 0 : step;
    const int lane = threadIdx.x % 32;
    const float *const row = x.rows.data + t * x.rows.ld;
    float left = 1;
    for (int i = t + first; i >= 0 && i < size; i += step) {
      if (x.alpha && seen == Seen::from && i > t) left *= x.alpha[i];
      const float weight = left * factor(i) * row_dot(row, x.met.data + i * x.met.ld, size, lane, 32);
      for (int h = 0; h < 2; ++h) sum[h] += weight * x.read.data[i * x.read.ld + lane + 32 * h];
      if (x.alpha && seen != Seen::from) left *= x.alpha[i];
    }
    for (int j = 0; x.state && j < size; ++j)
      for (int h = 0; h < 2; ++h) {
        const int column = lane + 32 * h;
        sum[h] += left * row[j] * x.state[along ? column * size + j : j * size + column];
      }
  }

protected:
  template <class Unit>
  __device__ __forceinline__ static void meet_again(const Lane &at, const float *rows, const float *k,
                                                    const Results (&started)[blocks], Results (&p)[blocks],
                                                    float (&along)[2]) {
    auto row = RowsOf{rows}.of<Unit::groups>(at);
    Results none[blocks];
    meet<Unit, pitch>(at, row, k, nullptr, p, none);
    dot_rows(at, rows, size, started, along);
  }
  template <class F> __device__ __forceinline__ static void each_pair(const Lane &at, const F &f) {
#pragma unroll
    for (int b = 0; b < blocks; ++b)
#pragma unroll
      for (int e = 0; e < 2; ++e) f(b, e, b * block + at.place + e);
  }
#endif
};

} // namespace recollect::variants
#endif
