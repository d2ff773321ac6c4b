// SPDX-License-Identifier: Apache-2.0
#include "harness/call/forward.hpp"
#include "harness/call/converted.hpp"
#include "harness/call/make_call.hpp"
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/core/text.hpp"
#include "harness/device/backend.hpp"
#include "harness/system/memory.hpp"
#include <algorithm>
#include <cmath>
#include <memory>

namespace recollect {
namespace {

std::string dims(const std::vector<std::string> &letters, const std::vector<int> &sizes) {
  std::vector<std::string> numbers;
  for (int size : sizes) numbers.push_back(std::to_string(size));
  return "[" + join(letters, ",") + "] = [" + join(numbers, ",") + "]";
}

std::vector<std::string> letters_of(Tensor tensor) {
  const TensorFacts::Width width = facts_of(tensor).width;
  if (width == TensorFacts::step) return {"B", "H", "T"};
  return {"B", "H", "T", width == TensorFacts::key ? "Dk" : "Dv"};
}
std::vector<int> sizes_of(const Sequence &s, Tensor tensor) {
  std::vector<int> sizes{s.shape.B, s.shape.H, s.shape.T};
  if (facts_of(tensor).width != TensorFacts::step) sizes.push_back(width_of(tensor, s.shape));
  return sizes;
}
void check_tensor(const Sequence &s, Tensor tensor) {
  check_array(name_of(tensor), s[tensor], letters_of(tensor), sizes_of(s, tensor));
}

template <class Real>
Job prepare_typed(const Variant &variant, const Sequence &s, const Run &run, const Params &params,
                  const Packing &packing, const std::function<void(const Call<Real> &)> &kernel) {
  const auto call = std::make_shared<Call<Real>>(make_call<Real>(variant, s, run, params, packing));
  return job_of(call, upload<Real>("initial state", initial_states(variant, s, params, packing)), kernel);
}

/// Prepares the form's kernel for arrays of 16 bits or, if it has none, its float32 kernel on converted arrays.
template <class Stored>
Job prepare_stored(const Variant &variant, const Sequence &s, const Run &run, const Params &params,
                   const Packing &packing, const Form &form) {
  const auto call = std::make_shared<Call<float, Stored>>(make_call<float, Stored>(variant, s, run, params, packing));
  const Array<float> start = upload<float>("initial state", initial_states(variant, s, params, packing));
  if (form.native.has(run.real, s.shape, params)) return job_of(call, start, form.native.of<Stored>());
  const auto wide = std::make_shared<Call<float>>(widened(*call));
  Job job = job_of(call, start, converting<Stored>(wide, form.f32));
  job.reset = [reset = job.reset, wide] {
    fill(wide->o, float(std::nan("")));
    reset();
  };
  return job;
}

/// Bytes of the inputs, outputs and states of one pass. A number takes `wide` bytes in gates and states, and `stored`
/// bytes in all other arrays.
std::uint64_t bytes_of_pass(const Variant &variant, const Shape &n, const Params &params, unsigned stored,
                            unsigned wide) {
  const std::uint64_t steps = saturating_product(n.heads(), std::uint64_t(n.T));
  std::uint64_t of_step = (2 * std::uint64_t(n.Dk) + 2 * std::uint64_t(n.Dv)) * stored; // q, k, v, o
  for (const Input &input : variant.inputs)
    of_step += std::uint64_t(width_of(input.tensor(), n)) * (facts_of(input.tensor()).gate() ? wide : stored);
  const std::uint64_t states = 2 * n.heads() * variant.state_shape(n, params).size() * wide;
  return saturating_product(steps, of_step) + states;
}

} // namespace

std::uint64_t memory_needed(const Variant &variant, const Shape &n, const Params &params, Real real) {
  return bytes_of_pass(variant, n, params, sizeof(double) + bytes_of(real), sizeof(double) + bytes_of(wide_of(real)));
}

std::string over_memory(const Variant &variant, const Shape &n, const Params &params, Real real) {
  const std::string why = over_memory(memory_needed(variant, n, params, real));
  if (!why.empty()) return why;
  return over_device_memory(bytes_of_pass(variant, n, params, bytes_of(real), bytes_of(wide_of(real))));
}

void refuse_math(Real real, Math math) {
  if (math != Math::exact && bytes_of(real) == 2)
    usage_error(std::string("--math ") + name_of(math) + " rounds products of float32 arrays, but --dtype " +
                name_of(real) + " stores them in 16 bits; leave one of them out");
}

void require_math(Real real, Math math) {
  refuse_math(real, math);
  if (!has_math(math))
    input_error(std::string("--math ") + name_of(math) +
                " needs an NVIDIA GPU with tensor cores for it, but this run has " + Execution::name());
}

Params variant_params(const Variant &variant, const Assignments &given) {
  return resolve(variant.params, given, variant.name);
}

void check_array(const std::string &name, const std::vector<double> &data, const std::vector<std::string> &letters,
                 const std::vector<int> &sizes) {
  size_t expected = 1;
  for (int size : sizes) expected *= size;
  if (data.size() != expected)
    input_error(name + " has " + std::to_string(data.size()) + " elements, needs " + dims(letters, sizes));
  const auto bad = [&](size_t i) { return !std::isfinite(data[i]); };
  if (const size_t i = first_in_pieces(data.size(), bad, cost_of_copies); i < data.size())
    input_error(name + " has a non-finite value at flat index " + std::to_string(i) + ", needs finite numbers");
}

std::vector<double> initial_state(const Variant &variant, const Sequence &s, const Params &params) {
  if (!s.state.empty()) return s.state;
  const size_t size = variant.state_shape(s.shape, params).size();
  const std::vector<double> one =
      variant.initial_state ? variant.initial_state(s.shape, params) : std::vector<double>(size, 0.0);
  std::vector<double> all;
  all.reserve(size * s.shape.heads());
  for (size_t head = 0; head < s.shape.heads(); ++head) all.insert(all.end(), one.begin(), one.end());
  return all;
}

void check_inputs(const Variant &variant, const Sequence &s, const Params &params, bool any_gate) {
  const Shape &n = s.shape;
  if (std::min({n.B, n.H, n.T, n.Dk, n.Dv}) < 1) input_error("B, H, T, Dk and Dv must be at least 1");
  for (Tensor tensor : {Tensor::q, Tensor::k, Tensor::v}) check_tensor(s, tensor);
  bool any = variant.needs_one_of.empty();
  for (const std::string &name : variant.needs_one_of) any = any || !s.input(name).empty();
  if (!any) input_error(variant.name + " needs " + join(variant.needs_one_of, " or ") + ", but the input has neither");
  for (const Input &input : variant.inputs) {
    const Tensor tensor = input.tensor();
    if (!s[tensor].empty())
      check_tensor(s, tensor);
    else if (input.required)
      input_error(input.name + " is absent, but " + variant.name + " needs it as " +
                  dims(letters_of(tensor), sizes_of(s, tensor)));
    const auto outside = [&](double x) { return input.range == Input::positive ? x <= 0 : x < 0; };
    if (!any_gate && input.range != Input::any)
      for (double x : s[tensor])
        if (outside(x))
          input_error(input.name + " holds " + number(x) + ", but " + variant.name + " needs it " +
                      (input.range == Input::positive ? "above 0" : "at least 0"));
    if (!any_gate && facts_of(tensor).decay)
      for (double x : s[tensor])
        if (x < 0 || x > 1) input_error(input.name + " holds " + number(x) + ", but decay factors are in [0,1]");
  }
  const StateShape state = variant.state_shape(n, params);
  if (!s.state.empty()) {
    if (state.size() == 0) input_error("state is given, but " + variant.name + " has no finite state");
    check_array("state", s.state, {"B", "H", "rows", "columns"}, {n.B, n.H, state.rows, state.columns});
  }
  if (variant.unsuitable) {
    const std::string why = variant.unsuitable(n, params);
    if (!why.empty()) input_error(variant.name + " cannot take this input: " + why);
  }
}

Params params_of(const Variant &variant, const Run &run) {
  return run.params.begin() == run.params.end() ? variant_params(variant) : run.params;
}

Job prepare(const Variant &variant, const Sequence &sequence, const Run &run) {
  check_inputs(variant, sequence, params_of(variant, run), run.any_gate);
  return prepare_unchecked(variant, sequence, run, {});
}

Job prepare_unchecked(const Variant &variant, const Sequence &sequence, const Run &run, const Packing &packing) {
  const Params params = params_of(variant, run);
  const Form &form = find_form(variant, run.form, sequence.shape, params);
  require_math(run.real, run.math);
  switch (run.real) {
  case Real::f32:
    return prepare_typed<float>(variant, sequence, run, params, packing, form.f32);
  case Real::f64:
    return prepare_typed<double>(variant, sequence, run, params, packing, form.f64);
  case Real::bf16:
    return prepare_stored<BFloat16>(variant, sequence, run, params, packing, form);
  case Real::f16:
    return prepare_stored<Float16>(variant, sequence, run, params, packing, form);
  }
  throw std::logic_error("no such type");
}

Output forward(const Variant &variant, const Sequence &sequence, const Run &run) {
  const Job job = prepare(variant, sequence, run);
  job.reset();
  job.launch();
  return job.fetch();
}

bool counts_work() { return on_host; }

Work counted_work(const Variant &variant, const Sequence &sequence, const Params &params) {
  check_inputs(variant, sequence, params);
  if (!counts_work()) throw std::logic_error("counting operations needs kernels that run on the host");
  Job job = prepare_typed<Counted>(variant, sequence, {}, params, {}, variant.forms.at(0).counted);
  job.reset();
  Counted::flops = 0, Counted::products = 0, Counted::functions = 0;
  job.launch();
  return {Counted::flops, Counted::products, Counted::functions};
}

} // namespace recollect
