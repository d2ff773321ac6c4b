// SPDX-License-Identifier: Apache-2.0
// The gradients of a chunk, given the state S at the chunk's start and the gradient dS of the state at its end. All
// chunks run in parallel. Letters are as in problem.hpp. For i <= t let dA(t,i) = scale D(t,i) do_t . v_i. For delta
// rules, e_i replaces v_i, and 1 replaces write_i, in dA, dq and dk:
//
//   dq_t = scale D(t,0) S^T do_t + sum_{i<=t} dA(t,i) write_i k_i
//   dk_i = write_i (D(C,i) dS^T v_i + sum_{t>=i} dA(t,i) q_t)
//   dv_i = write_i (D(C,i) dS k_i + sum_{t>=i} scale D(t,i) (q_t . k_i) do_t)         decayed sums
//   d write_i = k_i . (the sum in parentheses in dk_i)                                decayed sums
//
// For delta rules let dE be the gradient of E, dY = X^T dE, and dL(t,i) = - D(t-1,i) dy_t . e_i for i < t. Then
//
//   dv_t = write_t dy_t,   d write_t = v_t . dy_t
//   x_t  = - D(t-1,0) S^T dy_t + sum_{i<t} dL(t,i) k_i,   d erase_t = k_t . x_t
//   dk_i += erase_i x_i + sum_{t>i} erase_t dL(t,i) k_t.
//
// The decays' gradients are in gate_gradient.hpp.
#pragma once
#include "variants/kernels/chunked/gate_tables.hpp"
#include "variants/kernels/chunked/scalar_gradients.hpp"
#ifdef __CUDACC__

namespace recollect::chunked {

/// Types, sizes and copies of all stages that run one thread block per chunk.
template <class Op, class Stored_, int Dk_, int Dv_> struct ChunkStage {
  using Stored = Stored_;
  using E = Element<Op>;
  static constexpr int Dk = Dk_, Dv = Dv_, wider = Dk > Dv ? Dk : Dv;
  static constexpr int parts = wider > 128 ? 4 : 2, threads = 128 * parts;
  static constexpr int P = sizeof(E) == 4 && wider > 128 ? 16 : 32; // width of panels
  static constexpr int panel_pitch = P + 8, score_pitch = chunk + 8, key_pitch = Dk + 8, value_pitch = Dv + 8;
  static constexpr int tile = chunk * score_pitch; // elements of a padded [64,64] matrix of pairs of steps
  using Place = WarpPlace<parts>;
  using Scores = RowsOfSums<chunk, parts>;
  using Keys = RowsOfSums<Dk, parts>;
  using Values = RowsOfSums<Dv, parts>;

  template <int rows, int columns>
  __device__ __forceinline__ static void load(const E *from, int ld, int valid_rows, int valid_columns, E *to) {
    load_panel<Op, rows, columns, threads>(from, ld, valid_rows, valid_columns,
                                           to); // loads from an array that an earlier stage saved
  }
  /// Loads columns first ... first + columns - 1 of an array with `width` numbers per step.
  template <int rows, int columns>
  __device__ __forceinline__ static void load_steps(const Stored *from, int width, int first, int valid_rows, E *to) {
    load_panel<Op, rows, columns, threads>(from + first, width, valid_rows, width - first, to);
  }
};

template <class Op, class Stored, int Dk_, int Dv_, bool erases>
struct ChunkGradient : ChunkStage<Op, Stored, Dk_, Dv_> {
  using Stage = ChunkStage<Op, Stored, Dk_, Dv_>;
  using Stage::Dk, Stage::Dv, Stage::parts, Stage::threads, Stage::P, Stage::panel_pitch, Stage::score_pitch,
      Stage::key_pitch, Stage::value_pitch, Stage::tile;
  using typename Stage::E, typename Stage::Place, typename Stage::Scores, typename Stage::Keys, typename Stage::Values;
  static constexpr int min_blocks = sizeof(E) == 2 && parts == 2 ? 2 : 1;

