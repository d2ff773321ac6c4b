// SPDX-License-Identifier: Apache-2.0
// Blocks of keys and values on the chip, for attention_cuda.hpp's warps: numbers as they are, or rounded to bf16.
#pragma once
#ifdef __CUDACC__
#include "variants/kernels/key_loop.hpp"
#include "variants/kernels/too_old.hpp"

namespace recollect::variants {

/// Numbers unrounded. Products are exact even where TF32 would suffice: TF32 took twice the time.
template <class Real> struct PlainBlocks {
  using Unit = std::conditional_t<sizeof(Real) == 8, tile::cuda::Float64, tile::cuda::Exact>;
  static constexpr bool alone = sizeof(Real) == 8; // scratch of one team leaves no room for a second
  static constexpr int warps = alone ? 16 : 8, tiles = 1, teams = alone ? 1 : 2; // at once
  static constexpr int most_width = 64, pitch = most_width + 4;
  static constexpr int keys = alone ? 32 : 64, at_once = keys / 2; // whose weights are 16 of a thread's 128 registers
  static constexpr bool rounds = false;

  struct Block {
    Real *k, *v; // [keys,pitch]
#if __CUDA_ARCH__ >= 800
    __device__ Block from(int key) const { return {k + key * pitch, v + key * pitch}; }
    /// Whether the values are that the thread looks at.
    __device__ bool finite(const Team &team) const {
      bool all = true;
      for (int i = team.rank; i < keys * most_width; i += team.size)
        all = all && isfinite(v[i / most_width * pitch + i % most_width]); // nothing was written past the width
      return all;
    }
#endif
  };

#if __CUDA_ARCH__ >= 800
  struct Queries {
    const Real *q;
    int pitch;
    __device__ Queries(const Real *q, int pitch, int, Real) : q(q), pitch(pitch) {}
  };

  template <class Loop>
  __device__ void stage(const Team &team, const Loop &loop, size_t head, int first, const Block &to) const {
    const int left = loop.keys.count - first, n = left < keys ? left : keys, width = loop.values.width;
    tile::copy(team, n, loop.keys.width, loop.keys.at(head, first), loop.keys.width, to.k, pitch);
    tile::copy(team, n, width, loop.values.at(head, first), width, to.v, pitch);
    each_cell(team, keys - n, width, [=](int row, int c) { to.v[(n + row) * pitch + c] = 0; });
  }

  /// p(t,i) = q_t . k_i over so many channels.
  template <int N>
  __device__ __forceinline__ static void score(const Queries &queries, const Block &block, int channels, int lane,
                                               tile::cuda::Results<Real> (&p)[1][N]) {
    const tile::Product<Real> scores{tile::rows(queries.q, queries.pitch), tile::transposed(block.k, pitch),
                                     most_width};
    tile::cuda::accumulate<Unit>(tile::cuda::Whole<Real, N, true, true>(scores, 0, 0, 0, 0, lane), channels, p[0]);
  }
  /// sum_t += sum of p(t,i) v_i
  template <int N, class Held>
  __device__ __forceinline__ static void add(const Block &block, int lane, const tile::cuda::Results<Real> (&p)[1][N],
                                             Held (&held)[1]) {
#pragma unroll
    for (int c = 0; c < N; ++c) {
      tile::cuda::Group<Real, most_width / 8> group[1];
#pragma unroll
      for (int e = 0; e < 2; ++e)
#pragma unroll
        for (int r = 0; r < 2; ++r) group[0].a[r][e] = p[0][c].x[2 * r + e];
      tile::cuda::load_rows(block.v + (8 * c + lane % 4 * 2) * pitch + lane / 4 * 2, pitch, group[0]);
      Unit::add(group, held[0].sum);
    }
  }
  /// Where a lane's results e = 0, 1 of a row of block j stand.
  __device__ static int column(int j, int lane, int e) { return tile::cuda::column_of(j, lane) + 2 * e; }
  /// exp(x - peak)
  struct Exp {
    Real peak;
    __device__ explicit Exp(Real peak) : peak(peak) {}
    __device__ Real operator()(Real x) const { return math::exp(x - peak); }
  };
#endif
};

/// Rows in bf16: [heads, count in whole blocks, 64], zeros past the rows and their widths, two numbers in the room of one.
struct RoundedRows {
  static constexpr int block = 64, width = 64, words = width / 2;
  Array<float> data;
  int blocks;
  KOKKOS_FUNCTION float *at(size_t head, int row) const { return data.data() + (head * blocks * block + row) * words; }
};
/// Rounds one block a unit.
struct RoundRows {
  static constexpr int threads = 256;
  Rows<float> from;
  RoundedRows to;
  KOKKOS_FUNCTION void operator()(const Team &team, size_t unit, float *) const {
#if __CUDA_ARCH__ >= 800
    const size_t head = unit / to.blocks;
    const int begin = int(unit % to.blocks) * RoundedRows::block;
    if (from.width == RoundedRows::width && begin + RoundedRows::block <= from.count)
      return whole(team, from.at(head, begin), to.at(head, begin));
    const auto number = [&](int row, int c) {
      return begin + row < from.count && c < from.width ? from.at(head, begin + row)[c] : 0;
    };
    each_cell(team, RoundedRows::block, RoundedRows::words, [&](int row, int c) {
      const std::uint32_t both = tile::cuda::to_bf16_pair(number(row, 2 * c), number(row, 2 * c + 1));
      to.at(head, begin + row)[c] = __uint_as_float(both);
    });
#else
    too_old(team, unit);
#endif
  }

#if __CUDA_ARCH__ >= 800
private:
  /// Every load is under way before the first number is rounded.
  __device__ static void whole(const Team &team, const float *from, float *to) {
    constexpr int each = RoundedRows::block * RoundedRows::width / 4 / threads;
    float4 x[each];
#pragma unroll
    for (int i = 0; i < each; ++i) x[i] = reinterpret_cast<const float4 *>(from)[team.rank + i * threads];
#pragma unroll
    for (int i = 0; i < each; ++i)
      reinterpret_cast<uint2 *>(to)[team.rank + i * threads] =
          make_uint2(tile::cuda::to_bf16_pair(x[i].x, x[i].y), tile::cuda::to_bf16_pair(x[i].z, x[i].w));
  }
#endif
};
inline RoundedRows rounded(const std::string &label, const Call<float> &call, const Rows<float> &rows) {
  const int blocks = (rows.count - 1) / RoundedRows::block + 1;
  const size_t units = call.shape.heads() * blocks;
  const RoundedRows to{call.arena->take<float>(units * RoundedRows::block * RoundedRows::words), blocks};
  run<float>({label + "::round", units}, *call.arena, 0, RoundRows{rows, to});
  return to;
}

/// Numbers rounded to bf16 before the loop; exponentials by the GPU's own instruction.
struct RoundedBlocks {
  static constexpr int warps = 4, tiles = 2, teams = 2; // with 255 registers a thread
  static constexpr int most_width = RoundedRows::width, keys = RoundedRows::block, at_once = keys;
  static constexpr int words = RoundedRows::words, pitch = words + 4; // of a row, in different banks eight by eight
  static constexpr bool rounds = true; // with registers left to skip masks and to write outputs from
  RoundedRows k, v;

