// SPDX-License-Identifier: Apache-2.0
// Builds a kernel's call from host arrays, in any number type.
#pragma once
#include "harness/call/forward.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/device/device.hpp"
#include "harness/device/queueing.hpp"
#include <algorithm>
#include <cmath>
#include <type_traits>

namespace recollect {

/// Name of a number type in messages.
template <class Number>
constexpr const char *type_name = std::is_same_v<Number, BFloat16>  ? "bfloat16"
                                  : std::is_same_v<Number, Float16> ? "float16, whose largest number is 65504"
                                                                    : "float32";

/// Copies an array to the device, with each number rounded once to the type. Input error if a finite number becomes
/// infinite.
template <class Number> Array<Number> upload(const std::string &label, const std::vector<double> &data) {
  if constexpr (!std::is_same_v<Number, double>) {
    const auto overflows = [&](size_t i) {
      return !std::isfinite(double(static_cast<Number>(data[i]))) && std::isfinite(data[i]);
    };
    if (const size_t i = first_in_pieces(data.size(), overflows, cost_of_copies); i < data.size())
      input_error(label + " has " + number(data[i]) + " at flat index " + std::to_string(i) + ", too large for " +
                  type_name<Number>);
  }
  return uploaded<Number>(label, data.size(), [&](size_t i) { return static_cast<Number>(data[i]); });
}
template <class Number>
void upload_to(Array<Number> &array, const std::string &label, const std::vector<double> &data) {
  array = upload<Number>(label, data);
}

/// The initial states of all packed texts; without packing, initial_state().
inline std::vector<double> initial_states(const Variant &variant, const Sequence &s, const Params &params,
                                          const Packing &packing) {
  if (!s.state.empty() || packing.texts == 0) return initial_state(variant, s, params);
  Sequence texts;
  texts.shape = s.shape, texts.shape.B = packing.texts;
  return initial_state(variant, texts, params);
}

/// A call with arrays on the device. The state is not allocated, and o is not initialised.
template <class Real, class Stored = Real>
Call<Real, Stored> make_call(const Variant &variant, const Sequence &s, const Run &run, const Params &params,
                             const Packing &packing = {}) {
  Call<Real, Stored> call;
  call.shape = s.shape;
  call.packing = packing;
  call.params = params;
  call.chunk = std::clamp(run.chunk, 1, s.shape.T);
  call.schedule = run.schedule;
  call.math = run.math;
  call.state_shape = variant.state_shape(s.shape, params);
  for (Tensor tensor : {Tensor::q, Tensor::k, Tensor::v})
    call.with(tensor, [&](auto &array) { upload_to(array, name_of(tensor), s[tensor]); });
  for (const Input &input : variant.inputs) {
    if (!s[input.tensor()].empty()) call.given.push_back(input.name);
    call.with(input.tensor(), [&](auto &array) { upload_to(array, input.name, s.or_neutral(input.tensor())); });
  }
  call.o = allocated<Stored>("o", s.v.size());
  return call;
}

/// Prepares a job that runs `kernel` on `call`, each time from the state `start`.
template <class Real, class Stored>
Job job_of(const std::shared_ptr<Call<Real, Stored>> &call, const Array<Real> &start,
           const std::function<void(const Call<Real, Stored> &)> &kernel) {
  call->state = allocated<Real>("state", start.extent(0));
  Job job;
  job.reset = [call, start] {
    fill(call->o, Stored(std::nan(""))); // NaN, so that an output that the kernel does not write is detected
    copy(call->state, start);
    Kokkos::fence();
  };
  job.launch = [call, kernel] {
    call->arena->reset();
    kernel(*call);
    end_of_pass();
  };
  job.fetch = [call] { return Output{download(call->o), download(call->state), call->state_shape}; };
  return job;
}

} // namespace recollect
