// SPDX-License-Identifier: Apache-2.0
#include "variants/kernels/chunked/backward.hpp"
#ifdef __CUDACC__
#include "variants/kernels/chunked/gradient_instances.hpp"
#include "variants/kernels/chunked/stored.hpp"
#endif

namespace recollect::variants {

#ifdef __CUDACC__
namespace {
using chunked::Gradients, fragments::Element;

bool has_extents(int keys, int values) {
  const cudaDeviceProp &device = Execution().cuda_device_prop();
  constexpr size_t shared = 224 * 1024; // bytes; the largest stage needs this much
  return device.major >= 8 && device.sharedMemPerBlockOptin >= shared && std::max(keys, values) <= 256;
}
bool serves(const Call<float> &call, int keys) {
  return has_extents(keys, call.shape.Dv) && call.schedule != Schedule::streaming &&
         call.chunk == std::min(chunked::chunk, call.shape.T);
}

float *of(const Array<float> &array) { return array.extent(0) ? array.data() : nullptr; }

/// Fields that every rule needs, except queries, keys, gates and their gradients.
template <class Number, class Stored>
Gradients<Number> gradients_of(const BackwardCall<float, Stored> &back, int keys) {
  const Call<float, Stored> &call = back.call;
  Gradients<Number> g;
  g.in.B = call.shape.B, g.in.H = g.in.key_heads = call.shape.H, g.in.T = call.shape.T;
  g.in.Dk = keys, g.in.Dv = call.shape.Dv, g.in.v = reinterpret_cast<const Number *>(call.v.data());
  g.in.start = call.stateless ? nullptr : call.state.data(), g.in.state_stride = call.state_shape.size();
  g.d_o = reinterpret_cast<const Number *>(back.d.o.data()), g.d_v = reinterpret_cast<Number *>(back.d.v.data());
  g.d_state = call.stateless ? nullptr : back.d.state.data();
  return g;
}

template <class Op, bool erases, class Stored>
void run(const std::string &label, const CallSettings &call, const Gradients<Stored> &given) {
  const size_t heads = call.shape.heads(), steps = call.steps(), apart = given.in.state_stride;
  chunked::PaddedRows rows(*call.arena, given.in.Dk, given.in.Dv, sizeof(Stored));
  Gradients<Stored> g = given;
  g.in = given.in.padded(rows);
  g.in.start = rows.states(given.in.start, heads, apart, false), g.d_state = rows.states(g.d_state, heads, apart, true);
  g.d_o = rows.values(g.d_o, steps), g.d_v = rows.values_of_result(g.d_v, steps);
  g.d_q = rows.keys_of_result(g.d_q, steps), g.d_k = rows.keys_of_result(g.d_k, steps);
  rows.read(label);
  Element<Op> *const scratch = call.arena->take<Element<Op>>(chunked::backward_scratch(g.in, erases)).data();
  chunked::Segments segments;
  if (!erases) segments = segments_of(g.in, false, Execution().cuda_device_prop().multiProcessorCount);
  place_segments(g.in, segments, call.arena->take<float>(scratch_of_segments(g.in, segments)).data());
  launching::shown(label,
                   [&] { chunked::recurrence_gradients<Op, erases>(g, scratch, queue().cuda_stream(), segments); });
  rows.write(label);
}
template <bool erases> void run(const std::string &label, const Call<float> &call, const Gradients<float> &g) {
  switch (call.math) {
  case Math::exact:
    return run<fragments::Exact, erases>(label, call, g);
  case Math::tf32:
    return run<fragments::Tf32, erases>(label, call, g);
  case Math::bf16:
    return run<fragments::Bf16, erases>(label, call, g);
  }
}
} // namespace

bool run_static(const std::string &label, const BackwardCall<float> &back, const DecayedSum<float> &in,
                const DecayedSumGradient<float> &d) {
  if (!serves(back.call, in.width) || in.lambda.extent(0) || in.bonus.extent(0) || in.normalised) return false;
  Gradients<float> g = gradients_of<float>(back, in.width);
  g.in.q = in.q.data(), g.in.k = in.k.data(), g.in.scale = in.scale;
  g.in.alpha = of(in.alpha), g.in.write = of(in.strength);
  g.d_q = d.q.data(), g.d_k = d.k.data(), g.d_alpha = of(d.alpha), g.d_write = of(d.strength);
  run<false>(label, back.call, g);
  return true;
}

bool run_static(const std::string &label, const BackwardCall<float> &back, const DeltaRule<float> &in,
                const DeltaRuleGradient<float> &d) {
  const int keys = back.call.shape.Dk;
  if (!serves(back.call, keys) || in.steps != 1 || in.lambda.extent(0) || in.keys.extent(0) ||
      in.r.data() != in.p.data() || d.r.extent(0))
    return false;
  Gradients<float> g = gradients_of<float>(back, keys);
  g.in.q = back.call.q.data(), g.in.k = in.p.data();
  g.in.alpha = of(in.alpha), g.in.erase = of(in.erase), g.in.write = of(in.write);
  g.d_q = d.q.data(), g.d_k = d.p.data();
  g.d_alpha = of(d.alpha), g.d_erase = of(d.erase), g.d_write = of(d.write);
  run<true>(label, back.call, g);
  return true;
}

bool takes_16_bits_back(const Shape &shape, const Params &) { return has_extents(shape.Dk, shape.Dv); }

template <class Stored>
void run_16_bits(const std::string &label, const BackwardCall<float, Stored> &back, const StoredRule &rule,
                 const StoredGradient &d) {
  using Number = typename CudaNumber<Stored>::type;
  using Op = typename CudaNumber<Stored>::Op;
  Gradients<Number> g = gradients_of<Number>(back, back.call.shape.Dk);
  g.in.q = reinterpret_cast<const Number *>(back.call.q.data());
  g.in.k = reinterpret_cast<const Number *>(back.call.k.data());
  g.in.alpha = of(rule.alpha), g.in.erase = of(rule.erase), g.in.write = of(rule.write), g.in.scale = rule.scale;
  g.d_q = reinterpret_cast<Number *>(back.d.q.data()), g.d_k = reinterpret_cast<Number *>(back.d.k.data());
  g.d_alpha = of(d.alpha), g.d_erase = of(d.erase), g.d_write = of(d.write);
  rule.erases ? run<Op, true>(label, back.call, g) : run<Op, false>(label, back.call, g);
}
template void run_16_bits(const std::string &, const BackwardCall<float, BFloat16> &, const StoredRule &,
                          const StoredGradient &);
template void run_16_bits(const std::string &, const BackwardCall<float, Float16> &, const StoredRule &,
                          const StoredGradient &);
#else
bool run_static(const std::string &, const BackwardCall<float> &, const DecayedSum<float> &,
                const DecayedSumGradient<float> &) {
  return false;
}
bool run_static(const std::string &, const BackwardCall<float> &, const DeltaRule<float> &,
                const DeltaRuleGradient<float> &) {
  return false;
}
#endif

} // namespace recollect::variants
