// SPDX-License-Identifier: Apache-2.0
// State passing: computes the state at the start of each chunk from the state at the start of the previous chunk, in
// order (problem.hpp).
//
//   E^T = U^T - S W^T                          (delta rules)
//   S <- D(C,0) S + E^T diag(D(C,i)) K         (decayed sums: E = diag(write) V)
//
// A thread block computes `values` rows of S of one head. Each computing warp keeps 16 of these rows, or some columns
// of them, in registers: the results of a product have the layout of the next product's first operand. Only W, K and U
// come from shared memory. Two or four loading warps copy them several chunks ahead, and the first loading warp also
// multiplies the gates. In decayed sums the columns of S are independent of each other, so several warps share 16 rows.
//
// If there are few heads, decayed sums process the segments of a head in parallel (segments.hpp).
#pragma once
#include "variants/kernels/chunked/channel_local.hpp"
#include "variants/kernels/chunked/segments.hpp"
#ifdef __CUDACC__

namespace recollect::chunked {

/// Position of the nth segment of a head of a text.
__device__ __forceinline__ HeadOfText segment_of(HeadOfText h, const Segments &segments, int nth) {
  if (segments.count == 1) return h;
  const int first = nth * segments.chunks * chunk, left = max(h.steps - first, 0);
  h.row += first, h.key_row += first, h.chunk += nth * segments.chunks, h.steps = min(left, segments.chunks * chunk);
  return h;
}

template <class Op, class Stored, int Dk, int row_warps, int key_warps, bool erases, bool channels = false>
struct StatePassing {
  static_assert(!erases || (key_warps == 1 && !channels), "E takes all keys");
  using E = Element<Op>;
  static constexpr int workers = row_warps * key_warps,
                       loaders = erases || (is_narrow<Op> && !channels && workers <= 8) ? 4 : 2,
                       threads = 32 * (workers + loaders);
  // values: rows of S per block; keys: columns of S per warp.
  static constexpr int values = 16 * row_warps, keys = Dk / key_warps;
  static constexpr int key_pitch = Dk + fragments::pad<Op>, step_pitch = chunk + fragments::pad<Op>,
                       value_pitch = values + fragments::pad<Op>;
  static constexpr int keys_size = chunk * key_pitch, values_size = erases ? values * step_pitch : chunk * value_pitch;
  static constexpr int stage_size = keys_size * (erases ? 2 : 1) + values_size;
  static constexpr int fitting(int bytes) { return std::min(4, bytes / int(stage_size * sizeof(E))); }
  /// Number of buffers for chunks. If there are more blocks than multiprocessors (`shared`), or if channels decay
  /// separately, the buffers leave room for a second block on the multiprocessor. Chunks of delta rules take longest to
  /// arrive: unless at least three buffers fit beside a second block, one block gets the whole multiprocessor.
  static int stages_of(bool shared) {
    const int half = fitting(100 * 1024), one = std::max(1, fitting((Dk <= 64 ? 126 : 220) * 1024)),
              two = half >= 2 ? half : std::min(2, one);
    return channels || (shared && (!erases || two >= 3)) ? two : one;
  }
  static std::size_t bytes(int stages) { return std::size_t(stages) * stage_size * sizeof(E); }

  Inputs<Stored> in;
  const E *W, *U;  // delta rules only
  E *states, *out; // saved: states at the chunks' starts, and E of delta rules; null: not wanted
  const float *start;
  float *end;                           // final states; null: not wanted
  std::size_t start_stride, end_stride; // distance between states of heads or segments
  Segments segments;
  int stages = 0;                  // number of buffers, one chunk each
  const E *channel_keys = nullptr; // saved by channel_local(), if channels decay separately
  const float *totals = nullptr;   // each channel's total decay over each chunk, also saved by channel_local()

  struct Gates { // Gates of a chunk in one warp, two steps per lane.
    float2 alpha{1, 1}, write{1, 1};
  };
  struct alignas(16) Factors { // aligned, because step[] is read in pairs
    float step[chunk];         // D(C,t): what remains of step t's write at the chunk's end
    float total;               // D(C,0): what remains of the state
  };

  __device__ static E *keys_of(E *stage) { return stage; }
  __device__ static E *erasures_of(E *stage) { return stage + keys_size; }
  __device__ static E *values_of(E *stage) { return stage + keys_size * (erases ? 2 : 1); }