  struct Block {
    float *k, *v; // [keys,pitch]
#if __CUDA_ARCH__ >= 800
    __device__ Block from(int) const { return *this; }
    __device__ bool finite(const Team &team) const {
      constexpr std::uint32_t exponent = 0x7f80; // all ones where a number is not
      bool all = true;
      for (int i = team.rank; i < keys * words; i += team.size) {
        const std::uint32_t both = __float_as_uint(v[i / words * pitch + i % words]);
        all = all && (both & exponent) != exponent && (both >> 16 & exponent) != exponent;
      }
      return all;
    }
#endif
  };

#if __CUDA_ARCH__ >= 800
  static constexpr int steps = most_width / 16; // of 16 terms, a matrix instruction's
  /// The warp's, as first operands.
  struct Queries {
    std::uint32_t a[tiles][steps][4];
    __device__ Queries(const float *q, int pitch, int lane, float factor) {
      q += lane / 4 * pitch + lane % 4 * 2;
#pragma unroll
      for (int i = 0; i < tiles; ++i)
#pragma unroll
        for (int s = 0; s < steps; ++s)
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const float2 both =
                *reinterpret_cast<const float2 *>(q + (16 * i + e % 2 * 8) * pitch + 16 * s + e / 2 * 8);
            a[i][s][e] = tile::cuda::to_bf16_pair(factor * both.x, factor * both.y);
          }
    }
  };