  static constexpr int max_of(int a, int b) { return a > b ? a : b; }
  static constexpr int narrow_panel = chunk * panel_pitch, erased_panel = P * score_pitch; // padded [64,P] and [P,64]
  static constexpr int states_at = narrow_panel + max_of(narrow_panel, erased_panel);
  static constexpr int panel_elements =
      max_of(max_of(states_at + P * key_pitch, 2 * P * key_pitch),
             max_of(erases ? P *value_pitch + erased_panel : 2 * narrow_panel + Dv * panel_pitch, P *value_pitch));
  /// Bytes of a panel buffer. If gates have gradients, a buffer holds panels of both S and dS.
  __host__ __device__ static int panel_bytes(bool gates) {
    constexpr int both = states_at + 2 * P * key_pitch;
    return (gates && both > panel_elements ? both : panel_elements) * int(sizeof(E));
  }
  static constexpr int slots = 2, dots_bytes = (slots * parts * chunk + 2 * 32 + 5 * chunk) * int(sizeof(float));

  __host__ __device__ static int rest_bytes(bool decays, bool gates, bool weighs) {
    return int(sizeof(DecayTables)) + dots_bytes + (erases || weighs ? 2 : 1) * tile * int(sizeof(E)) +
           (decays ? PairDecays::bytes : 0) + (gates ? GateTable::bytes : 0);
  }
  /// Number of panel buffers, 2 ... 4: as many as fit in shared memory with min_blocks blocks per multiprocessor.
  __host__ __device__ static int buffers_of(bool decays, bool gates, bool weighs) {
    const int space = (227 / min_blocks - 1) * 1024 - rest_bytes(decays, gates, weighs),
              fit = space / panel_bytes(gates);
    return fit < 2 ? 2 : fit > 4 ? 4 : fit;
  }
  /// Shared memory per block. `weighs` is true for a decayed sum with write strengths.
  __host__ __device__ static int shared_bytes(bool decays, bool gates, bool weighs) {
    return rest_bytes(decays, gates, weighs) + buffers_of(decays, gates, weighs) * panel_bytes(gates);
  }

  __device__ static void run(const Adjoint<Op, Stored> &a, unsigned char *shared) {
    const Inputs<Stored> &in = a.in;
    const int thread = threadIdx.x, K = in.kept_keys(), V = in.kept_values();
    const ChunkOfHead c = in.chunk_of_head(a.first_chunk + blockIdx.x);
    const int steps = c.steps;
    const bool decays = in.alpha, gates = decays && a.d_alpha, weighs = !erases && in.write;
    const float scale = in.scale;

    DecayTables &decay = *reinterpret_cast<DecayTables *>(shared);
    shared += sizeof(DecayTables);
    float *const dots = reinterpret_cast<float *>(shared);
    shared += dots_bytes;
    E *const scores = reinterpret_cast<E *>(shared), *const second = erases || weighs ? scores + tile : scores;
    shared += (erases || weighs ? 2 : 1) * tile * sizeof(E);
    const PairDecays D{decays ? reinterpret_cast<float *>(shared) : nullptr};
    if (decays) shared += PairDecays::bytes;
    const GateTable G{gates ? reinterpret_cast<float *>(shared) : nullptr};
    if (gates) shared += GateTable::bytes;
    PanelRing ring{shared, panel_bytes(gates), buffers_of(decays, gates, weighs)};

    const Stored *const q = in.q + c.key_row * in.Dk, *const k = in.k + c.key_row * in.Dk,
                        *const v = in.v + c.row * in.Dv, *const d_o = a.d_o + c.row * in.Dv;
    const float *const write = in.write ? in.write + c.row : nullptr, *const erase =
                                                                          in.erase ? in.erase + c.row : nullptr;
    const E *const S = a.states + c.chunk * V * K, *const dS = a.d_states + c.chunk * V * K,
                   *const errors = erases ? a.E + c.chunk * V * chunk : nullptr;
    E *const dE = erases ? a.d_E + c.chunk * chunk * V : nullptr;
    const Place at(thread);
    const int value_panels = (in.Dv + P - 1) / P, key_panels = (in.Dk + P - 1) / P, step_panels = chunk / P;

    // Tables with one number per step: write_t, erase_t, D(t,0), D(t-1,0), D(C,t).
    float *const writes = dots + slots * parts * chunk + 2 * 32, *const erasures = writes + chunk,
                 *const from_start = erasures + chunk, *const before = from_start + chunk,
                 *const to_end = before + chunk;
    const auto element = [](unsigned char *buffer) { return reinterpret_cast<E *>(buffer); };
    /// Writes rows_t . sum_t of each step t to a slot of `dots`.
    const auto dot_rows = [&](const Stored *rows, int width, auto &sum, int slot) {
      const float2 own = dot_own(at, sum, rows, width, steps);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float dot = tile::cuda::across_four(r ? own.y : own.x);
        if (at.lane % 4 == 0) dots[(slot * parts + at.part) * chunk + at.row_of(r)] = dot;
      }
    };
    const auto dot = [&](int slot, int step) {
      float sum = 0;
#pragma unroll
      for (int p = 0; p < parts; ++p) sum += dots[(slot * parts + p) * chunk + step];
      return sum;
    };
    const auto put = [&](Stored *to, int width, auto &sum) { put_rows(at, sum, to, width, steps, width); };
    const auto put_scores = [&](E *to, const Scores &sum) { put_rows(at, sum, to, score_pitch, chunk, chunk); };
    const auto of_rows = [&](const float *numbers, auto &sum) {
      sum.scale_rows({numbers[at.row_of(0)], numbers[at.row_of(1)]});
    };

