// SPDX-License-Identifier: Apache-2.0
// Passes on 16-bit arrays by kernels that only support float32. Arrays are converted on the device before the kernel
// runs, and results are rounded after it; the time of a pass includes both. Gates and states are not copied, because
// they are float32 in any case.
#pragma once
#include "harness/device/device.hpp"
#include "harness/device/each_index.hpp"

namespace recollect {

/// A call with the sizes, settings, gates and state of `call`. Its q, k, v, w and o are new float32 arrays, which are
/// not initialised.
template <class Stored> Call<float> widened(const Call<float, Stored> &call) {
  Call<float> wide;
  static_cast<CallSettings &>(wide) = call;
  wide.beta = call.beta, wide.alpha = call.alpha, wide.lambda = call.lambda, wide.state = call.state;
  const auto like = [](const char *name, const Array<Stored> &array) {
    return allocated<float>(name, array.extent(0));
  };
  wide.q = like("q", call.q), wide.k = like("k", call.k), wide.v = like("v", call.v), wide.w = like("w", call.w);
  wide.o = like("o", call.o);
  return wide;
}

/// Copies q, k, v and w of `from` to `to` and converts them to the type of `to`.
template <class To, class From> void convert_inputs(const Call<float, To> &to, const Call<float, From> &from) {
  convert(to.q, from.q), convert(to.k, from.k), convert(to.v, from.v), convert(to.w, from.w);
}

/// A function that runs the float32 kernel for a call in 16 bits. `wide` is widened() of this call. The caller fills o
/// of both calls with NaN before a pass.
template <class Stored>
std::function<void(const Call<float, Stored> &)> converting(const std::shared_ptr<Call<float>> &wide,
                                                            const std::function<void(const Call<float> &)> &kernel) {
  return [=](const Call<float, Stored> &call) {
    convert_inputs(*wide, call);
    wide->state = call.state;
    kernel(*wide);
    convert(call.o, wide->o);
  };
}

/// The same for a backward pass.
template <class Stored>
std::function<void(const BackwardCall<float, Stored> &)>
converting(const std::shared_ptr<BackwardCall<float>> &wide,
           const std::function<void(const BackwardCall<float> &)> &kernel) {
  return [=](const BackwardCall<float, Stored> &back) {
    convert_inputs(wide->call, back.call);
    convert(wide->d.o, back.d.o);
    kernel(*wide);
    convert_inputs(back.d, wide->d);
  };
}

} // namespace recollect
