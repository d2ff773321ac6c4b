// SPDX-License-Identifier: Apache-2.0
// From host arrays to the call that a kernel gets, in any type of number. For the doors between host code and kernels.
#pragma once
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/device/device.hpp"
#include "harness/device/queueing.hpp"
#include "harness/pipeline/forward.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {

/// Input error where a finite number is none in the type.
template <class Real> Array<Real> upload(const std::string &label, const std::vector<double> &data) {
  return uploaded<Real>(label, data.size(), [&](size_t i) {
    const Real value = static_cast<Real>(data[i]);
    if (!std::isfinite(double(value)) && std::isfinite(data[i]))
      input_error(label + " has " + number(data[i]) + " at flat index " + std::to_string(i) +
                  ", too large for float32");
    return value;
  });
}

/// Everything but the state is on the device; o is uninitialised.
template <class Real>
Call<Real> make_call(const Variant &variant, const Sequence &s, const Run &run, const Params &params) {
  Call<Real> call;
  call.shape = s.shape;
  call.params = params;
  call.chunk = std::clamp(run.chunk, 1, s.shape.T);
  call.schedule = run.schedule;
  call.math = run.math;
  call.state_shape = variant.state_shape(s.shape, params);
  for (Tensor tensor : {Tensor::q, Tensor::k, Tensor::v}) call[tensor] = upload<Real>(name_of(tensor), s[tensor]);
  for (const Input &input : variant.inputs) {
    if (!s[input.tensor()].empty()) call.given.push_back(input.name);
    call[input.tensor()] = upload<Real>(input.name, s.or_neutral(input.tensor()));
  }
  call.o = allocated<Real>("o", s.v.size());
  return call;
}

/// `kernel` on `call`, every time from `start`.
template <class Real>
Job job_of(const std::shared_ptr<Call<Real>> &call, const Array<Real> &start,
           const std::function<void(const Call<Real> &)> &kernel) {
  call->state = allocated<Real>("state", start.extent(0));
  Job job;
  job.reset = [call, start] {
    fill(call->o, Real(std::nan(""))); // an output left unwritten cannot pass for a result
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
