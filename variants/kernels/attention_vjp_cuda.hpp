// SPDX-License-Identifier: Apache-2.0
// attention_vjp.hpp's gradients on CUDA where weights are normalised, rows are 64 wide and sequences whole blocks of 64
// steps: a team's four warps take 16 queries each through the keys, or 16 keys through the queries, and weights and
// derivatives of their pairs never leave a warp's registers (chunk_in_warps.hpp).
#pragma once
#include "variants/kernels/block_gradient.hpp"
#include "variants/kernels/chunk_in_warps.hpp"
#ifdef __CUDACC__

namespace recollect::variants {

/// What both have. Rows of the own kind meet rows of the other: q and do, k and v.
template <class Kernel, Math math, bool of_queries> struct AttentionBackInWarps : ChunkInWarps {
  static constexpr bool on_chip = true;
  static constexpr int teams_at_once = of_queries ? 3 : 2;
  static constexpr int rooms = of_queries ? 1 : 2; // for what is met: the next on its way, where there is room
  BlockGradient<float, Kernel> given;
  Rows<float> first, second; // dq, and none; or dk and dv

  struct Met {
    float *logits, *products; // [size,pitch] rows that logits, and do . v, are products with
    float *normaliser, *read; // [size] of queries
    KOKKOS_FUNCTION Met at(int room) const {
      constexpr int all = 2 * size * pitch + 2 * size;
      return {logits + room * all, products + room * all, normaliser + room * all, read + room * all};
    }
  };
  struct Room {
    float *logits, *products; // [size,key_pitch] the own ones
    Met met;
  };
  KOKKOS_FUNCTION static Room place(Stack<float> &s) {
    Room x;
    x.logits = s.take(size * key_pitch), x.products = s.take(size * key_pitch);
    float *const met = s.take(rooms * (2 * size * pitch + 2 * size));
    x.met = {met, met + size * pitch, met + 2 * size * pitch, met + 2 * size * pitch + size};
    return x;
  }
  static size_t scratch() {
    Stack<float> s;
    place(s);
    return s.used;
  }
  KOKKOS_FUNCTION int units() const { return given.loop.queries.count / size; } // of a head
  KOKKOS_FUNCTION bool causal() const { return given.loop.sees != Sees::everything; }

  KOKKOS_FUNCTION void operator()(const Team &all, size_t unit, float *memory) const {
#if __CUDA_ARCH__ >= 800
    const Team team = engine::sized<threads>(all);
    const Lane at(team);
    Stack<float> stack{memory};
    const Room x = place(stack);
    const size_t head = unit / units();
    const int nth = int(unit % units()), own = of_queries ? units() - 1 - nth : nth; // what meets most comes first
    const auto &loop = given.loop;
    fetch<key_pitch>(team, (of_queries ? loop.queries : loop.keys).at(head, own * size), x.logits);
    fetch<key_pitch>(team, (of_queries ? given.d_o : loop.values).at(head, own * size), x.products);
    const int begin = of_queries || !causal() ? 0 : own, end = of_queries && causal() ? own + 1 : units();
    Facts facts{};
    if (of_queries)
      for (int r = 0; r < 2; ++r) {
        const size_t t = head * loop.queries.count + own * size + at.row() + 8 * r;
        facts.normaliser[r] = given.facts.normaliser[t], facts.read[r] = given.facts.read[t];
      }
    meet_next(team, head, begin, x.met);
    Results sums[of_queries ? 1 : 2][blocks];
    for (int other = begin; other < end; ++other) {
      const Met met = x.met.at(rooms == 2 ? (other - begin) % 2 : 0);
      team.barrier();
      if (rooms == 2 && other + 1 < end) meet_next(team, head, other + 1, x.met.at((other + 1 - begin) % 2));
      if (causal() && other == own)
        add<of_queries ? Seen::until : Seen::from>(at, head, own * size, other * size, x, met, facts, sums);
      else
        add<Seen::all>(at, head, own * size, other * size, x, met, facts, sums);
      if (rooms == 1 && other + 1 < end) {
        team.meet();
        meet_next(team, head, other + 1, met);
      }
    }
    bool whole = finite(sums[0]);
    if constexpr (!of_queries) whole = whole && finite(sums[1]);
    if (!whole) return one_by_one(*this, head, own * size + at.first);
    put(at, sums[0], first.at(head, own * size));
    if constexpr (!of_queries) put(at, sums[1], second.at(head, own * size));
#else
    too_old(all, unit, memory);
#endif
  }

#if __CUDA_ARCH__ >= 800
private:
  using Unit = tile::cuda::UnitOf<math>;
  /// A lane's queries'.
  struct Facts {
    float normaliser[2], read[2];
  };

  __device__ __forceinline__ void meet_next(const Team &team, size_t head, int other, const Met &met) const {
    const auto &loop = given.loop;
    fetch<pitch>(team, (of_queries ? loop.keys : loop.queries).at(head, other * size), met.logits);
    fetch<pitch>(team, (of_queries ? loop.values : given.d_o).at(head, other * size), met.products);
    if (of_queries || team.rank >= size) return;
    const size_t t = head * loop.queries.count + other * size + team.rank;
    met.normaliser[team.rank] = given.facts.normaliser[t], met.read[team.rank] = given.facts.read[t];
  }

  /// The block's part of the sums.
  template <Seen seen, int N>
  __device__ __forceinline__ void add(const Lane &at, size_t head, int row, int column, const Room &x, const Met &met,
                                      const Facts &facts, Results (&sums)[N][blocks]) const {
    Results p[blocks], dz[blocks], none[blocks];
    const int from = at.row() * key_pitch + at.place;
    Queries<Unit::groups> logits(x.logits + from, key_pitch);
    meet<Unit, pitch, seen>(at, logits, met.logits, nullptr, p, none);
    Queries<Unit::groups> products(x.products + from, key_pitch);
    meet<Unit, pitch, seen>(at, products, met.products, nullptr, dz, none);
    const Kernel kappa = given.loop.kernel;
#pragma unroll
    for (int b = 0; b < blocks; ++b)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int own = at.row() + e / 2 * 8, other = b * block + at.place + e % 2,
                  t = of_queries ? row + own : column + other, i = of_queries ? column + other : row + own;
        const float normaliser = of_queries ? facts.normaliser[e / 2] : met.normaliser[other],
                    read = of_queries ? facts.read[e / 2] : met.read[other];
        const Pair pair = pair_of(kappa, head, t, i, p[b].x[e], dz[b].x[e], normaliser, read);
        p[b].x[e] = is_seen(seen, other, own) ? pair.weight : 0;
        dz[b].x[e] = is_seen(seen, other, own) ? pair.derivative : 0;
      }
    read_own<Unit, pitch, seen>(at, met.logits, dz, sums[0]);
    if constexpr (!of_queries) read_own<Unit, pitch, seen>(at, met.products, p, sums[1]);
  }

