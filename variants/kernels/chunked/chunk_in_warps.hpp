// SPDX-License-Identifier: Apache-2.0
// A chunk of 64 steps in heads of width 64 on CUDA, for kernels whose four warps take 16 steps each. Weights of pairs
// never leave a warp's registers, because its results of one product have the layout of the first operand of the next.
//
// Decays, one number per step, are products of the factors within blocks of eight steps, and of whole blocks in
// between (decays.hpp says why).
#pragma once
#include "harness/device/engine.hpp"
#include "variants/kernels/common/unsupported_architecture.hpp"
#ifdef __CUDACC__

namespace recollect::variants {

struct ChunkInWarps {
  static constexpr int size = engine::usual_size, block = 8, blocks = size / block;
  static constexpr int height = tile::cuda::height, threads = size / height * 32;
  // Pitches that avoid bank conflicts: for reads of pairs within a row, and of pairs of rows.
  static constexpr int key_pitch = size + 8, pitch = size + 4;

  /// Products of decays.
  struct Decay {
    float *own;           // [size] of one step
    float *inside, *tail; // [size] from the start of a step's block through the step; of the later steps of its block
    float *whole;         // [blocks] of a whole block
  };
  /// Empty where nothing decays.
  KOKKOS_FUNCTION static Decay place_decay(Stack<float> &s, bool decays) {
    Decay x{};
    if (!decays) return x;
    x.own = s.take(size), x.inside = s.take(size), x.tail = s.take(size), x.whole = s.take(blocks);
    return x;
  }

  /// What outputs read, in shared memory: the chunk's keys and values and the state at its start. Pitches are key_pitch
  /// and pitch.
  struct Reading {
    Decay decay;
    float *k, *v, *S;
  };
  KOKKOS_FUNCTION static Reading place_reading(Stack<float> &s, bool decays) {
    Reading x;
    x.k = s.take(size * key_pitch), x.v = s.take(size * pitch), x.S = s.take(size * pitch),
    x.decay = place_decay(s, decays);
    return x;
  }

  static bool suits(const Call<float> &call) {
    return Execution().cuda_device_prop().major >= 8 && schedule_of(call) == Schedule::three_phase &&
           call.shape.Dv == size && call.chunk == size && call.shape.T % size == 0;
  }

#if __CUDA_ARCH__ >= 800
  using Results = tile::cuda::Results<float>;
  template <int N> using Group = tile::cuda::Group<float, N>;

  /// A lane's elements of its warp's rows: rows `row()` and row() + 8; columns `place` and place + 1 of every eight.
  struct Lane {
    int first, lane, place; // first row of the warp
    __device__ explicit Lane(const Team &team)
        : first(team.rank / 32 * height), lane(team.rank % 32), place(team.rank % 4 * 2) {}
    __device__ int inner() const { return lane / 4; } // row within a block of eight
    __device__ int row() const { return first + inner(); }
  };

  /// A lane's elements of rows `ld` apart, `groups` blocks at a time; the next blocks are prefetched.
  template <int groups> struct Queries {
    const float *at;
    int ld;
    float2 ahead[groups][2]; // [block][row]
    __device__ explicit Queries(const float *at, int ld = size) : at(at), ld(ld) { fetch(); }
    __device__ void fetch() {
#pragma unroll
      for (int g = 0; g < groups; ++g)
#pragma unroll
        for (int r = 0; r < 2; ++r) ahead[g][r] = *reinterpret_cast<const float2 *>(at + r * 8 * ld + g * block);
      at += groups * block;
    }
    template <int N> __device__ void put(Group<N> (&group)[groups]) const {
#pragma unroll
      for (int g = 0; g < groups; ++g)
#pragma unroll
        for (int r = 0; r < 2; ++r) group[g].a[r][0] = ahead[g][r].x, group[g].a[r][1] = ahead[g][r].y;
    }
  };

