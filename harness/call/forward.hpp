// SPDX-License-Identifier: Apache-2.0
// Runs one form of one variant on host arrays. All host code calls the kernels through these functions.
#pragma once
#include "harness/core/execution_options.hpp"
#include "harness/core/variant.hpp"

namespace recollect {

struct Packing; // device.hpp

struct Run {
  std::string form = "recurrent"; // a form's name, or "fast" for the form that is fastest at the shape of the sequence
  Real real = Real::f64;
  int chunk = 64; // clamped to 1 ... T
  Params params;  // resolved against the variant's specs; if empty, the variant's defaults are used
  Schedule schedule = Schedule::automatic;
  Math math = Math::exact;
  bool any_gate = false; // accepts gates outside [0,1], which a wrong kernel may produce
};

/// A Run whose `params` are resolved against the variant's specs.
inline Run run_of(const std::string &form, const ExecutionOptions &e, const Params &params) {
  return {form, e.real, e.chunk, params, e.schedule, e.math};
}

/// A run's parameters or, if the run has none, the variant's defaults.
Params params_of(const Variant &variant, const Run &run);

/// Runs the form and returns o and the final state. Input error (exit 3) if an input is absent, has the wrong shape or
/// is not finite; the message names the input.
Output forward(const Variant &variant, const Sequence &sequence, const Run &run = {});

/// A prepared pass whose inputs are on the device. Call reset() and launch() as often as needed; fetch() copies the
/// result back.
struct Job {
  std::function<void()> reset;  // restores the initial state and fills outputs with NaN
  std::function<void()> launch; // runs the kernel only; returns when the device is idle
  std::function<Output()> fetch;
};
Job prepare(const Variant &variant, const Sequence &sequence, const Run &run);
/// Like prepare(), but without check_inputs(). The form must be able to run packed texts (Form::packs) if `packing` is
/// not empty. `packing` also says how many heads q and k have.
Job prepare_unchecked(const Variant &variant, const Sequence &sequence, const Run &run, const Packing &packing);

/// Usage error if `math` sets the precision of products of float32 arrays but the arrays have 16 bits.
void refuse_math(Real real, Math math);
/// Like refuse_math(); also an input error if the device does not support the precision `math`.
void require_math(Real real, Math math);

/// Bytes of the inputs, outputs and states of one pass, on the host (in float64) and on the device (in `real`)
/// together. The form's workspace is not included. Nor are the float32 copies that a form without a 16-bit kernel
/// needs.
std::uint64_t memory_needed(const Variant &variant, const Shape &shape, const Params &params, Real real);
/// Why a pass does not fit into memory; "" if it does. Checks memory_needed() (over_memory in memory.hpp), then the
/// bytes on the device alone (over_device_memory).
std::string over_memory(const Variant &variant, const Shape &shape, const Params &params, Real real);

/// Operations that the definition performs on these inputs, over all heads.
struct Work {
  long flops = 0;     // additions and products
  long products = 0;  // multiplications and divisions alone
  long functions = 0; // exponentials, roots, sines ...
};
/// Whether operations can be counted, which needs kernels that run on the CPU. If not, counted_work() is a logic error.
bool counts_work();
Work counted_work(const Variant &variant, const Sequence &sequence, const Params &params);

/// The variant's default parameters, overridden by `given`.
Params variant_params(const Variant &variant, const Assignments &given = {});

/// Input error if `data` does not have as many elements as the product of `sizes`, or if an element is not finite. In
/// the message the sizes have the names `letters`, such as B, H, T.
void check_array(const std::string &name, const std::vector<double> &data, const std::vector<std::string> &letters,
                 const std::vector<int> &sizes);
/// The sequence's state [B,H,rows,columns] or, if it has none, the variant's initial state in every head.
std::vector<double> initial_state(const Variant &variant, const Sequence &sequence, const Params &params);
/// Input error if `variant` cannot run on these inputs: absent inputs, wrong sizes, non-finite numbers, gates outside
/// [0,1].
void check_inputs(const Variant &variant, const Sequence &sequence, const Params &params, bool any_gate = false);

} // namespace recollect