  /// Called by the loading warps: starts to copy chunk c, if it exists.
  __device__ __forceinline__ void load(const HeadOfText &h, int c, int chunks, int first_value, E *stage) const {
    constexpr int copiers = 32 * loaders;
    if (c < chunks) {
      const int thread = threadIdx.x - 32 * workers, steps = min(h.steps - c * chunk, chunk);
      const int K = in.kept_keys(), V = in.kept_values();
      const std::size_t step = std::size_t(c) * chunk;
      if constexpr (channels)
        fragments::load_tile<Op, chunk, Dk, key_pitch, copiers>(channel_keys + (h.chunk + c) * chunk * K, K, chunk, K,
                                                                keys_of(stage), thread);
      else
        fragments::load_tile<Op, chunk, Dk, key_pitch, copiers>(in.k + (h.key_row + step) * in.Dk, in.Dk, steps, in.Dk,
                                                                keys_of(stage), thread);
      if constexpr (erases) {
        fragments::load_tile<Op, chunk, Dk, key_pitch, copiers>(W + (h.chunk + c) * chunk * K, K, chunk, K,
                                                                erasures_of(stage), thread);
        fragments::load_tile<Op, values, chunk, step_pitch, copiers>(
            U + ((h.chunk + c) * V + first_value) * chunk, chunk, V - first_value, chunk, values_of(stage), thread);
      } else {
        fragments::load_tile<Op, chunk, values, value_pitch, copiers>(
            in.v + (h.row + step) * in.Dv + first_value, in.Dv, steps, in.Dv - first_value, values_of(stage), thread);
      }
    }
    fragments::commit_copies();
  }
  __device__ __forceinline__ Gates gates(const HeadOfText &h, int c) const {
    Gates g;
    const int first = c * chunk + threadIdx.x % 32 * 2;
    if (in.alpha && !channels) {
      if (first < h.steps) g.alpha.x = in.alpha[h.row + first];
      if (first + 1 < h.steps) g.alpha.y = in.alpha[h.row + first + 1];
    }
    if (!erases && in.write) {
      if (first < h.steps) g.write.x = in.write[h.row + first];
      if (first + 1 < h.steps) g.write.y = in.write[h.row + first + 1];
    }
    return g;
  }
  /// Computes the factors of a chunk from its gates. Called by one warp.
  __device__ __forceinline__ static void prepare(const Gates &g, Factors &factors) {
    const unsigned all = 0xffffffffu;
    const int lane = threadIdx.x % 32;
    float until_end = g.alpha.x * g.alpha.y;
#pragma unroll
    for (int side = 1; side < 32; side *= 2) {
      const float later = __shfl_down_sync(all, until_end, side);
      if (lane + side < 32) until_end *= later;
    }
    float behind = __shfl_down_sync(all, until_end, 1);
    if (lane == 31) behind = 1;
    *reinterpret_cast<float2 *>(factors.step + 2 * lane) =
        make_float2(g.alpha.y * behind * g.write.x, behind * g.write.y);
    if (lane == 0) factors.total = until_end;
  }

  __device__ __forceinline__ void operator()(unsigned char *bytes) const {
    __shared__ Factors factors[2];
    E *const shared = reinterpret_cast<E *>(bytes);
    const int V = in.kept_values(), column_blocks = (V + values - 1) / values;
    const int nth = blockIdx.x / column_blocks,
              first_value = blockIdx.x % column_blocks * values; // nth counts segments of all heads
    const int head = nth / segments.count;
    const HeadOfText h = segment_of(in.head_of_text(head / in.H, head % in.H), segments, nth % segments.count);
    const int chunks = (h.steps + chunk - 1) / chunk, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const bool loads = warp >= workers, decays = in.alpha && !channels, scales = decays || (!erases && in.write);
    // The first row and column of S that a computing warp keeps.
    const int row = first_value + 16 * (warp / key_warps), column = warp % key_warps * keys;
    const bool at_work = !loads && row < V && column < in.kept_keys();
    Sum S[keys / 8];
    const auto each_of_state = [&](const auto &take) {
#pragma unroll
      for (int n = 0; n < keys / 8; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int i = row + lane / 4 + e / 2 * 8, j = column + 8 * n + lane % 4 * 2 + e % 2;
          if (i < in.Dv && j < in.Dk) take(std::size_t(i) * in.Dk + j, S[n].x[e]);
        }
    };
    if (start && at_work) each_of_state([&](std::size_t at, float &x) { x = start[nth * start_stride + at]; });
    const std::size_t last = h.chunk + chunks - 1;
    Totals total;
    if (at_work && chunks > 0) load_totals(h.chunk, last, column, total);
    // The first loading warp also multiplies the gates.
    const bool multiplies = warp == workers && scales;
    float decay = 1; // product of the segment's decays so far
    Gates next;
    if (multiplies) prepare(gates(h, 0), factors[0]), next = gates(h, 1);
    const int ahead = stages > 1 ? stages - 1 : 1;
    if (loads)
      for (int c = 0; c < ahead; ++c) load(h, c, chunks, first_value, shared + c * stage_size);
    int buffer = 0, free = stages - 1;
#pragma unroll 1
    for (int c = 0; c < chunks; ++c) {
      if (loads) wait_for_oldest(ahead);
      __syncthreads(); // chunk c and its factors have arrived, chunk c - 1 is finished
      if (at_work) {
        if (states)
          store_rows<E, keys / 8>(S, states + ((h.chunk + c) * V + row) * in.kept_keys() + column, in.kept_keys(), 16,
                                  in.kept_keys() - column);
        pass(h.chunk + c, shared + buffer * stage_size, row, column, decays, scales, factors[c % 2], last, total, S);
      }
      if (stages == 1) __syncthreads();
      if (loads) load(h, c + ahead, chunks, first_value, shared + free * stage_size);
      if (multiplies) {
        __syncwarp();
        decay *= factors[c % 2].total;
        prepare(next, factors[(c + 1) % 2]), next = gates(h, c + 2);
      }
      buffer = buffer + 1 == stages ? 0 : buffer + 1, free = free + 1 == stages ? 0 : free + 1;
    }
    if (end && at_work) each_of_state([&](std::size_t at, float &x) { end[nth * end_stride + at] = x; });
    if (segments.decays && first_value == 0 && threadIdx.x == 32 * workers) segments.decays[nth] = decay;
  }

