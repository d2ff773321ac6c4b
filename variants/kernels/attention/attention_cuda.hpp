// SPDX-License-Identifier: Apache-2.0
// The attention of attention.hpp on tensor cores, for float32 arrays with rows of at most 256 numbers. Wider rows and
// float64 use the portable loop of attention.hpp. Operands are rounded to bf16 if Call::math allows it; otherwise each
// product is computed as three products in TF32 (`Exact`). On Hopper, softmax with 16-bit operands runs on warpgroups,
// and so do its gradients at widths up to 128.
//
// Softmax kernels are compiled once for all layers, for every pair of widths in `AllExtents`. Similarities without a
// normaliser are compiled as one kernel that selects the similarity at run time (ChosenKernel), for the widths in
// `FewExtents`. A kernel that only one layer uses is compiled with that layer, also for `FewExtents`.
#pragma once
#ifdef __CUDACC__
#include "variants/kernels/attention/backward_cuda.hpp"
#include "variants/kernels/attention/backward_hopper_cuda.hpp"
#include "variants/kernels/attention/block_gradient.hpp"
#include "variants/kernels/attention/forward_hopper_cuda.hpp"
#include "variants/kernels/attention/similarity.hpp"
#include "variants/kernels/common/unsupported_architecture.hpp"

namespace recollect::variants::attention {

/// Widths of keys and of values that a kernel is compiled for. Narrower rows are padded with zeros.
template <int Dk_, int Dv_> struct Extents { static constexpr int Dk = Dk_, Dv = Dv_; };
template <class... Each> struct ExtentsTable {
  /// Calls visit(Extents) for the first entry that is at least as wide as Dk and Dv; returns false if there is none.
  template <class Visit> static bool find(int Dk, int Dv, const Visit &visit) {
    return ((Dk <= Each::Dk && Dv <= Each::Dv && (visit(Each()), true)) || ...);
  }
};
using AllExtents = ExtentsTable<Extents<32, 32>, Extents<64, 64>, Extents<96, 96>, Extents<128, 128>, Extents<192, 192>,
                                Extents<128, 256>, Extents<256, 256>>;
using FewExtents = ExtentsTable<Extents<64, 64>, Extents<128, 128>, Extents<256, 256>>;
/// Extents of the kernels for Hopper's warpgroups. These kernels are faster than kernels for single warps, even where
/// they need more padding.
using HopperExtents = ExtentsTable<Extents<64, 64>, Extents<128, 128>, Extents<128, 256>, Extents<256, 256>>;
using HopperGradientExtents = ExtentsTable<Extents<64, 64>, Extents<128, 128>>;

using Softmax = FixedKernel<float, Kind::softmax>;

/// Converts a kernel to the type for which tensor-core code is compiled.
template <class Kernel> const Kernel &compiled(const Kernel &kernel) { return kernel; }
inline const Softmax &compiled(const Softmax &kernel) { return kernel; }
template <Kind kind> ChosenKernel<float> compiled(const FixedKernel<float, kind> &kernel) {
  return {kind, kernel.factor};
}

/// True for kernels that need more inner products per pair than q . k. These kernels run in the portable loop.
template <class Kernel, class = void> constexpr bool is_costly = false;
template <class Kernel> constexpr bool is_costly<Kernel, std::enable_if_t<Kernel::costly>> = true;

/// Runs body(unit, memory) for the work units of a launch (harness/device/launch.hpp), one team per work unit.
template <class Body> struct OnTeams {
  static constexpr bool on_chip = true;
  static constexpr int threads = Body::threads, teams_at_once = Body::blocks_at_once;
  Body body;
  KOKKOS_FUNCTION void operator()(const Team &team, size_t unit, float *memory) const {
#if __CUDA_ARCH__ >= 800
    body(unit, memory);
#else
    unsupported_architecture(team, unit, memory);
#endif
  }
};
template <class Body> void start(const std::string &label, const CallSettings &call, const Body &body) {
  run<float>({label, body.units(), Body::threads, call.math}, *call.arena, Body::shared_bytes / sizeof(float),
             OnTeams<Body>{body});
}

template <class T> DeviceRows<T> device_rows(const Rows<T> &rows) { return {rows.data.data(), rows.count, rows.width}; }

/// Converts rows to the operand type of the products, and pads them with zeros to whole 16-byte vectors.
template <class E> struct ConvertRows {
  static constexpr int threads = 256, pack = 16 / sizeof(E), each = 4; // packs per thread
  Rows<float> from;
  E *to;
  int width; // width of the output rows
  size_t packs;
  KOKKOS_FUNCTION void operator()(const Team &team, size_t unit, float *memory) const {
#if __CUDA_ARCH__ >= 800
    const size_t first = unit * each * threads + team.rank;
    if (width == from.width && (unit + 1) * each * threads <= packs && std::uintptr_t(from.data.data()) % 16 == 0) {
      float x[each][pack];
#pragma unroll
      for (int n = 0; n < each; ++n) tile::cuda::take(from.data.data() + (first + n * threads) * pack, x[n]);
#pragma unroll
      for (int n = 0; n < each; ++n) put(first + n * threads, x[n]);
      return;
    }
    for (size_t at = first; at < (unit + 1) * each * threads && at < packs; at += threads) {
      const size_t row = at * pack / width;
      const int column = int(at * pack - row * width);
      float x[pack];
#pragma unroll
      for (int e = 0; e < pack; ++e)
        x[e] = column + e < from.width ? from.data.data()[row * from.width + column + e] : 0.0f;
      put(at, x);
    }
#else
    unsupported_architecture(team, unit, memory);
#endif
  }

#if __CUDA_ARCH__ >= 800
private:
  __device__ __forceinline__ void put(size_t at, const float (&x)[pack]) const {
    alignas(16) E y[pack];
#pragma unroll
    for (int e = 0; e < pack; ++e) y[e] = fragments::rounded<E>(x[e]);
    reinterpret_cast<uint4 *>(to)[at] = *reinterpret_cast<const uint4 *>(y);
  }
#endif
};
template <class Op> using Operand = DeviceRows<const fragments::Element<Op>>;
template <class Op> Operand<Op> operand(const std::string &label, const Call<float> &call, const Rows<float> &rows) {
  using E = fragments::Element<Op>;
  constexpr int pack = 16 / sizeof(E);
  if constexpr (std::is_same_v<E, float>)
    if (rows.width % pack == 0 && std::uintptr_t(rows.data.data()) % 16 == 0)
      return {rows.data.data(), rows.count, rows.width};
  const int width = (rows.width + pack - 1) / pack * pack;
  const size_t size = rows.data.extent(0) / rows.width * width, packs = size / pack;
  E *const to = reinterpret_cast<E *>(allocate(call, (size * sizeof(E) + sizeof(float) - 1) / sizeof(float)).data());
  using Convert = ConvertRows<E>;
  const size_t of_unit = size_t(Convert::threads) * Convert::each;
  run<float>({label + "::operands", (packs + of_unit - 1) / of_unit}, *call.arena, 0, Convert{rows, to, width, packs});
  return {to, rows.count, width};
}
template <class Op> struct Operands { Operand<Op> q, k, v; };
template <class Op, class Kernel>
Operands<Op> operands(const std::string &label, const Call<float> &call, const OnlineSoftmax<float, Kernel> &loop) {
  return {operand<Op>(label, call, loop.queries), operand<Op>(label, call, loop.keys),
          operand<Op>(label, call, loop.values)};
}

template <class Kernel> using TableOf = std::conditional_t<std::is_same_v<Kernel, Softmax>, AllExtents, FewExtents>;
/// Whether a kernel is compiled for these widths.
template <class Kernel> bool has_extents(const OnlineSoftmax<float, Kernel> &loop) {
  return !is_costly<Kernel> && !has_sink<float>(loop.kernel) && loop.queries.width <= 256 && loop.values.width <= 256 &&
         Execution().cuda_device_prop().major >= 8;
}

/// Whether to use the kernel for Hopper's warpgroups. Each warpgroup takes 64 rows; shorter sequences would not fill
/// one.
inline bool fills_warpgroups(int rows) { return Execution().cuda_device_prop().major == 9 && rows >= 64; }

/// Reads all keys for every query, then calls `finish`.
template <class Op, class Kernel, class Finish>
void forward(const std::string &label, const CallSettings &call, const Kernel &kernel, CausalMask mask,
             const Operands<Op> &in, const Finish &finish) {
  const int heads = int(call.shape.heads());
#ifdef RECOLLECT_WARPGROUPS // in files with code for sm_90a (CMakeLists.txt)
  if constexpr (fragments::is_narrow<Op>)
    if (fills_warpgroups(in.q.count) && HopperExtents::find(in.q.width, in.v.width, [&](auto extents) {
          using Fit = decltype(extents);
          start(
              label, call,
              ForwardHopper<Op, Fit::Dk, Fit::Dv, Kernel, Finish>({in.q, in.k, in.v, heads, 1, mask, kernel, finish}));
        }))
      return;
#endif
  TableOf<Kernel>::find(in.q.width, in.v.width, [&](auto extents) {
    using Fit = decltype(extents);
    start(label, call,
          Forward<Op, Fit::Dk, Fit::Dv, Kernel, Finish>{{in.q, in.k, in.v, heads, 1, mask, kernel, finish}});
  });
}

/// Device arrays to which dq, dk and dv are written.
template <class Out> struct GradientRows { DeviceRows<Out> q, k, v; };

/// Computes dq, dk and dv from do and the queries' softmax statistics.
template <class Op, class Kernel, class Out>
void backward(const std::string &label, const CallSettings &call, const Kernel &kernel, CausalMask mask,
              const Operands<Op> &in, const Operand<Op> &d_o, const Statistics &statistics,
              const GradientRows<Out> &d) {
  const int heads = int(call.shape.heads());
  constexpr std::integral_constant<Of, Of::queries> queries;
  constexpr std::integral_constant<Of, Of::keys_and_values> keys_and_values;
#ifdef RECOLLECT_WARPGROUPS
  if constexpr (fragments::is_narrow<Op> && is_proportional<Kernel>)
    if (fills_warpgroups(in.q.count) && HopperGradientExtents::find(in.q.width, in.v.width, [&](auto extents) {
          using Fit = decltype(extents);
          const auto start_of = [&](const char *name, auto of, const DeviceRows<Out> &d_logits) {
            start(label + name, call,
                  BackwardHopper<Op, Fit::Dk, Fit::Dv, Kernel, Out, of>(
                      {in.q, in.k, in.v, d_o, statistics, d_logits, d.v, heads, 1, mask, kernel}));
          };
          start_of("::queries", queries, d.q);
          start_of("::keys", keys_and_values, d.k);
        }))
      return;
#endif
  TableOf<Kernel>::find(in.q.width, in.v.width, [&](auto extents) {
    using Fit = decltype(extents);
    const auto start_of = [&](const char *name, auto of, const DeviceRows<Out> &d_logits) {
      start(label + name, call,
            Backward<Op, Fit::Dk, Fit::Dv, Kernel, Out, of>{
                {in.q, in.k, in.v, d_o, statistics, d_logits, d.v, heads, 1, mask, kernel}});
    };
    start_of("::queries", queries, d.q);
    if constexpr (keys_with_values<Fit::Dk, Fit::Dv>) {
      start_of("::keys", keys_and_values, d.k);
    } else {
      start_of("::keys", std::integral_constant<Of, Of::keys>(), d.k);
      start_of("::values", std::integral_constant<Of, Of::values>(), d.k);
    }
  });
}

/// Calls visit(operand type): Bf16 if the call allows bf16, else Exact, even if the call allows TF32.
template <class Visit> void with_products(const Call<float> &call, const Visit &visit) {
  call.math == Math::bf16 ? visit(fragments::Bf16()) : visit(fragments::Exact());
}

/// Each use of these macros is compiled as a separate source file (cmake/instances.cmake).
#define RECOLLECT_ATTENTION(prefix, Op, Kernel, Finish)                                                                \
  prefix template void forward<fragments::Op, Kernel, Finish>(const std::string &, const CallSettings &,               \
                                                              const Kernel &, CausalMask,                              \
                                                              const Operands<fragments::Op> &, const Finish &);
#define RECOLLECT_ATTENTION_BACK(prefix, Op, Kernel, Out)                                                              \
  prefix template void backward<fragments::Op, Kernel, Out>(                                                           \
      const std::string &, const CallSettings &, const Kernel &, CausalMask, const Operands<fragments::Op> &,          \
      const Operand<fragments::Op> &, const Statistics &, const GradientRows<Out> &);
RECOLLECT_ATTENTION(extern, Exact, Softmax, WriteOutput<float>)
RECOLLECT_ATTENTION(extern, Exact, Softmax, LeaveStatistics<float>)
RECOLLECT_ATTENTION(extern, Bf16, Softmax, WriteOutput<float>)
RECOLLECT_ATTENTION(extern, Bf16, Softmax, LeaveStatistics<float>)
RECOLLECT_ATTENTION(extern, Bf16, Softmax, WriteOutput<__nv_bfloat16>)
RECOLLECT_ATTENTION(extern, Bf16, Softmax, LeaveStatistics<__nv_bfloat16>)
RECOLLECT_ATTENTION(extern, F16, Softmax, WriteOutput<__half>)
RECOLLECT_ATTENTION(extern, F16, Softmax, LeaveStatistics<__half>)
RECOLLECT_ATTENTION_BACK(extern, Exact, Softmax, float)
RECOLLECT_ATTENTION_BACK(extern, Bf16, Softmax, float)
RECOLLECT_ATTENTION_BACK(extern, Bf16, Softmax, __nv_bfloat16)
RECOLLECT_ATTENTION_BACK(extern, F16, Softmax, __half)
RECOLLECT_ATTENTION(extern, Exact, ChosenKernel<float>, WriteOutput<float>)
RECOLLECT_ATTENTION(extern, Bf16, ChosenKernel<float>, WriteOutput<float>)
RECOLLECT_ATTENTION_BACK(extern, Exact, ChosenKernel<float>, float)
RECOLLECT_ATTENTION_BACK(extern, Bf16, ChosenKernel<float>, float)

} // namespace recollect::variants::attention
#endif
