// SPDX-License-Identifier: Apache-2.0
// The adjoint of state passing: computes the gradient of the state from the last chunk to the first. Here dS is the
// gradient of the state [Dv,Dk] at a chunk's end. Other letters are as in problem.hpp. D . Q K^T has the elements
// D(t,i) q_t . k_i for i <= t, and 0 for i > t:
//
//   dE = scale (D . Q K^T)^T dO + diag(D(C,i)) K dS^T                                    delta rules
//   dS_start = D(C,0) dS + sum_t (scale D(t,0) do_t) q_t^T - dE^T W              the last term for delta rules only
//
// A thread block computes `rows` rows of dS (one per value channel) for one head of a text, or for one segment of the
// head (segments.hpp). Its dS [rows,Dk] stays in registers, in float32. dS is rounded to Element<Op> where it is saved
// for the chunk's gradients, and where it is multiplied by K.
#pragma once
#include "variants/kernels/chunked/panels.hpp"
#include "variants/kernels/chunked/rows.hpp"
#include "variants/kernels/chunked/state_passing.hpp"
#ifdef __CUDACC__

namespace recollect::chunked {

/// Inputs and outputs of a backward pass, in device memory.
template <class Stored> struct Gradients {
  Inputs<Stored> in;
  const Stored *d_o = nullptr; // [B,H,T,Dv]
  // [texts * H] states, in.state_stride apart. On entry the final state's gradient, on return the initial state's;
  // null: 0.
  float *d_state = nullptr;
  Stored *d_q = nullptr, *d_k = nullptr;                            // [B,key heads,T,Dk]
  Stored *d_v = nullptr;                                            // [B,H,T,Dv]
  float *d_alpha = nullptr, *d_erase = nullptr, *d_write = nullptr; // [B,H,T]; null: not wanted
  // For grouped heads (group_sums.hpp), a stage computes d_q and d_k for every head of values, as [B,H,T,Dk], from
  // chunk `first_chunk` on. It writes them to `terms`, which is scratch; they are then added over each group.
  Stored *terms = nullptr;
  unsigned first_chunk = 0;
};
/// Gradients, and the arrays that the stages of the backward pass save, laid out as in problem.hpp.
template <class Op, class Stored> struct Adjoint : Gradients<Stored> {
  const Element<Op> *states = nullptr, *inverse = nullptr, *W = nullptr, *E = nullptr; // from the forward pass
  Element<Op> *d_states = nullptr; // [V,K] dS at the chunk's end; null: not wanted
  Element<Op> *d_E = nullptr;      // [64,V] dE: first error_gradient.hpp's part, then dE, then dY
  Segments segments;
  const float *end = nullptr; // dS at the ends of heads or segments, `apart` numbers apart; null: 0
  float *start = nullptr;     // dS at the starts of heads or segments; null: not wanted
  std::size_t apart = 0;
};

/// Adjoint of sums whose channels decay separately, with the arrays that channel_local.hpp saves.
template <class Op, class Stored> struct ChannelAdjoint : Adjoint<Op, Stored> {
  Channels<Op> channels;
  float *d_lambda = nullptr, *d_bonus = nullptr; // [B,H,T,Dk]; null: not wanted
};

template <class Op, class Stored_, int Dk_, bool erases_, bool channels = false> struct StateGradient {
  using Stored = Stored_;
  using E = Element<Op>;
  static constexpr int Dk = Dk_, rows = 32, threads = 256, parts = 8 / (rows / 16);
  static constexpr bool erases = erases_;
  static constexpr int key_pitch = Dk + 8, value_pitch = rows + 8;
  static constexpr int items = erases ? 3 : 1; // panels per chunk: K with dE; Q with dO; W
  static constexpr int panel_elements = chunk * (key_pitch + value_pitch);
  static constexpr int panel_bytes =
      panel_elements * int(sizeof(E)) + (channels ? Dk : chunk) * int(sizeof(float)); // includes the chunk's decays
  static constexpr int most = 225 * 1024,
                       rest = int(sizeof(DecayTables)) +
                              (erases ? (rows * key_pitch + chunk * value_pitch) * int(sizeof(E)) : 0);
  static constexpr int stages = 4 * panel_bytes + rest <= most / 2 ? 4 : 3 * panel_bytes + rest <= most ? 3 : 2;
  static constexpr int shared_bytes = stages * panel_bytes + rest;

  template <class Arguments> __device__ static void run(const Arguments &a, unsigned char *shared) {
    const Inputs<Stored> &in = a.in;
    const int thread = threadIdx.x, K = in.kept_keys(), V = in.kept_values(), column_blocks = (V + rows - 1) / rows,
              first_value = blockIdx.x % column_blocks * rows, nth = blockIdx.x / column_blocks;
    const int nth_head = nth / a.segments.count;
    const HeadOfText head =
        segment_of(in.head_of_text(nth_head / in.H, nth_head % in.H), a.segments, nth % a.segments.count);
    const int chunks = (head.steps + chunk - 1) / chunk;
    const bool decays = in.alpha && !channels, weighs = decays || in.scale != 1;
    DecayTables &decay = *reinterpret_cast<DecayTables *>(shared);
    E *const own_state = reinterpret_cast<E *>(shared + sizeof(DecayTables)), *const minus_dE =
                                                                                  own_state + rows * key_pitch;
    unsigned char *const buffers = shared + rest;

    const WarpPlace<parts> at(thread);
    RowsOfSums<Dk, parts> dS;
    if (const float *const end = a.end ? a.end + nth * a.apart : nullptr)
#pragma unroll
      for (int j = 0; j < dS.groups; ++j)
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const int value = first_value + at.row_of(i / 2 % 2), key = at.column(j, i / 4) + i % 2;
          dS.x[j][i / 4].x[i % 4] = value < in.Dv && key < in.Dk ? end[std::size_t(value) * in.Dk + key] : 0;
        }

    const auto load = [&](int n, unsigned char *buffer) {
      const int back = chunks - 1 - n / items, steps = min(chunk, head.steps - back * chunk), item = n % items;
      E *const keys = reinterpret_cast<E *>(buffer), *const values = keys + chunk * key_pitch;
      const std::size_t row = head.row + std::size_t(back) * chunk, key_row = head.key_row + std::size_t(back) * chunk;
      if (decays && item == 0 && thread < chunk)
        copy_4(reinterpret_cast<float *>(values + chunk * value_pitch) + thread,
               in.alpha + row + (thread < steps ? thread : 0), thread < steps);
      if constexpr (channels) {
        if (thread < Dk)
          copy_4(reinterpret_cast<float *>(values + chunk * value_pitch) + thread,
                 a.channels.total + (head.chunk + back) * K + (thread < K ? thread : 0), thread < K);
        load_panel<Op, chunk, Dk, threads>(a.channels.q + (head.chunk + back) * chunk * K, K, chunk, K, keys);
        load_panel<Op, chunk, rows, threads>(a.d_o + row * in.Dv + first_value, in.Dv, steps, in.Dv - first_value,
                                             values);
      } else if (erases && item == 2) {
        load_panel<Op, chunk, Dk, threads>(a.W + (head.chunk + back) * chunk * K, K, chunk, K, keys);
      } else {
        load_panel<Op, chunk, Dk, threads>((erases && item == 0 ? in.k : in.q) + key_row * in.Dk, in.Dk, steps, in.Dk,
                                           keys);
        if (erases && item == 0)
          load_panel<Op, chunk, rows, threads>(a.d_E + (head.chunk + back) * chunk * V + first_value, V, chunk,
                                               V - first_value, values);
        else
          load_panel<Op, chunk, rows, threads>(a.d_o + row * in.Dv + first_value, in.Dv, steps, in.Dv - first_value,
                                               values);
      }
    };
    const auto use = [&](int n, unsigned char *buffer) {
      const int back = chunks - 1 - n / items, item = n % items, steps = min(chunk, head.steps - back * chunk);
      E *const keys = reinterpret_cast<E *>(buffer), *const values = keys + chunk * key_pitch;
      const std::size_t here = head.chunk + back;
      if (item == 0) { // gradient of the state at the chunk's end
        if (a.d_states) put_rows(at, dS, a.d_states + (here * V + first_value) * K, K, V - first_value, K);
        if (erases) put_rows(at, dS, own_state, key_pitch, rows, Dk);
        if (decays) decay.prepare(reinterpret_cast<float *>(values + chunk * value_pitch), steps, thread, threads);
        if (decays || erases) __syncthreads();
        if (decays) dS.scale_rows({decay.total(), decay.total()});
        if (channels) dS.scale_columns(at, reinterpret_cast<float *>(values + chunk * value_pitch));
        if constexpr (erases) { // dE += diag(D(C,i)) K dS^T
          const WarpPlace<2> steps_at(thread);
          RowsOfSums<rows, 2> dE;
          add_product<Op, Lies::along, key_pitch, Lies::along, key_pitch, Dk>(steps_at, steps_at.row, keys, own_state,
                                                                              dE);
          E *const whole = a.d_E + here * chunk * V + first_value;
          if (decays) dE.scale_rows({decay.to_end(steps_at.row_of(0)), decay.to_end(steps_at.row_of(1))});
          dE.each_pair(steps_at, [&](int r, int column, float x, float y) {
            const int step = steps_at.row_of(r);
            const float2 local = load_pair(values + step * value_pitch + column);
            x += local.x, y += local.y;
            if (first_value + column < V) put_pair(whole + std::size_t(step) * V + column, x, y);
            put_pair(minus_dE + step * value_pitch + column, -x, -y);
          });
        }
      }
      if (item == (erases ? 1 : 0)) { // + sum_t (scale D(t,0) do_t) q_t^T
        if (weighs) {
          constexpr int share = rows * chunk / threads; // columns per thread
          const int step = thread / (rows / share);
          E *const own = values + step * value_pitch + thread % (rows / share) * share;
          const float factor = in.scale * (decays ? decay.from_start(step) : 1);
#pragma unroll
          for (int i = 0; i < share; ++i) own[i] = fragments::rounded<E>(factor * fragments::widened(own[i]));
          __syncthreads();
        }
        add_product<Op, Lies::across, value_pitch, Lies::across, key_pitch, chunk>(at, at.row, values, keys, dS);
      }
      if (erases && item == 2)
        add_product<Op, Lies::across, value_pitch, Lies::across, key_pitch, chunk>(at, at.row, minus_dE, keys, dS);
    };
    PanelRing ring{buffers, panel_bytes, stages};
    stream_panels(ring, chunks * items, load, use);

    if (float *const start = a.start ? a.start + nth * a.apart : nullptr)
      dS.each_pair(at, [&](int r, int column, float x, float y) {
        const int value = first_value + at.row_of(r);
        if (value < in.Dv && column < in.Dk) put_pair(start + std::size_t(value) * in.Dk + column, x, y);
      });
  }
};