    if (decays) {
      decay.prepare(in.alpha + c.row, steps, thread, threads);
      __syncthreads();
      D.prepare(decay, thread, threads);
    }
    if (thread < chunk) {
      writes[thread] = write && thread < steps ? write[thread] : 1;
      erasures[thread] = erase && thread < steps ? erase[thread] : 1;
      from_start[thread] = decays ? decay.from_start(thread) : 1;
      before[thread] = decays ? decay.before(thread) : 1;
      to_end[thread] = decays ? decay.to_end(thread) : 1;
    }

    // Functions that load the operands of the products below, in panels of P values, keys or steps.
    const E *const inverse = erases ? a.inverse + c.chunk * chunk * chunk : nullptr;
    const auto load_errors_gradient = [&](int n, unsigned char *buffer) { // P steps of dE and X
      Stage::template load<P, Dv>(dE + n * P * V, V, P, V, element(buffer));
      Stage::template load<P, chunk>(inverse + n * P * chunk, chunk, P, chunk, element(buffer) + P * value_pitch);
    };
    const auto load_written = [&](int n, E *to) { // P values of v, or of E^T
      if constexpr (erases)
        Stage::template load<P, chunk>(errors + n * P * chunk, chunk, V - n * P, chunk, to);
      else
        Stage::template load_steps<chunk, P>(v, in.Dv, n * P, steps, to);
    };
    const auto load_start = [&](int n, unsigned char *buffer) { // P values of dO, of v or E^T, and of S
      Stage::template load_steps<chunk, P>(d_o, in.Dv, n * P, steps, element(buffer));
      load_written(n, element(buffer) + narrow_panel);
      Stage::template load<P, Dk>(S + n * P * K, K, V - n * P, K, element(buffer) + states_at);
    };
    const auto load_solved = [&](int n, unsigned char *buffer) { // P values of dY, E^T and S
      Stage::template load<chunk, P>(dE + n * P, V, chunk, V - n * P, element(buffer));
      load_written(n, element(buffer) + narrow_panel);
      Stage::template load<P, Dk>(S + n * P * K, K, V - n * P, K, element(buffer) + states_at);
    };
    const auto load_end = [&](int n, unsigned char *buffer) { // P values of v or E^T, of dS; for gates also of S
      load_written(n, element(buffer) + narrow_panel);
      Stage::template load<P, Dk>(dS + n * P * K, K, V - n * P, K, element(buffer) + states_at);
      if (gates)
        Stage::template load<P, Dk>(S + n * P * K, K, V - n * P, K, element(buffer) + states_at + P * key_pitch);
    };
    const auto load_steps_of = [&](const Stored *from, int n, E *to) {
      Stage::template load_steps<P, Dk>(from + std::size_t(n) * P * in.Dk, in.Dk, 0, steps - n * P, to);
    };
    const auto load_keys = [&](int n, unsigned char *buffer) { load_steps_of(k, n, element(buffer)); };
    const auto load_both = [&](int n, unsigned char *buffer) {
      load_steps_of(q, n, element(buffer));
      if (erases) load_steps_of(k, n, element(buffer) + P * key_pitch);
    };
    const auto load_given = [&](int n, unsigned char *buffer) {
      Stage::template load_steps<P, Dv>(d_o + std::size_t(n) * P * in.Dv, in.Dv, 0, steps - n * P, element(buffer));
    };
    const auto load_pairs = [&](int n, unsigned char *buffer) { // P keys of q, k and, for decayed sums, dS
      E *const queries = element(buffer), *const keys = queries + narrow_panel;
      Stage::template load_steps<chunk, P>(q, in.Dk, n * P, steps, queries);
      Stage::template load_steps<chunk, P>(k, in.Dk, n * P, steps, keys);
      if constexpr (!erases) Stage::template load<Dv, P>(dS + n * P, K, V, K - n * P, keys + narrow_panel);
    };
    const auto add_written = [&](const E *rows, const E *values, Scores &sum) { // adds rows_t . v_i, or rows_t . e_i
      add_product<Op, Lies::along, panel_pitch, erases ? Lies::across : Lies::along, erases ? score_pitch : panel_pitch,
                  P>(at, at.row, rows, values, sum, 0, P, at.row + 16);
    };