  template <class Loop>
  __device__ void stage(const Team &team, const Loop &, size_t head, int first, const Block &to) const {
    constexpr int across = words / 4, down = 32 * warps / across; // 16 bytes at a time
    const int row = team.rank / across, c = team.rank % across * 4;
    const float *const from_k = k.at(head, first + row) + c, *const from_v = v.at(head, first + row) + c;
    float *const to_k = to.k + row * pitch + c, *const to_v = to.v + row * pitch + c;
#pragma unroll
    for (int i = 0; i < keys; i += down) {
      tile::cuda::move_16(from_k + i * words, to_k + i * pitch, true);
      tile::cuda::move_16(from_v + i * words, to_v + i * pitch, true);
    }
  }

  template <int N>
  __device__ __forceinline__ static void score(const Queries &queries, const Block &block, int, int lane,
                                               tile::cuda::Results<float> (&p)[tiles][N]) {
    const std::uint32_t row = shared(block.k + (lane / 16 * 8 + lane % 8) * pitch + lane / 8 % 2 * 4);
#pragma unroll
    for (int s = 0; s < steps; ++s)
#pragma unroll
      for (int c = 0; c < N; c += 2) { // innermost: products that add to one result wait for each other
        std::uint32_t b[4];
        tile::cuda::load_pairs(row + 4 * (c * 8 * pitch + s * 8), b);
#pragma unroll
        for (int i = 0; i < tiles; ++i) {
          tile::cuda::mma_bf16(p[i][c], queries.a[i][s], {b[0], b[1]});
          tile::cuda::mma_bf16(p[i][c + 1], queries.a[i][s], {b[2], b[3]});
        }
      }
  }
  template <int N, class Held>
  __device__ __forceinline__ static void add(const Block &block, int lane,
                                             const tile::cuda::Results<float> (&p)[tiles][N], Held (&held)[tiles]) {
    const std::uint32_t row = shared(block.v + lane % 16 * pitch + lane / 16 * 4);
#pragma unroll
    for (int c = 0; c < N; c += 2) {
      std::uint32_t a[tiles][4];
#pragma unroll
      for (int i = 0; i < tiles; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float *const pair = p[i][c + e / 2].x + e % 2 * 2;
          a[i][e] = tile::cuda::to_bf16_pair(pair[0], pair[1]);
        }
#pragma unroll
      for (int j = 0; j < most_width / 8; j += 2) {
        std::uint32_t b[4];
        tile::cuda::load_pairs_across(row + 4 * (c * 8 * pitch + j * 4), b);
#pragma unroll
        for (int i = 0; i < tiles; ++i) {
          tile::cuda::mma_bf16(held[i].sum[j], a[i], {b[0], b[1]});
          tile::cuda::mma_bf16(held[i].sum[j + 1], a[i], {b[2], b[3]});
        }
      }
    }
  }
  __device__ static int column(int j, int lane, int e) { return 8 * j + lane % 4 * 2 + e; }
  struct Exp {
    static constexpr float binary = 1.44269504f; // log2(e)
    float peak; // log2(e) of it; 0 where nothing is seen, whose logits may be -infinity
    __device__ explicit Exp(float peak) : peak(peak > Kokkos::reduction_identity<float>::max() ? peak * binary : 0) {}
    __device__ float operator()(float x) const {
      float y;
      asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(fma(x, binary, -peak)));
      return y;
    }
  };

private:
  __device__ static std::uint32_t shared(const float *at) { return std::uint32_t(__cvta_generic_to_shared(at)); }
#endif
};

} // namespace recollect::variants
#endif