template <class Stage, class Arguments>
__global__ void __launch_bounds__(Stage::threads) run_stage(const __grid_constant__ Arguments a) {
  extern __shared__ __align__(128) unsigned char shared[];
  Stage::run(a, shared);
}

template <class Stage, class Arguments>
__global__ void __launch_bounds__(Stage::threads, Stage::min_blocks)
    run_chunk_stage(const __grid_constant__ Arguments a) {
  extern __shared__ __align__(128) unsigned char shared[];
  Stage::run(a, shared);
}

/// Passes the gradient of the state back through all chunks. If there are several segments, the forward pass must have
/// computed their decays.
template <class State, class Arguments>
void pass_gradients_back(const Arguments &a, const Segments &segments, cudaStream_t stream) {
  const auto &in = a.in;
  const auto pass = [&](auto *d_states, const float *end, float *start, std::size_t apart) {
    Arguments own = a;
    own.d_states = d_states, own.segments = segments, own.end = end, own.start = start, own.apart = apart;
    launch("state_gradient", run_stage<State, Arguments>,
           std::size_t(in.kept_values() + State::rows - 1) / State::rows * in.texts() * in.H * segments.count,
           State::threads, State::shared_bytes, stream, own);
  };
  if (segments.count == 1) return pass(a.d_states, a.d_state, a.d_state, in.state_stride);
  const std::size_t size = std::size_t(in.Dv) * in.Dk;
  pass(decltype(a.d_states)(), nullptr, segments.states, size);
  scan_segments(in, segments, a.d_state, a.d_state, true, stream);
  pass(a.d_states, segments.states, nullptr, size);
}

} // namespace recollect::chunked
#endif
