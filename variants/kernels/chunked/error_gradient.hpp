// SPDX-License-Identifier: Apache-2.0
// The chunk-local part of the gradient of a delta rule's errors, dE_i = sum_{t>=i} scale D(t,i) (q_t . k_i) do_t. All
// chunks run in parallel. state_gradient.hpp adds the part that comes from the state's gradient.
#pragma once
#include "variants/kernels/chunked/chunk_gradient.hpp"
#ifdef __CUDACC__

namespace recollect::chunked {

template <class Op, class Stored, int Dk_, int Dv_> struct ErrorGradient : ChunkStage<Op, Stored, Dk_, Dv_> {
  using Stage = ChunkStage<Op, Stored, Dk_, Dv_>;
  using Stage::Dk, Stage::Dv, Stage::threads, Stage::P, Stage::panel_pitch, Stage::score_pitch, Stage::value_pitch,
      Stage::tile, Stage::parts;
  using typename Stage::E, typename Stage::Place, typename Stage::Scores, typename Stage::Values;
  static constexpr int min_blocks = sizeof(E) == 2 && parts == 2 ? 2 : 1;
  static constexpr int narrow_panel = chunk * panel_pitch,
                       panel_elements = 2 * narrow_panel > P *value_pitch ? 2 * narrow_panel : P *value_pitch,
                       panel_bytes = panel_elements * int(sizeof(E)), panel_stages = 3;

  __host__ __device__ static int shared_bytes(bool decays) {
    return int(sizeof(DecayTables)) + tile * int(sizeof(E)) + (decays ? PairDecays::bytes : 0) +
           panel_stages * panel_bytes;
  }

  __device__ static void run(const Adjoint<Op, Stored> &a, unsigned char *shared) {
    const Inputs<Stored> &in = a.in;
    const int thread = threadIdx.x, V = in.kept_values();
    const ChunkOfHead c = in.chunk_of_head(blockIdx.x);
    DecayTables &decay = *reinterpret_cast<DecayTables *>(shared);
    E *const scores = reinterpret_cast<E *>(shared + sizeof(DecayTables));
    unsigned char *buffers = shared + sizeof(DecayTables) + tile * sizeof(E);
    const PairDecays D{in.alpha ? reinterpret_cast<float *>(buffers) : nullptr};
    if (in.alpha) {
      buffers += PairDecays::bytes;
      decay.prepare(in.alpha + c.row, c.steps, thread, threads);
      __syncthreads();
      D.prepare(decay, thread, threads);
    }
    const Stored *const q = in.q + c.key_row * in.Dk, *const k = in.k + c.key_row * in.Dk,
                        *const d_o = a.d_o + c.row * in.Dv;
    const Place at(thread);
    PanelRing ring{buffers, panel_bytes, panel_stages};
    const auto load_given = [&](int n, unsigned char *buffer) {
      Stage::template load_steps<P, Dv>(d_o + std::size_t(n) * P * in.Dv, in.Dv, 0, c.steps - n * P,
                                        reinterpret_cast<E *>(buffer));
    };
    Scores A;
    stream_panels(
        ring, (in.Dk + P - 1) / P,
        [&](int n, unsigned char *buffer) {
          E *const queries = reinterpret_cast<E *>(buffer);
          Stage::template load_steps<chunk, P>(q, in.Dk, n * P, c.steps, queries);
          Stage::template load_steps<chunk, P>(k, in.Dk, n * P, c.steps, queries + narrow_panel);
        },
        [&](int, unsigned char *buffer) {
          const E *const queries = reinterpret_cast<E *>(buffer);
          add_product<Op, Lies::along, panel_pitch, Lies::along, panel_pitch, P>(
              at, at.row, queries, queries + narrow_panel, A, 0, P, at.row + 16);
        },
        chunk / P, load_given);
    D.apply(at, A);
    A.scale_rows({in.scale, in.scale});
    put_rows(at, A, scores, score_pitch, chunk, chunk);
    Values dE;
    stream_panels(
        ring, chunk / P, load_given, [&](int n, unsigned char *buffer) { // starts with a barrier after the scores
          add_product<Op, Lies::across, score_pitch, Lies::across, value_pitch, P>(
              at, at.row, scores + n * P * score_pitch, reinterpret_cast<const E *>(buffer), dE, at.row - n * P);
        });
    E *const to = a.d_E + c.chunk * chunk * V;
    put_rows(at, dE, to, V, chunk, V);
    if (!block_is_finite(dE)) ScalarGradients<Op, Stored, true>{a, c}.errors();
  }
};

} // namespace recollect::chunked
#endif