    const auto scalar = [&] { return ScalarGradients<Op, Stored, erases>{a, c}; }; // created only where it is called
    bool finite_keys = true;
    if constexpr (erases) { // dY = X^T dE, which overwrites dE
      Values dY;
      stream_panels(
          ring, step_panels, load_errors_gradient,
          [&](int n, unsigned char *buffer) {
            add_product<Op, Lies::across, score_pitch, Lies::across, value_pitch, P>(
                at, at.row, element(buffer) + P * value_pitch, element(buffer), dY, at.row - n * P);
          },
          value_panels, load_start);
      if (block_is_finite(dY)) {
        put_rows(at, dY, dE, V, chunk, V);
        if (a.d_write) dot_rows(v, in.Dv, dY, 0);
        of_rows(writes, dY);
        put(a.d_v + c.row * in.Dv, in.Dv, dY);
        __syncthreads();
        if (a.d_write && thread < steps) a.d_write[c.row + thread] = dot(0, thread);
      } else {
        scalar().solve();
      }
    }

    { // dq
      Keys dq;
      Scores dA;
      stream_panels(
          ring, value_panels, load_start,
          [&](int, unsigned char *buffer) {
            const E *const given = element(buffer);
            add_written(given, given + narrow_panel, dA);
            add_product<Op, Lies::along, panel_pitch, Lies::across, key_pitch, P>(at, at.row, given, given + states_at,
                                                                                  dq);
          },
          step_panels, load_keys);
      if (gates) {
        dot_rows(q, in.Dk, dq, 0);
        G.put_pairs(at, dA);
      }
      D.apply(at, dA);
      dA.scale_rows({scale, scale});
      put_scores(scores, dA);
      if (weighs) {
        dA.scale_columns(at, writes);
        put_scores(second, dA);
      }
      dq.scale_rows({scale * from_start[at.row_of(0)], scale * from_start[at.row_of(1)]});
      __syncthreads();
      if (gates && thread < chunk) G.started(thread) = scale * dot(0, thread);
      const auto use = [&](int n, unsigned char *buffer) {
        add_product<Op, Lies::along, score_pitch, Lies::across, key_pitch, P>(
            at, at.row, (weighs ? second : scores) + n * P, element(buffer), dq, 0, at.row + 16 - n * P);
      };
      if constexpr (erases)
        stream_panels(ring, step_panels, load_keys, use, value_panels, load_solved);
      else
        stream_panels(ring, step_panels, load_keys, use, value_panels, load_end);
      if (block_is_finite(dq))
        put(a.d_q + c.row * in.Dk, in.Dk, dq);
      else
        scalar().queries();
    }