  /// Starts an asynchronous copy of [size,size], rows `ld` apart, to rows `pitch` apart. Complete after the team's next
  /// barrier.
  template <int pitch>
  __device__ __forceinline__ static void fetch(const Team &team, const float *from, float *to, int ld = size) {
    constexpr int across = size / 4, down = threads / across; // 16 bytes at a time
    const int row = team.rank / across, column = team.rank % across * 4;
    from += row * ld + column, to += row * pitch + column;
#pragma unroll
    for (int i = 0; i < size; i += down) tile::cuda::move_16(from + i * ld, to + i * pitch, true);
  }

  /// Fills the tables; every eight threads take one block. No barrier.
  __device__ static void prepare(const Team &team, const float *alpha, const Decay &x) {
    if (team.rank >= size) return;
    const unsigned all = 0xffffffffu;
    const int lane = team.rank % block;
    const float own = alpha[team.rank];
    float inside = own, tail = __shfl_down_sync(all, own, 1, block);
    if (lane == block - 1) tail = 1;
#pragma unroll
    for (int side = 1; side < block; side *= 2) {
      const float earlier = __shfl_up_sync(all, inside, side, block), later = __shfl_down_sync(all, tail, side, block);
      if (lane >= side) inside *= earlier;
      if (lane + side < block) tail *= later;
    }
    x.own[team.rank] = own, x.inside[team.rank] = inside, x.tail[team.rank] = tail;
    if (lane == block - 1) x.whole[team.rank / block] = inside;
  }

  /// Multiplies p(t,i) by D(t,i) for i <= t (1 unless something `decays`) and sets 0 for i > t; `left` becomes D(t,0).
  __device__ __forceinline__ static void weigh(const Lane &at, bool decays, const Decay &decay, Results (&p)[blocks],
                                               float (&left)[2]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int own = at.first / block + r, last = at.inner(); // the row's block, and its place in it
      left[r] = decays ? decay.inside[own * block + last] : 1;
#pragma unroll
      for (int b = blocks - 1; b >= 0; --b) {
        const int i = b * block + at.place;
        float *const x = p[b].x + 2 * r;
        if (b > own) {
          x[0] = x[1] = 0;
        } else if (b == own) {
          float factor[2] = {1, 1}; // one per pair
          if (decays) {
#pragma unroll
            for (int s = 2; s < block; ++s) // steps between the second pair and the row
              if (at.place + 1 < s && s <= last) factor[1] *= decay.own[b * block + s];
            if (at.place < last) factor[0] = factor[1] * decay.own[i + 1];
          }
#pragma unroll
          for (int e = 0; e < 2; ++e) x[e] = at.place + e <= last ? factor[e] * x[e] : 0;
        } else if (decays) {
          const float2 tail = *reinterpret_cast<const float2 *>(decay.tail + i);
          x[0] *= left[r] * tail.x, x[1] *= left[r] * tail.y;
          left[r] *= decay.whole[b];
        }
      }
    }
  }

  /// sum_t *= the decay of row t.
  __device__ __forceinline__ static void decay_rows(const float (&decay)[2], Results (&sum)[blocks]) {
#pragma unroll
    for (int b = 0; b < blocks; ++b)
#pragma unroll
      for (int e = 0; e < 4; ++e) sum[b].x[e] *= decay[e / 2];
  }

  /// Blocks of eight rows in shared memory, `pitch` apart, loaded as columns.
  template <int pitch, int N, int groups>
  __device__ __forceinline__ static void load_keys(const float *k, Group<N> (&group)[groups]) {
#pragma unroll
    for (int g = 0; g < groups; ++g)
#pragma unroll
      for (int c = 0; c < N; ++c) {
        const float2 both = *reinterpret_cast<const float2 *>(k + c * block * pitch + g * block);
        group[g].b[c][0] = both.x, group[g].b[c][1] = both.y;
      }
  }