  /// Total decays of the warp's channels over a chunk. load_totals() sets them to 1 for chunks after `last`.
  using Totals = float2[channels ? keys / 8 : 1];
  __device__ __forceinline__ void load_totals(std::size_t chunk_index, std::size_t last, int column,
                                              Totals &total) const {
    const int K = in.kept_keys(), first = column + threadIdx.x % 4 * 2;
    if constexpr (channels)
#pragma unroll
      for (int n = 0; n < keys / 8; ++n)
        total[n] = chunk_index <= last && first + 8 * n < K ? load_pair(totals + chunk_index * K + first + 8 * n)
                                                            : make_float2(1, 1);
  }

  /// Advances the warp's part of S by one chunk.
  __device__ __forceinline__ void pass(std::size_t chunk_index, E *stage, int row, int column, bool decays, bool scales,
                                       const Factors &factor, std::size_t last, Totals &total,
                                       Sum (&S)[keys / 8]) const {
    const int lane = threadIdx.x % 32, own = row % values; // own: the warp's first row, counted within the block
    const E *const key = keys_of(stage) + column, *const value = values_of(stage);
    Sum e[blocks]; // 16 values x 64 steps
    if constexpr (erases) {
      const E *const erasures = erasures_of(stage);
#pragma unroll
      for (int k = 0; k < Dk; k += 16) {
        const A16<Op> a = fragments::as_a<Op>(S[k / 8], S[k / 8 + 1]);
#pragma unroll
        for (int t = 0; t < chunk; t += 16)
          fragments::multiply_add<Op>(a, fragments::load_b_across<Op, key_pitch>(erasures, k, t), e[t / 8],
                                      e[t / 8 + 1]);
      }
#pragma unroll
      for (int b = 0; b < blocks; ++b)
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          const float2 u = load_pair(value + (own + lane / 4 + 8 * r) * step_pitch + 8 * b + lane % 4 * 2);
          e[b].x[2 * r] = u.x - e[b].x[2 * r], e[b].x[2 * r + 1] = u.y - e[b].x[2 * r + 1];
        }
      if (out) store_rows<E, blocks>(e, out + (chunk_index * in.kept_values() + row) * chunk, chunk, 16, chunk);
      if (scales) scale_columns(e, factor.step);
    }
    if constexpr (channels) {
#pragma unroll
      for (int n = 0; n < keys / 8; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) S[n].x[i] *= i % 2 ? total[n].y : total[n].x;
      load_totals(chunk_index + 1, last, column, total); // overlaps with the products
    } else if (decays) {
      scale(S, factor.total);
    }
#pragma unroll
    for (int i = 0; i < chunk; i += 16) {
      A16<Op> a;
      if constexpr (erases)
        a = fragments::as_a<Op>(e[i / 8], e[i / 8 + 1]);
      else if (scales)
        a = load_a_across_scaled<Op, value_pitch>(value, own, i, factor.step);
      else
        a = fragments::load_a_across<Op, value_pitch>(value, own, i);
#pragma unroll
      for (int k = 0; k < keys; k += 16)
        fragments::multiply_add<Op>(a, fragments::load_b<Op, key_pitch>(key, i, k), S[k / 8], S[k / 8 + 1]);
    }
  }
};

