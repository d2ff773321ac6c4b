// SPDX-License-Identifier: Apache-2.0
// A chunk's reads as gradients are made of them, where chunk_in_warps.hpp serves: of every pair of a row with those before
// it or after it, and of a state.
#pragma once
#include "variants/kernels/chunk_in_warps.hpp"
#ifdef __CUDACC__

namespace recollect::variants {

enum class Seen { until, before, from, after }; // i <= t, i < t, i >= t, i > t

KOKKOS_FUNCTION constexpr bool is_seen(Seen seen, int i, int t) {
  return seen == Seen::until ? i <= t : seen == Seen::before ? i < t : seen == Seen::from ? i >= t : i > t;
}
KOKKOS_FUNCTION constexpr bool looks_back(Seen seen) { return seen == Seen::until || seen == Seen::before; }

struct PairsInWarps : ChunkInWarps {
  static constexpr int pitch = size + 4; // of rows in shared memory

  /// [size,size] in shared memory.
  KOKKOS_FUNCTION static float *room(Stack<float> &s) { return s.take(size * pitch); }

#if __CUDA_ARCH__ >= 800
  /// In shared memory; no state where it is null.
  struct Tiles {
    const float *met, *read, *state;
  };
  /// A warp's rows in device memory, ld apart.
  struct RowsOf {
    const float *data;
    int ld = size;
  };

  /// sum_t += sum over the seen of factor(i) (row_t . met_i) read_i, plus the state's read: sum of row_t's j times the
  /// state's row j, or where the state's rows lie `along` the sum, its column j.
  template <class Unit, Seen seen, bool along, class Factor>
  __device__ __forceinline__ static void add_pairs(const Lane &at, const RowsOf &rows, const Tiles &x,
                                                   const Factor &factor, Results (&sum)[blocks]) {
    constexpr int groups = Unit::groups, half = blocks / 2;
    Queries<groups> row(rows.data + at.row() * rows.ld + at.place, rows.ld);
    Results early[half], late[half], p[blocks];
    const float *met = x.met + at.inner() * pitch + at.place,
                *S = x.state + (along ? 2 * at.inner() * pitch + at.place : at.place * pitch + 2 * at.inner());
    const bool first = looks_back(seen) || at.first < size / 2, second = !looks_back(seen) || at.first >= size / 2;
#pragma unroll 1
    for (int b = 0; b < blocks; b += groups, met += groups * block, S += groups * (along ? block : block * pitch)) {
      Group<blocks> state[groups];
      Group<half> pairs[groups];
      row.put(state), row.put(pairs);
      if (b + groups < blocks) row.fetch();
      if (first) {
        load_keys<pitch>(met, pairs);
        Unit::add(pairs, early);
      }
      if (second) {
        load_keys<pitch>(met + size / 2 * pitch, pairs);
        Unit::add(pairs, late);
      }
      if (!x.state) continue;
#pragma unroll
      for (int g = 0; g < groups; ++g) {
        if constexpr (along)
          load_along(S + g * block, state[g]);
        else
          tile::cuda::load_rows(S + g * block * pitch, pitch, state[g]);
      }
      Unit::add(state, sum);
    }
#pragma unroll
    for (int c = 0; c < half; ++c) p[c] = early[c], p[half + c] = late[c];
#pragma unroll
    for (int b = 0; b < blocks; ++b)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int t = at.row() + e / 2 * 8, i = b * block + at.place + e % 2;
        p[b].x[e] = is_seen(seen, i, t) ? factor(i) * p[b].x[e] : 0;
      }
    read_own<Unit, pitch, looks_back(seen)>(at, x.read, p, sum);
  }

  /// The same for one row t by a whole warp, from device memory: a lane's columns, lane and lane + 32. Numbers that are not
  /// finite and not seen do not reach it.
  struct InMemory {
    RowsOf rows, met, read;
    const float *state; // rows `size` apart, or null
  };
  template <Seen seen, bool along, class Factor>
  __device__ static void add_pairs(int t, const InMemory &x, const Factor &factor, float (&sum)[2]) {
    const int lane = threadIdx.x % 32;
    const float *const row = x.rows.data + t * x.rows.ld;
    for (int i = 0; i < size; ++i) {
      if (!is_seen(seen, i, t)) continue;
      const float weight = factor(i) * row_dot(row, x.met.data + i * x.met.ld, size, lane, 32);
      for (int h = 0; h < 2; ++h) sum[h] += weight * x.read.data[i * x.read.ld + lane + 32 * h];
    }
    for (int j = 0; x.state && j < size; ++j)
      for (int h = 0; h < 2; ++h) {
        const int column = lane + 32 * h;
        sum[h] += row[j] * x.state[along ? column * size + j : j * size + column];
      }
  }

private:
  /// As load_keys, rows in load_rows's order of columns: every second of sixteen.
  template <int N> __device__ __forceinline__ static void load_along(const float *from, Group<N> &group) {
#pragma unroll
    for (int c = 0; c < N; ++c) {
      const float2 both = *reinterpret_cast<const float2 *>(from + (c / 2 * 16 + c % 2) * pitch);
      group.b[c][0] = both.x, group.b[c][1] = both.y;
    }
  }
#endif
};

} // namespace recollect::variants
#endif