  /// sum_t += sum of p(t,i) v_i over the blocks that row t sees.
  template <class Unit, int pitch>
  __device__ __forceinline__ static void read_own(const Lane &at, const float *v, const Results (&p)[blocks],
                                                  Results (&sum)[blocks]) {
    constexpr int groups = Unit::groups;
    v += at.place * pitch + 2 * at.inner();
#pragma unroll
    for (int b = 0; b < blocks; b += groups) {
      if (b * block >= at.first + height) continue;
      Group<blocks> group[groups];
#pragma unroll
      for (int g = 0; g < groups; ++g) {
#pragma unroll
        for (int e = 0; e < 2; ++e)
#pragma unroll
          for (int r = 0; r < 2; ++r) group[g].a[r][e] = p[b + g].x[2 * r + e];
        tile::cuda::load_rows(v + (b + g) * block * pitch, pitch, group[g]);
      }
      Unit::add(group, sum);
    }
  }

  /// p(t,i) = row_t . k_i for all blocks with a visible pair. Unless S is null, also adds the product with the state to
  /// sum_t: element j of row_t times row j of S.
  template <class Unit, int keys_pitch>
  __device__ __forceinline__ static void meet(const Lane &at, Queries<Unit::groups> &row, const float *k,
                                              const float *S, Results (&p)[blocks], Results (&sum)[blocks]) {
    constexpr int groups = Unit::groups, half = blocks / 2;
    k += at.inner() * keys_pitch + at.place;
    const bool reads = S, second = at.first >= size / 2;
    if (reads) S += at.place * pitch + 2 * at.inner();
    Results early[half], late[half];
#pragma unroll 1
    for (int b = 0; b < blocks; b += groups, k += groups * block) {
      Group<blocks> state[groups];
      Group<half> keys[groups];
      row.put(state), row.put(keys);
      if (b + groups < blocks) row.fetch();
      load_keys<keys_pitch>(k, keys);
      Unit::add(keys, early);
      if (second) {
        load_keys<keys_pitch>(k + size / 2 * keys_pitch, keys);
        Unit::add(keys, late);
      }
      if (!reads) continue;
#pragma unroll
      for (int g = 0; g < groups; ++g) tile::cuda::load_rows(S + g * block * pitch, pitch, state[g]);
      Unit::add(state, sum);
      S += groups * block * pitch;
    }
#pragma unroll
    for (int c = 0; c < half; ++c) p[c] = early[c], p[half + c] = late[c];
  }