template <class Body> __global__ void each_thread_kernel(const __grid_constant__ Body body, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x;
  if (i < count) body(i);
}
template <class Body> void each_thread(const char *what, std::size_t count, const Body &body, cudaStream_t stream) {
  launch(what, each_thread_kernel<Body>, (count + 255) / 256, 256, 0, stream, body, count);
}

/// Rows of S per block: fewer if there would be too few blocks for the multiprocessors.
template <class Stored> int values_of_block(const Inputs<Stored> &in) {
  return in.Dv <= 32 || in.texts() * in.H * ((in.kept_values() + 63) / 64) < 100 ? 32 : 64;
}
/// The segments of a decayed sum's heads. They need a scratch array of scratch_of_segments() numbers
/// (place_segments()).
template <class Stored> Segments segments_of(const Inputs<Stored> &in, bool channels, int multiprocessors) {
  if (in.packed) return {};
  return segments_for(in.texts() * in.H * ((in.kept_values() + 63) / 64), in.chunks_of_text(), multiprocessors,
                      channels ? in.Dk : 1);
}
template <class Stored> std::size_t scratch_of_segments(const Inputs<Stored> &in, const Segments &s) {
  return s.count == 1 ? 0 : std::size_t(in.texts()) * in.H * s.count * (std::size_t(in.Dv) * in.Dk + s.decay_width);
}
/// Places the segments' arrays in `scratch`, which has scratch_of_segments() numbers.
template <class Stored> void place_segments(const Inputs<Stored> &in, Segments &s, float *scratch) {
  s.states = scratch, s.decays = scratch + std::size_t(in.texts()) * in.H * s.count * in.Dv * in.Dk;
}
/// Scans the segments' states (segments.hpp), from the given states `start` to the final states `end`.
template <class Stored>
void scan_segments(const Inputs<Stored> &in, const Segments &segments, const float *start, float *end, bool backwards,
                   cudaStream_t stream) {
  const std::size_t size = std::size_t(in.Dv) * in.Dk;
  each_thread("scan_segments", std::size_t(in.texts()) * in.H * size,
              ScanSegments{segments, start, end, in.state_stride, size, backwards}, stream);
}

/// Writes the states at the chunks' starts to `states`, and the final states to `end`, which may be in.start. Delta
/// rules read W and U and also write E to `out`; decayed sums have null W, U and out. A decayed sum passes states in
/// segments if there are several. If channels decay separately, it reads the results of channel_local(). A null result
/// is not written.
template <class Op, bool erases, bool by_channel = false, class Stored>
void pass_states(const Inputs<Stored> &in, const Element<Op> *W, const Element<Op> *U, Element<Op> *states,
                 Element<Op> *out, float *end, cudaStream_t stream, Segments segments,
                 const Channels<Op> &channels = {}) {
  const std::size_t size = std::size_t(in.Dv) * in.Dk, heads = std::size_t(in.texts()) * in.H;
  with_extent(in.Dk, [&](auto extent) {
    constexpr int Dk = decltype(extent)::value;
    constexpr int key_warps = erases || Dk == 32 ? 1 : Dk == 96 || Dk == 192 ? 3 : Dk == 256 ? 4 : 2;
    const auto run = [&](auto count) {
      constexpr int row_warps = decltype(count)::value;
      using Body = StatePassing<Op, Stored, Dk, row_warps, key_warps, erases, by_channel>;
      const std::size_t column_blocks = (in.kept_values() + Body::values - 1) / Body::values;
      const auto pass = [&](Element<Op> *starts, const float *first, float *last, std::size_t apart, Segments own) {
        const std::size_t all = heads * own.count * column_blocks;
        const int stages = Body::stages_of(all > std::size_t(multiprocessors()));
        launch("state_passing", all, Body::bytes(stages), stream,
               Body{in, W, U, starts, out, first, last, apart, apart, own, stages, channels.k, channels.total});
      };
      if (erases || segments.count == 1) return pass(states, in.start, end, in.state_stride, {});
      if constexpr (by_channel) {
        each_thread("segment_decays", heads * segments.count * in.Dk,
                    SegmentDecays{segments, channels.total, in.chunks_of_text(), in.kept_keys()}, stream);
      }
      Segments known = segments; // without `decays`, a pass does not compute the segments' decays
      known.decays = nullptr;
      pass(nullptr, nullptr, segments.states, size, by_channel ? known : segments);
      scan_segments(in, segments, in.start, end, false, stream);
      if (states) pass(states, segments.states, nullptr, size, known);
    };
    if (segments.count == 1 && values_of_block(in) == 32)
      run(std::integral_constant<int, 2>());
    else
      run(std::integral_constant<int, 4>());
  });
}

} // namespace recollect::chunked
#endif
