// SPDX-License-Identifier: Apache-2.0
#include "variants/kernels/chunked/backward.hpp"
#include "variants/kernels/chunked/forward.hpp"
#ifdef __CUDACC__
#include "variants/kernels/chunked/both_gates.hpp"
#include "variants/kernels/chunked/call_inputs.hpp"
#include "variants/kernels/chunked/gradient_instances.hpp"
#include "variants/kernels/chunked/normaliser.hpp"
#include "variants/kernels/chunked/padded_rows.hpp"
#include "variants/kernels/chunked/stored.hpp"
#endif

namespace recollect::variants {

#ifdef __CUDACC__
namespace {
using chunked::Gradients, chunked::Inputs, fragments::Element;

bool has_extents(int keys, int values) {
  return std::max(keys, values) <= 256 && has_memory(224 * 1024); // shared memory of the largest stage
}

float *of(const Array<float> &array) { return array.extent(0) ? array.data() : nullptr; }

/// Sets the fields that every rule needs. The caller sets queries, keys, gates and their gradients.
template <class Number, class Stored>
Gradients<Number> gradients_of(const BackwardCall<float, Stored> &back, int keys) {
  const Call<float, Stored> &call = back.call;
  Gradients<Number> g;
  g.in = chunked::inputs_of<Number>(call, keys);
  g.d_o = reinterpret_cast<const Number *>(back.d.o.data()), g.d_v = reinterpret_cast<Number *>(back.d.v.data());
  g.d_state = call.stateless ? nullptr : back.d.state.data();
  return g;
}

/// Returns `g` with all arrays in padded rows. The output gradient of a normalised sum already has padded rows
/// (differentiate_division).
template <class Stored>
Gradients<Stored> in_padded_rows(const CallSettings &call, Gradients<Stored> g, chunked::PaddedRows &rows) {
  const size_t heads = size_t(g.in.texts()) * g.in.H, steps = call.steps(), apart = g.in.state_stride,
               key_steps = size_t(g.in.B) * g.in.key_heads * g.in.T;
  const float *const start = g.in.start;
  g.in = in_padded_rows(g.in, rows);
  g.in.start = rows.states(start, heads, apart, false), g.d_state = rows.states(g.d_state, heads, apart, true);
  if (!rows.normalised()) g.d_o = rows.values(g.d_o, steps);
  g.d_v = rows.values_of_result(g.d_v, steps);
  g.d_q = rows.keys_of_result(g.d_q, key_steps), g.d_k = rows.keys_of_result(g.d_k, key_steps);
  g.terms = call.arena->take<Stored>(scratch_of_groups(g.in)).data();
  return g;
}

template <class Stored> chunked::Segments segments(const CallSettings &call, const Inputs<Stored> &in, bool channels) {
  chunked::Segments all = segments_of(in, channels, Execution().cuda_device_prop().multiProcessorCount);
  place_segments(in, all, call.arena->take<float>(scratch_of_segments(in, all)).data());
  return all;
}

template <class Op, bool erases, class Stored>
void run(const std::string &label, const CallSettings &call, const Gradients<Stored> &given, bool normalised = false) {
  chunked::PaddedRows rows(*call.arena, given.in.Dk, given.in.Dv, sizeof(Stored), normalised);
  const Gradients<Stored> g = in_padded_rows(call, given, rows);
  rows.read(label);
  Element<Op> *const scratch = call.arena->take<Element<Op>>(chunked::backward_scratch(g.in, erases)).data();
  const chunked::Segments parts = erases ? chunked::Segments() : segments(call, g.in, false);
  launching::shown(label, [&] { chunked::recurrence_gradients<Op, erases>(g, scratch, queue().cuda_stream(), parts); });
  rows.write(label);
}

/// Channel decays and bonuses [B,H,T,Dk], and where to write their gradients. A null bonus means none; a null gradient
/// is not computed.
struct ChannelGates {
  const float *lambda, *bonus;
  float *d_lambda, *d_bonus;
};
template <class Op, class Stored>
void run_channels(const std::string &label, const CallSettings &call, const Gradients<Stored> &given,
                  const ChannelGates &gates, bool normalised = false) {
  const size_t steps = call.steps();
  chunked::PaddedRows rows(*call.arena, given.in.Dk, given.in.Dv, sizeof(Stored), normalised);
  chunked::ChannelAdjoint<Op, Stored> a;
  static_cast<Gradients<Stored> &>(a) = in_padded_rows(call, given, rows);
  a.channels.lambda = rows.keys(gates.lambda, steps), a.channels.bonus = rows.keys(gates.bonus, steps);
  a.d_lambda = rows.keys_of_result(gates.d_lambda, steps), a.d_bonus = rows.keys_of_result(gates.d_bonus, steps);
  rows.read(label);
  Element<Op> *const scratch = call.arena->take<Element<Op>>(chunked::channel_scratch(a.in)).data();
  float *const decays = call.arena->take<float>(chunked::channel_decays_scratch(a.in)).data();
  const chunked::Segments parts = segments(call, a.in, true);
  launching::shown(label, [&] { chunked::channel_gradients<Op>(a, scratch, decays, queue().cuda_stream(), parts); });
  rows.write(label);
}

/// For a normalised sum: runs a forward pass, and returns the gradients of the sums and of the weights, in padded rows.
Array<float> through_division(const std::string &label, const BackwardCall<float> &back,
                              const GatedRecurrence<float> &in, const GatedRecurrenceGradient<float> &d) {
  Call<float> call = back.call;
  const int width = chunked::padded_width(call.shape.Dv + 1, sizeof(float));
  const Array<float> weights = call.arena->take<float>(call.steps()),
                     d_sum = call.arena->take<float>(call.steps() * width);
  // a copy, because the forward pass overwrites the state
  call.state = call.arena->take<float>(back.call.state.extent(0));
  copy(call.state, back.call.state);
  run_static(label + "::outputs", call, in, weights);
  differentiate_division(back, in.floor, d.floor, weights, d_sum, width);
  return d_sum;
}
} // namespace

bool run_static(const std::string &label, const BackwardCall<float> &back, const GatedRecurrence<float> &in,
                const GatedRecurrenceGradient<float> &d) {
  const bool channels = in.lambda.extent(0);
  if (!has_extents(in.width, back.call.shape.Dv + in.normalised) || !in_static_chunks(back.call) ||
      (channels && (in.alpha.extent(0) || in.strength.extent(0))))
    return false;
  Gradients<float> g = gradients_of<float>(back, in.width);
  g.in.q = in.q.data(), g.in.k = in.k.data(), g.in.scale = in.scale;
  g.in.alpha = of(in.alpha), g.in.write = of(in.strength);
  g.d_q = d.q.data(), g.d_k = d.k.data(), g.d_alpha = of(d.alpha), g.d_write = of(d.strength);
  if (in.normalised) g.d_o = through_division(label, back, in, d).data();
  const ChannelGates gates{of(in.lambda), of(in.bonus), of(d.lambda), of(d.bonus)};
  chunked::with_products(back.call.math, [&](auto op) {
    if (channels)
      run_channels<decltype(op)>(label, back.call, g, gates, in.normalised);
    else
      run<decltype(op), false>(label, back.call, g, in.normalised);
  });
  return true;
}

bool run_static(const std::string &label, const BackwardCall<float> &back, const DeltaRule<float> &in,
                const DeltaRuleGradient<float> &d) {
  const int keys = back.call.shape.Dk;
  if (!has_extents(keys, back.call.shape.Dv) || !in_static_chunks(back.call) || in.steps != 1 || in.lambda.extent(0) ||
      in.keys.extent(0) || in.r.data() != in.p.data() || d.r.extent(0))
    return false;
  Gradients<float> g = gradients_of<float>(back, keys);
  g.in.q = back.call.q.data(), g.in.k = in.p.data();
  g.in.alpha = of(in.alpha), g.in.erase = of(in.erase), g.in.write = of(in.write);
  g.d_q = d.q.data(), g.d_k = d.p.data();
  g.d_alpha = of(d.alpha), g.d_erase = of(d.erase), g.d_write = of(d.write);
  chunked::with_products(back.call.math, [&](auto op) { run<decltype(op), true>(label, back.call, g); });
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
  if (rule.lambda.extent(0)) {
    const BothGates<float> both(*back.call.arena, rule.alpha, rule.lambda, d.alpha, d.lambda, back.call.shape.Dk);
    g.in.alpha = nullptr, g.d_alpha = nullptr;
    run_channels<Op>(label, back.call, g, {both.lambda.data(), of(rule.bonus), both.d_lambda.data(), of(d.bonus)});
    both.differentiate();
  } else if (rule.erases) {
    run<Op, true>(label, back.call, g);
  } else {
    run<Op, false>(label, back.call, g);
  }
}
template void run_16_bits(const std::string &, const BackwardCall<float, BFloat16> &, const StoredRule &,
                          const StoredGradient &);
template void run_16_bits(const std::string &, const BackwardCall<float, Float16> &, const StoredRule &,
                          const StoredGradient &);
#else
bool run_static(const std::string &, const BackwardCall<float> &, const GatedRecurrence<float> &,
                const GatedRecurrenceGradient<float> &) {
  return false;
}
bool run_static(const std::string &, const BackwardCall<float> &, const DeltaRule<float> &,
                const DeltaRuleGradient<float> &) {
  return false;
}
#endif

} // namespace recollect::variants