  /// Adds sum of v_i (strength_i D(C,i) k_i)^T to sum, transposed. z += the lane's share of the sum of these keys.
  /// Returns D(C,0). A null strength is 1.
  template <class Unit, int keys_pitch>
  __device__ __forceinline__ static float add_up(const Lane &at, bool decays, const float *strength, const float *k,
                                                 const float *v, const Decay &decay, Results (&sum)[blocks],
                                                 float (&z)[2]) {
    constexpr int groups = Unit::groups;
    float beyond = 1; // decay of the blocks in between
#pragma unroll 2
    for (int turn = 0; turn < blocks; turn += groups) {
      const int b = blocks - groups - turn;
      Group<blocks> group[groups];
#pragma unroll
      for (int nth = 0; nth < groups; ++nth) {
        const int g = groups - 1 - nth, i = (b + g) * block + at.place;
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const float *const keys = k + (i + e) * keys_pitch + at.row();
          const float factor = (decays ? beyond * decay.tail[i + e] : 1) * (strength ? strength[i + e] : 1);
#pragma unroll
          for (int r = 0; r < 2; ++r) z[r] += group[g].a[r][e] = factor * keys[8 * r];
        }
        tile::cuda::load_rows(v + i * pitch + 2 * at.inner(), pitch, group[g]);
        if (decays) beyond *= decay.whole[b + g];
      }
      Unit::add(group, sum);
    }
    return beyond;
  }

  /// Starts to copy a chunk's keys, and its values with rows `ld` apart.
  __device__ __forceinline__ static void begin(const Team &team, const float *keys, const float *values, int ld,
                                               const Reading &x) {
    fetch<key_pitch>(team, keys, x.k);
    asm volatile("cp.async.commit_group;" ::: "memory");
    fetch<pitch>(team, values, x.v, ld); // used last
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  /// Outputs of a chunk whose copy has been started and whose state is copied to x.S. p(t,i) = D(t,i) q_t . k_i for i
  /// <= t, which more(p) may change; sum_t = D(t,0) S q_t + sum of p(t,i) v_i; decay = D(t,0).
  template <class Unit, class More>
  __device__ __forceinline__ static void read_chunk(const Team &team, const Lane &at, Queries<Unit::groups> &q,
                                                    bool decays, const float *alpha, const Reading &x, const More &more,
                                                    Results (&p)[blocks], Results (&sum)[blocks], float (&decay)[2]) {
    if (decays) prepare(team, alpha, x.decay);
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    team.meet();
    meet<Unit, key_pitch>(at, q, x.k, x.S, p, sum);
    weigh(at, decays, x.decay, p, decay);
    more(p);
    decay_rows(decay, sum);
    team.barrier();
    read_own<Unit, pitch>(at, x.v, p, sum);
  }

  /// Scalar fallback: one step t of a chunk in device memory, which a whole warp reads pair by pair. NaN or Inf behind
  /// the causal mask does not reach it. Null strengths and decays are 1.
  struct Given {
    const float *q, *k, *v, *S;
    int ldv, lds;
    const float *alpha, *strength;
  };
  struct Alone {
    float sum[2], mass, decay; // columns lane and lane + 32; sum of the weights; D(t,0)
  };
  __device__ static Alone read_alone(int t, const Given &x) {
    const int lane = threadIdx.x % 32;
    const float *const q = x.q + t * size;
    Alone own{{0, 0}, 0, 1};
    for (int i = t; i >= 0; --i) {
      const float weight = own.decay * (x.strength ? x.strength[i] : 1) * row_dot(q, x.k + i * size, size, lane, 32);
      own.mass += weight;
      for (int h = 0; h < 2; ++h) own.sum[h] += weight * x.v[i * x.ldv + lane + 32 * h];
      if (x.alpha) own.decay *= x.alpha[i];
    }
    for (int j = 0; j < size; ++j)
      for (int h = 0; h < 2; ++h) own.sum[h] += own.decay * q[j] * x.S[j * x.lds + lane + 32 * h];
    return own;
  }

  /// Writes a lane's results value(row, x) to out [size,size], rows ld apart.
  template <class Value>
  __device__ __forceinline__ static void put(const Lane &at, const Results (&sum)[blocks], float *out,
                                             const Value &value, int ld = size) {
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int b = 0; b < blocks; b += 2) {
        const float *x = sum[b].x + 2 * r, *y = sum[b + 1].x + 2 * r;
        *reinterpret_cast<float4 *>(out + (at.row() + 8 * r) * ld + tile::cuda::column_of(b, at.lane)) =
            make_float4(value(r, x[0]), value(r, y[0]), value(r, x[1]), value(r, y[1]));
      }
  }
  __device__ __forceinline__ static void put(const Lane &at, const Results (&sum)[blocks], float *out, int ld = size) {
    put(
        at, sum, out, [](int, float x) { return x; }, ld);
  }
  /// Whether all results of the warp are finite. If not, an infinite v behind the causal mask may have been multiplied
  /// by a weight of 0.
  __device__ __forceinline__ static bool finite(const Results (&sum)[blocks]) {
    float sign = 0; // NaN if any is not finite
#pragma unroll
    for (int b = 0; b < blocks; ++b)
#pragma unroll
      for (int e = 0; e < 4; ++e) sign = fma(sum[b].x[e], 0.0f, sign);
    return !__any_sync(0xffffffffu, sign != sign);
  }
#endif
};

} // namespace recollect::variants
#endif