  struct Pair {
    float weight, derivative;
  };
  __device__ __forceinline__ static Pair pair_of(const Kernel &kappa, size_t head, int t, int i, float z, float dp,
                                                 float normaliser, float read) {
    const float l = kappa(head, t, i, z), weight = math::exp(l - normaliser);
    return {weight, kappa.slope(head, t, i, z, l) * weight * (dp - read)};
  }

  /// The warp's rows, pair by pair: numbers that are not finite and not seen do not reach them. By value, so that
  /// registers stay what they are where it is not called.
  __device__ __noinline__ static void one_by_one(AttentionBackInWarps self, size_t head, int begin) {
    const BlockGradient<float, Kernel> &given = self.given;
    const auto &loop = given.loop;
    const int lane = threadIdx.x % 32, count = loop.queries.count;
    for (int own = begin; own < begin + height; ++own) {
      float sums[2][2] = {};
      for (int other = self.causal() && !of_queries ? own : 0; other < (self.causal() && of_queries ? own + 1 : count);
           ++other) {
        const int t = of_queries ? own : other, i = of_queries ? other : own;
        const float *const q = loop.queries.at(head, t), *const k = loop.keys.at(head, i),
                           *const d_o = given.d_o.at(head, t);
        const size_t fact = head * count + t;
        const Pair pair = pair_of(loop.kernel, head, t, i, row_dot(q, k, size, lane, 32),
                                  row_dot(d_o, loop.values.at(head, i), size, lane, 32), given.facts.normaliser[fact],
                                  given.facts.read[fact]);
        for (int h = 0; h < 2; ++h) {
          sums[0][h] += pair.derivative * (of_queries ? k : q)[lane + 32 * h];
          if (!of_queries) sums[1][h] += pair.weight * d_o[lane + 32 * h];
        }
      }
      for (int h = 0; h < 2; ++h) {
        self.first.at(head, own)[lane + 32 * h] = sums[0][h];
        if (!of_queries) self.second.at(head, own)[lane + 32 * h] = sums[1][h];
      }
    }
  }
#endif
};

/// dq, dk and dv from the queries' facts, where that suits; false, and nothing done, elsewhere.
template <class Kernel>
bool attention_back_in_warps(const std::string &label, const Call<float> &call,
                             const BlockGradient<float, Kernel> &block, const Rows<float> &dq, const Rows<float> &dk,
                             const Rows<float> &dv) {
  constexpr int size = ChunkInWarps::size;
  if (Execution().cuda_device_prop().major < 8 || !block.loop.kernel.normalised() || block.loop.sees == Sees::earlier ||
      dq.count % size || dk.count != dq.count || dq.width != size || dv.width != size ||
      !launching::fits_on_chip<float>(AttentionBackInWarps<Kernel, Math::exact, false>::scratch()))
    return false;
  const auto start = [&](const char *of, const auto &gradient) {
    run<float>({label + of, call.shape.heads() * gradient.units(), gradient.threads, call.math}, *call.arena,
               gradient.scratch(), gradient);
  };
  const auto both = [&](auto known) {
    constexpr Math math = decltype(known)::value;
    start("::queries", AttentionBackInWarps<Kernel, math, true>{{}, block, dq, {}});
    start("::keys", AttentionBackInWarps<Kernel, math, false>{{}, block, dk, dv});
  };
  if (call.math == Math::bf16)
    both(std::integral_constant<Math, Math::bf16>());
  else if (call.math == Math::tf32)
    both(std::integral_constant<Math, Math::tf32>());
  else
    both(std::integral_constant<Math, Math::exact>());
  return true;
}

} // namespace recollect::variants
#endif
