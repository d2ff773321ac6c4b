// SPDX-License-Identifier: Apache-2.0
// What the stages of a chunked recurrence share: the arrays of a call, the position of a chunk's steps in these arrays,
// and the arrays that one stage saves for another. The vectors q_t and k_t have Dk channels, v_t has Dv, and the state
// S is [Dv,Dk].
//
//   decayed sums:  S_t = alpha_t S_{t-1} + write_t v_t k_t^T                                        o_t = scale S_t q_t
//   delta rules:   S_t = alpha_t S_{t-1} + e_t k_t^T,  e_t = write_t v_t - erase_t S_{t-1} k_t      o_t = scale S_t q_t
//
// Chunks have C = 64 steps, counted from 1. Let a chunk start in state S, and let D(t,i) = alpha_{i+1} ... alpha_t.
// D(t,0) is the product from the chunk's first step through t, D(C,i) the product of all steps after i. Q, K and V have
// the rows q_t, k_t and v_t:
//
//   L(t,i) = erase_t D(t-1,i) k_t . k_i for i < t       the chunk's matrix of erasures, strictly lower
//   X = (I + L)^-1                                      "inverse", unit lower
//   W = X diag(erase_t D(t-1,0)) K                      [64,Dk]
//   U = X diag(write) V                                 [64,Dv]
//   E = U - W S^T                                       [64,Dv], rows e_t
//   o_t = scale (D(t,0) S q_t + sum_{i<=t} D(t,i) (q_t . k_i) e_i)
//   S_next = D(C,0) S + sum_i e_i (D(C,i) k_i)^T
//
// Decayed sums have e_t = write_t v_t, and no L, X, W and U.
#pragma once
#include "variants/kernels/chunked/decay_tables.hpp"
#ifdef __CUDACC__
#include <cstddef>

namespace recollect::chunked {

using fragments::Element;

/// Position of one head of one sequence (a "text") in the arrays of a call. `row` is a row of arrays [B,H,T,...], and
/// `key_row` a row of q and k, [B,key_heads,T,Dk].
struct HeadOfText {
  std::size_t row, key_row; // rows of the head's first step
  int steps;                // at least 0
  std::size_t chunk;        // index of its first chunk in saved arrays
  std::size_t state;        // index of its state: text * H + head
};
/// Position of one chunk of a head.
struct ChunkOfHead {
  std::size_t row, key_row; // rows of the chunk's first step
  int steps;                // steps of the chunk, 1 ... 64
  std::size_t chunk;        // index of the chunk in saved arrays
};

/// Arrays of a call, in device memory. Rows of keys and of values start at multiples of 16 bytes (padded_rows.hpp),
/// except in step.hpp. Stored is float, __nv_bfloat16 or __half. With packed texts (variable-length sequences) B is 1,
/// and text n consists of steps starts[n] ... starts[n+1] - 1.
template <class Stored> struct Inputs {
  int B = 1, H = 1, T = 0, Dk = 0, Dv = 0;
  int key_heads = 1;                       // H = key_heads * group: head h uses q and k of head h / group
  const Stored *q = nullptr, *k = nullptr; // [B,key_heads,T,Dk]
  const Stored *v = nullptr;               // [B,H,T,Dv]
  const float *alpha = nullptr, *erase = nullptr, *write = nullptr; // [B,H,T]; null: 1
  float scale = 1;
  const float *start = nullptr; // [texts * H] states S [Dv,Dk], `state_stride` numbers apart; null: 0
  std::size_t state_stride = 0; // at least Dv Dk
  // The call may cover a window of longer sequences: the T steps from first_step on. The first steps of consecutive
  // heads are head_steps steps apart; head_steps = 0 means T.
  int first_step = 0, head_steps = 0;
  // Packed texts. If `packed` is 0, there are B texts of T steps.
  int packed = 0;                    // number of packed texts
  int packed_chunks = 0;             // chunks of all texts, for one head
  const int *starts = nullptr;       // [packed + 1] first step of each text
  const int *chunk_starts = nullptr; // [packed + 1] number of chunks of all earlier texts
  const int *chunk_texts = nullptr;  // [packed_chunks] text of each chunk

  __host__ __device__ int texts() const { return packed ? packed : B; }
  __host__ __device__ int chunks_of_text() const { return (T + chunk - 1) / chunk; }
  /// Number of chunks of all heads and texts: the length of saved arrays.
  __host__ __device__ std::size_t chunks() const {
    return packed ? std::size_t(H) * packed_chunks : std::size_t(B) * H * chunks_of_text();
  }
  /// Widths of saved arrays: multiples of 16, padded with zeros past Dk and Dv.
  __host__ __device__ int kept_keys() const { return (Dk + 15) / 16 * 16; }
  __host__ __device__ int kept_values() const { return (Dv + 15) / 16 * 16; }

  __device__ HeadOfText head_of_text(int text, int head) const {
    const std::size_t key_head = head / (H / key_heads), state = std::size_t(text) * H + head;
    if (!packed) {
      const std::size_t apart = head_steps ? head_steps : T;
      return {state * apart + first_step, (std::size_t(text) * key_heads + key_head) * apart + first_step, T,
              state * chunks_of_text(), state};
    }
    const int first = starts[text];
    return {std::size_t(head) * T + first, key_head * T + first, starts[text + 1] - first,
            std::size_t(head) * packed_chunks + chunk_starts[text], state};
  }
  /// Position of chunk `unit` = 0 ... chunks() - 1, in the order of saved arrays.
  __device__ ChunkOfHead chunk_of_head(std::size_t unit) const {
    const int each = packed ? packed_chunks : chunks_of_text();
    // head is the head's number in its text, plus text * H unless texts are packed.
    const int head = int(unit / each), nth = int(unit % each);
    const int text = packed ? chunk_texts[nth] : head / H;
    const HeadOfText h = head_of_text(text, packed ? head : head % H);
    const int first = (nth - (packed ? chunk_starts[text] : 0)) * chunk, left = h.steps - first;
    return {h.row + first, h.key_row + first, left < chunk ? left : chunk, unit};
  }
};

// Arrays of Element<Op> that stages save for each of the chunks() chunks, with K = kept_keys() and V = kept_values().
// All are aligned to 16 bytes:
//   inverse  [64,64]   X(t,i)
//   W        [64,K]
//   U, E     [V,64]    transposed: one row per value channel, one column per step
//   states   [V,K]     S at the chunk's start
// Steps past a text's end are zeros in these arrays (in X: rows and columns of the unit matrix).

} // namespace recollect::chunked
#endif