    Keys erased; // erase_t x_t
    if constexpr (erases) {
      Scores dL, A, L; // dL: - dy_t . e_i; A: q_t . k_i; L: k_t . k_i
      stream_panels(ring, value_panels, load_solved, [&](int, unsigned char *buffer) {
        const E *const solved = element(buffer);
        add_written(solved, solved + narrow_panel, dL);
        add_product<Op, Lies::along, panel_pitch, Lies::across, key_pitch, P>(at, at.row, solved, solved + states_at,
                                                                              erased);
      });
      if (gates) {
        dot_rows(k, in.Dk, erased, 0);
        stream_panels(ring, key_panels, load_pairs, [&](int, unsigned char *buffer) {
          const E *const queries = element(buffer), *const keys = queries + narrow_panel;
          add_product<Op, Lies::along, panel_pitch, Lies::along, panel_pitch, P>(at, at.row, queries, keys, A, 0, P,
                                                                                 at.row + 16);
          add_product<Op, Lies::along, panel_pitch, Lies::along, panel_pitch, P>(at, at.row, keys, keys, L, 0, P,
                                                                                 at.row + 16);
        });
        A.scale_rows({scale, scale});
        G.weigh_pairs(at, A);
        __syncthreads();
        if (thread < chunk - 1) G.started(thread) -= erasures[thread + 1] * dot(0, thread + 1);
        L.multiply(dL);
        of_rows(erasures, L);
        G.subtract_before(at, L);
      }
      D.template apply<1>(at, dL);
      dL.scale_rows({-1, -1});
      put_scores(second, dL);
      erased.scale_rows({-before[at.row_of(0)], -before[at.row_of(1)]});
      stream_panels(
          ring, step_panels, load_keys,
          [&](int n, unsigned char *buffer) {
            add_product<Op, Lies::along, score_pitch, Lies::across, key_pitch, P>(
                at, at.row, second + n * P, element(buffer), erased, 0, at.row + 16 - n * P);
          },
          value_panels, load_end);
      if (a.d_erase) dot_rows(k, in.Dk, erased, 0);
      if (erase) {
        of_rows(erasures, erased);
        for (int n = thread; n < chunk * chunk; n += threads) {
          E &x = second[n / chunk * score_pitch + n % chunk];
          x = rounded<E>(erasures[n / chunk] * widened(x));
        }
      }
      __syncthreads();
      if (a.d_erase && thread < steps) a.d_erase[c.row + thread] = dot(0, thread);
    }

