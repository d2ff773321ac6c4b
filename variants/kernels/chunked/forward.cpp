// SPDX-License-Identifier: Apache-2.0
#include "variants/kernels/chunked/forward.hpp"
#ifdef __CUDACC__
#include "variants/kernels/chunked/call_inputs.hpp"
#include "variants/kernels/chunked/instances.hpp"
#include "variants/kernels/chunked/normaliser.hpp"
#include "variants/kernels/chunked/padded_rows.hpp"
#include "variants/kernels/chunked/stored.hpp"
#endif

namespace recollect::variants {

#ifdef __CUDACC__
namespace {
using chunked::Inputs, chunked::inputs_of, chunked::Segments, fragments::Element;

constexpr int few_steps = 16; // for T up to this, the recurrence by steps is faster: it moves the state once

bool has_extents(int keys) {
  return keys <= 256 &&
         has_memory((keys <= 64 ? 136 : 224) * 1024); // shared memory of the largest stage of these extents
}

/// The arrays and options that decide which stages a call runs.
struct Rule {
  bool erases;
  const float *lambda = nullptr, *bonus = nullptr; // [B,H,T,Dk]; null: none
  bool normalised = false;                         // o has padded rows of sums and weights (normaliser.hpp)
  /// Number of elements that stages save per chunk.
  size_t kept(size_t K, size_t V) const {
    constexpr size_t C = chunked::chunk;
    return V * K + (erases ? C * (K + V) : lambda ? C * (2 * K + C) + 2 * K : 0);
  }
};

const float *of(const Array<float> &array) { return array.extent(0) ? array.data() : nullptr; }

template <class Stored> Segments segments_of(const Inputs<Stored> &in, const Rule &rule) {
  if (rule.erases) return {};
  return chunked::segments_of(in, rule.lambda, Execution().cuda_device_prop().multiProcessorCount);
}
/// Whether the states of a decayed sum stay on the chip, so that nothing is saved.
template <class Op, class Stored> bool keeps_states(const Inputs<Stored> &in, const Rule &rule) {
  return !rule.erases && !rule.lambda && chunked::keeps_states<Op>(in, segments_of(in, rule));
}

/// Processes a window of the sequence for all heads. The window has as many steps as fit into memory together with the
/// arrays that stages save.
template <class Op, class Stored>
void run_window(const std::string &label, const CallSettings &call, const Inputs<Stored> &in, const Rule &rule,
                Stored *o, float *end) {
  using E = Element<Op>;
  const auto take = [&](size_t n) { return call.arena->template take<E>(n).data(); };
  const auto stage = [&](const char *name, const auto &start) { launching::shown(label + "::" + name, start); };
  const cudaStream_t stream = queue().cuda_stream();
  const size_t chunks = in.chunks(), K = in.kept_keys(), V = in.kept_values();
  Segments segments = segments_of(in, rule);
  place_segments(in, segments, call.arena->template take<float>(scratch_of_segments(in, segments)).data());
  if constexpr (std::is_same<Stored, E>::value && fragments::is_narrow<Op>)
    if (keeps_states<Op>(in, rule))
      return stage("sum_outputs", [&] { chunked::sum_outputs<Op>(in, o, end, stream, segments); });
  const E *const none = nullptr;
  E *const states = take(chunks * V * K), *const unwanted = nullptr;
  if (rule.erases) {
    E *const W = take(chunks * chunked::chunk * K), *const U = take(chunks * chunked::chunk * V);
    stage("chunk_local", [&] { chunked::chunk_local<Op>(in, static_cast<E *>(nullptr), W, U, stream); });
    stage("state_passing", [&] { chunked::pass_states<Op, true>(in, W, U, states, U, end, stream, {}); });
    stage("chunk_output", [&] { chunked::output_chunks<Op, true>(in, states, U, o, stream); });
  } else if (rule.lambda) {
    chunked::Channels<Op> channels{rule.lambda, rule.bonus};
    channels.q = take(chunks * chunked::chunk * K), channels.k = take(chunks * chunked::chunk * K);
    channels.scores = take(chunks * chunked::chunk * chunked::chunk);
    channels.total = call.arena->template take<float>(chunks * K).data();
    stage("channel_local", [&] { chunked::channel_local<Op>(in, channels, stream); });
    stage("state_passing", [&] {
      chunked::pass_states<Op, false, true>(in, none, none, states, unwanted, end, stream, segments, channels);
    });
    stage("chunk_output", [&] { chunked::output_chunks<Op, false, true>(in, states, none, o, stream, channels); });
  } else {
    stage("state_passing",
          [&] { chunked::pass_states<Op, false>(in, none, none, states, unwanted, end, stream, segments); });
    stage("chunk_output", [&] { chunked::output_chunks<Op, false>(in, states, none, o, stream); });
  }
}

/// Runs the call if it has at most few_steps steps; else returns false.
template <class Stored>
bool runs_few_steps(const std::string &label, const CallSettings &call, const Inputs<Stored> &in, const Rule &rule,
                    Stored *o, float *state) {
  using chunked::StepRule;
  if (in.T > few_steps) return false;
  const StepRule which = rule.erases ? StepRule::erases : rule.lambda ? StepRule::channels : StepRule::sum;
  launching::shown(label + "::steps", [&] {
    run_steps(in, which, rule.lambda, rule.bonus, o, call.stateless ? nullptr : state, queue().cuda_stream());
  });
  return true;
}

template <class Op, class Stored>
void run_windows(const std::string &label, const CallSettings &call, const Inputs<Stored> &given, Rule rule,
                 Stored *given_o, float *given_state) {
  chunked::PaddedRows rows(*call.arena, given.Dk, given.Dv, sizeof(Stored), rule.normalised);
  Inputs<Stored> in = in_padded_rows(given, rows);
  const size_t steps = call.steps();
  Stored *const o = rule.normalised ? given_o : rows.values_of_result(given_o, steps);
  float *const state = rows.states(given_state, size_t(given.texts()) * given.H, given.state_stride, !call.stateless);
  if (given.start) in.start = state;
  rule.lambda = rows.keys(rule.lambda, steps), rule.bonus = rows.keys(rule.bonus, steps);
  rows.read(label);
  if (rule.normalised && runs_few_steps(label, call, in, rule, o, state)) return rows.write(label);
  constexpr size_t budget = size_t(1) << 31, least = 64; // budget: bytes of saved arrays; least: chunks per window
  const size_t bytes = rule.kept(in.kept_keys(), in.kept_values()) * sizeof(Element<Op>);
  const size_t chunks = in.packed || keeps_states<Op>(in, rule) // packed texts have one window
                            ? in.chunks_of_text()
                            : std::max(least, budget / (call.shape.heads() * bytes));
  const int T = in.T, most = int(std::min<size_t>(chunks, in.chunks_of_text()) * chunked::chunk);
  float *const end = call.stateless && most >= T ? nullptr : state;
  const size_t mark = call.arena->mark();
  in.head_steps = T;
  for (; in.first_step < T; in.first_step += most) {
    in.T = std::min(most, T - in.first_step);
    run_window<Op>(label, call, in, rule, o, end);
    in.start = end;            // start of the next window
    call.arena->release(mark); // kernels run in order, so the next window may reuse the memory
  }
  rows.write(label);
}

void run_stages(const std::string &label, const Call<float> &call, const Inputs<float> &in, const Rule &rule,
                float *o) {
  float *const state = call.state.data();
  if (!rule.normalised && runs_few_steps(label, call, in, rule, o, state)) return;
  chunked::with_products(call.math, [&](auto op) { run_windows<decltype(op)>(label, call, in, rule, o, state); });
}
} // namespace

bool run_static(const std::string &label, const Call<float> &call, const GatedRecurrence<float> &sum,
                const Array<float> &weights) {
  if (!has_extents(sum.width) || !in_static_chunks(call)) return false;
  Inputs<float> in = inputs_of<float>(call, sum.width);
  in.q = sum.q.data(), in.k = sum.k.data();
  in.alpha = of(sum.alpha), in.write = of(sum.strength), in.scale = sum.scale;
  const int width = chunked::padded_width(call.shape.Dv + 1, sizeof(float));
  const Array<float> o = sum.normalised ? call.arena->take<float>(call.steps() * width) : call.o;
  run_stages(label, call, in, {false, of(sum.lambda), of(sum.bonus), sum.normalised}, o.data());
  if (sum.normalised) divide(call, o, width, sum.floor, weights);
  return true;
}

bool run_static(const std::string &label, const Call<float> &call, const DeltaRule<float> &rule) {
  if (!has_extents(call.shape.Dk) || !in_static_chunks(call) || rule.steps != 1 || rule.lambda.extent(0) ||
      rule.keys.extent(0) || rule.r.data() != rule.p.data())
    return false;
  Inputs<float> in = inputs_of<float>(call, call.shape.Dk);
  in.q = call.q.data(), in.k = rule.p.data();
  in.alpha = of(rule.alpha), in.erase = of(rule.erase), in.write = of(rule.write);
  run_stages(label, call, in, {true}, call.o.data());
  return true;
}

bool takes_16_bits(const Shape &shape, const Params &) { return has_extents(shape.Dk); }

template <class Stored>
void run_16_bits(const std::string &label, const Call<float, Stored> &call, const StoredRule &rule) {
  using Number = typename CudaNumber<Stored>::type;
  using Op = typename CudaNumber<Stored>::Op;
  Inputs<Number> in = inputs_of<Number>(call, call.shape.Dk);
  in.q = reinterpret_cast<const Number *>(call.q.data()), in.k = reinterpret_cast<const Number *>(call.k.data());
  in.alpha = of(rule.alpha), in.erase = of(rule.erase), in.write = of(rule.write), in.scale = rule.scale;
  const Rule stages{rule.erases, of(rule.lambda), of(rule.bonus)};
  Number *const o = reinterpret_cast<Number *>(call.o.data());
  if (!runs_few_steps(label, call, in, stages, o, call.state.data()))
    run_windows<Op>(label, call, in, stages, o, call.state.data());
}
template void run_16_bits(const std::string &, const Call<float, BFloat16> &, const StoredRule &);
template void run_16_bits(const std::string &, const Call<float, Float16> &, const StoredRule &);
#else
bool run_static(const std::string &, const Call<float> &, const GatedRecurrence<float> &, const Array<float> &) {
  return false;
}
bool run_static(const std::string &, const Call<float> &, const DeltaRule<float> &) { return false; }
#endif

} // namespace recollect::variants
