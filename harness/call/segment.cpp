// SPDX-License-Identifier: Apache-2.0
#include "harness/call/segment.hpp"
#include "harness/call/conditioning.hpp"
#include "harness/call/make_call.hpp"
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/device/tile/tile.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/linalg.hpp"

namespace recollect {
namespace {

/// The initial state from which a segment computes its map [B; A] (segment.hpp): for each head, n rows of zeros for the
/// value channels, and below them the m x m identity.
std::vector<double> map_start(size_t heads, int n, int m) {
  std::vector<double> state;
  for (size_t head = 0; head < heads; ++head) {
    state.insert(state.end(), size_t(n) * size_t(m), 0.0);
    const std::vector<double> one = Dense::identity(m).data;
    state.insert(state.end(), one.begin(), one.end());
  }
  return state;
}

/// Appends m columns of zeros to the values of the call. Frees arrays as early as possible, because a long sequence may
/// leave no memory for copies.
template <class Real> void widen(const Variant &variant, const Params &params, Call<Real> &call, int m) {
  const Array<Real> v = call.v;
  const int n = call.shape.Dv, width = n + m;
  const size_t steps = call.steps();
  call.shape.Dv = width;
  call.state_shape = variant.state_shape(call.shape, params);
  call.v = call.o = Array<Real>(); // frees o first, to make space
  call.v = allocated<Real>("v", steps * width);
  const Array<Real> wide = call.v;
  parallel_loop(
      "widen", steps * width, KOKKOS_LAMBDA(const size_t i) {
        const size_t row = i / width, column = i % width;
        wide(i) = column < size_t(n) ? v(row * n + column) : Real(0);
      });
  Kokkos::fence();
  call.o = allocated<Real>("o", steps * width);
}

/// Applies an initial state S [n,m] to the outputs of a head: o[:, :n] += o[:, n:] S^T. Each row of o has n + m
/// numbers. One `unit` of work is a block of steps of one head.
template <class Real> struct Respond {
  Array<Real> o, states;
  int T, n, m, block, blocks;
  KOKKOS_FUNCTION void operator()(const Team &team, size_t unit, Real *) const {
    const size_t head = unit / blocks;
    const int first = int(unit % blocks) * block, steps = T - first < block ? T - first : block;
    Real *out = o.data() + (head * T + first) * (n + m);
    tile::gemm(team, steps, n, m, Real(1), tile::rows<Real>(out + n, n + m),
               tile::transposed<Real>(states.data() + head * n * m, m), Real(1), out, n + m);
  }
};

template <class Real>
Segment prepare_typed(const Variant &variant, const Sequence &s, const Run &how, const Params &params,
                      const std::function<void(const Call<Real> &)> &kernel, bool waits) {
  const int n = s.shape.Dv, m = waits ? 0 : variant.state_shape(s.shape, params).columns;
  const size_t heads = s.shape.heads();
  const auto call = std::make_shared<Call<Real>>(make_call<Real>(variant, s, how, params));
  if (!waits) widen(variant, params, *call, m);
  const std::vector<double> start = waits ? initial_state(variant, s, params) : map_start(heads, n, m);
  const Job job = job_of(call, upload<Real>("initial state", start), kernel);
  const auto before = std::make_shared<Rows>(); // the state given to respond()
  Segment segment;
  segment.reset = [=] { before->clear(), job.reset(); };
  segment.launch = job.launch;
  segment.start_from = [=](const Rows &state) { copy(call->state, upload<Real>("state", state)); };
  segment.end = [=] { return download(call->state); };
  segment.respond = [=](const Rows &state) {
    *before = state;
    constexpr int block = 64;
    const int T = call->shape.T, blocks = (T - 1) / block + 1;
    run<Real>({variant.name + "::respond", heads * blocks, 128, call->math}, *call->arena, 0,
              Respond<Real>{call->o, upload<Real>("state", state), T, n, m, block, blocks});
    Kokkos::fence();
  };
  segment.fetch = [=] {
    Output output = job.fetch();
    if (waits) return output;
    output.o = narrowed_rows(output.o, size_t(n), size_t(m));
    output.state = through(before->empty() ? Rows(heads * n * m, 0.0) : *before, output.state, heads, n, m);
    output.state_shape.rows = n;
    return output;
  };
  return segment;
}

} // namespace

std::vector<double> widened_rows(const std::vector<double> &data, size_t n, size_t m) {
  std::vector<double> wide(data.size() / n * (n + m), 0.0);
  for (size_t row = 0; row < data.size() / n; ++row) std::copy_n(&data[row * n], n, &wide[row * (n + m)]);
  return wide;
}

std::vector<double> narrowed_rows(const std::vector<double> &wide, size_t n, size_t m) {
  std::vector<double> data(wide.size() / (n + m) * n);
  for (size_t row = 0; row < wide.size() / (n + m); ++row) std::copy_n(&wide[row * (n + m)], n, &data[row * n]);
  return data;
}

Rows through(const Rows &earlier, const Rows &later, size_t heads, int n, int m) {
  const int rows = int(earlier.size() / (heads * m));
  const auto head = [&](const Rows &all, size_t h, int count, int first, int taken) {
    const auto at = all.begin() + std::ptrdiff_t((h * count + first) * m);
    return Dense(taken, m, Rows(at, at + std::ptrdiff_t(taken) * m));
  };
  Rows result;
  result.reserve(earlier.size());
  for (size_t h = 0; h < heads; ++h) {
    Dense after = head(earlier, h, rows, 0, rows) * head(later, h, n + m, n, m);
    const Dense added = head(later, h, n + m, 0, n);
    for (size_t i = 0; i < added.data.size(); ++i) after.data[i] += added.data[i];
    result.insert(result.end(), after.data.begin(), after.data.end());
  }
  return result;
}

void refuse_cut(Real real) {
  if (bytes_of(real) == 2)
    usage_error(std::string("a sequence that ranks share is stored in f32 or f64, not in ") + name_of(real) +
                ": --dtype f32");
}

Segment prepare_segment(const Variant &variant, const Sequence &sequence, const Run &run, bool waits) {
  const Params params = params_of(variant, run);
  check_inputs(variant, sequence, params);
  const Form &form = find_form(variant, run.form, sequence.shape, params);
  refuse_cut(run.real);
  return run.real == Real::f32 ? prepare_typed<float>(variant, sequence, run, params, form.f32, waits)
                               : prepare_typed<double>(variant, sequence, run, params, form.f64, waits);
}

bool needs_no_state(const Variant &variant, const Sequence &sequence, const Params &params) {
  constexpr int T = 6, cut = 4;
  Shape shape = sequence.shape;
  shape.B = shape.H = 1, shape.T = T;
  const StateShape state = variant.state_shape(shape, params);
  if (state.size() == 0 || state.rows != shape.Dv) return false;
  Shape wide = shape;
  wide.Dv += state.columns;
  const StateShape wide_state = variant.state_shape(wide, params);
  if (wide_state.rows != wide.Dv || wide_state.columns != state.columns) return false;
  if (variant.unsuitable && !variant.unsuitable(wide, params).empty()) return false;
  Sequence probe = random_sequence(shape, 1);
  for (Tensor tensor : all_tensors)
    if (sequence[tensor].empty()) probe[tensor].clear();
  const Run run{"recurrent", Real::f64, 1, params};
  const Output whole = forward(variant, probe, run), first = forward(variant, slice_steps(probe, 0, cut), run);
  const Segment second = prepare_segment(variant, slice_steps(probe, cut, T), run, false);
  second.reset();
  second.launch();
  second.respond(first.state);
  const Output found = second.fetch();
  const auto last = whole.o.begin() + std::ptrdiff_t(cut) * shape.Dv;
  const Output wanted{{last, whole.o.end()}, whole.state, whole.state_shape};
  const double bound = accumulated_terms(shape, 1) * epsilon_of(Real::f64) * input_condition(variant, probe, params);
  return deviation(found, wanted).largest() <= bound; // false for NaN
}

std::vector<double> slice_heads(const std::vector<double> &data, const Shape &shape, size_t first, size_t count) {
  const size_t size = data.size() / shape.heads();
  const auto begin = data.begin() + std::ptrdiff_t(size * first);
  return {begin, begin + std::ptrdiff_t(size * count)};
}

Sequence slice_heads(const Sequence &s, size_t first, size_t count) {
  Sequence part;
  part.shape = s.shape;
  part.shape.B = 1, part.shape.H = int(count);
  for (Tensor tensor : all_tensors) part[tensor] = slice_heads(s[tensor], s.shape, first, count);
  part.state = slice_heads(s.state, s.shape, first, count);
  return part;
}

} // namespace recollect