    { // dk
      Keys dk;
      Sum across[2]; // dS S^T; only its diagonal is used
      stream_panels(
          ring, value_panels, load_end,
          [&](int, unsigned char *buffer) {
            const E *const values = element(buffer) + narrow_panel, *const states = element(buffer) + states_at;
            add_product<Op, erases ? Lies::across : Lies::along, erases ? score_pitch : panel_pitch, Lies::across,
                        key_pitch, P>(at, at.row, values, states, dk);
            if (gates)
#pragma unroll
              for (int b = 0; b < P / 16 * Dk / 16; b += 4 * parts) { // 16 values, 16 keys per warp
                const int nth = b + thread / 32, value = nth % (P / 16) * 16, key = nth / (P / 16) * 16;
                if (key < Dk)
                  fragments::multiply_add<Op>(
                      fragments::load_a<Op, key_pitch>(states, value, key),
                      fragments::load_b_across<Op, key_pitch>(states + P * key_pitch, key, value), across[0],
                      across[1]);
              }
          },
          step_panels, load_both);
      if (gates) {
        dot_rows(k, in.Dk, dk, 1);
        float trace = 0;
#pragma unroll
        for (int e = 0; e < 2; ++e)
          if (at.lane / 4 == at.lane % 4 * 2 + e) trace = across[0].x[e] + across[1].x[2 + e];
        G.put_across(trace, dots + slots * parts * chunk, thread, threads);
      }
      of_rows(to_end, dk);
      const auto use = [&](int n, unsigned char *buffer) {
        const E *const queries = element(buffer);
        add_product<Op, Lies::across, score_pitch, Lies::across, key_pitch, P>(at, at.row, scores + n * P * score_pitch,
                                                                               queries, dk, at.row - n * P);
        if constexpr (erases)
          add_product<Op, Lies::across, score_pitch, Lies::across, key_pitch, P>(
              at, at.row, second + n * P * score_pitch, queries + P * key_pitch, dk, at.row - n * P);
      };
      if constexpr (erases)
        stream_panels(ring, step_panels, load_both, use);
      else
        stream_panels(ring, step_panels, load_both, use, key_panels, load_pairs);
      if (gates && thread < chunk) G.left(thread) = (weighs ? writes[thread] : 1) * dot(1, thread);
      if constexpr (erases) {
#pragma unroll
        for (int j = 0; j < dk.groups; ++j)
#pragma unroll
          for (int h = 0; h < 2; ++h)
#pragma unroll
            for (int e = 0; e < 4; ++e) dk.x[j][h].x[e] += erased.x[j][h].x[e];
      } else {
        if (a.d_write) dot_rows(k, in.Dk, dk, 0);
        of_rows(writes, dk);
      }
      put(a.d_k + c.row * in.Dk, in.Dk, dk);
      finite_keys = block_is_finite(dk);
    }

    if constexpr (!erases) { // dv
      Values dv;
      Scores A; // q_t . k_i
      stream_panels(
          ring, key_panels, load_pairs,
          [&](int, unsigned char *buffer) {
            const E *const queries = element(buffer), *const keys = queries + narrow_panel;
            add_product<Op, Lies::along, panel_pitch, Lies::along, panel_pitch, P>(at, at.row, queries, keys, A, 0, P,
                                                                                   at.row + 16);
            add_product<Op, Lies::along, panel_pitch, Lies::along, panel_pitch, P>(at, at.row, keys,
                                                                                   keys + narrow_panel, dv);
          },
          step_panels, load_given);
      if (a.d_write && thread < steps) a.d_write[c.row + thread] = dot(0, thread);
      A.scale_rows({scale, scale});
      if (gates) {
        Scores weighed = A;
        weighed.scale_columns(at, writes);
        G.weigh_pairs(at, weighed);
      }
      D.apply(at, A);
      put_scores(scores, A);
      of_rows(to_end, dv);
      stream_panels(ring, step_panels, load_given, [&](int n, unsigned char *buffer) {
        add_product<Op, Lies::across, score_pitch, Lies::across, value_pitch, P>(
            at, at.row, scores + n * P * score_pitch, element(buffer), dv, at.row - n * P);
      });
      of_rows(writes, dv);
      if (block_is_finite(dv))
        put(a.d_v + c.row * in.Dv, in.Dv, dv);
      else
        scalar().values();
    }
    if (!finite_keys) scalar().keys(); // last, because the fallback overwrites d_erase or d_write
    if (gates) {
      __syncthreads();
      G.differentiate(decay, D, steps, a.d_alpha + c.row, thread);
    }
  }
};

} // namespace recollect::chunked
#endif
