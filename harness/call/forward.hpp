// SPDX-License-Identifier: Apache-2.0
// Runs one form of one variant on host arrays. The only door between host code and the kernels.
#pragma once
#include "harness/core/execution_options.hpp"
#include "harness/core/variant.hpp"

namespace recollect {

struct Run {
  std::string form = "recurrent"; // a form's name, or "fast": the faster at the sequence's shape
  Real real = Real::f64;
  int chunk = 64; // clamped to 1 ... T
  Params params;  // resolved against the variant's specs; empty: its defaults
  Schedule schedule = Schedule::automatic;
  Math math = Math::exact;
  bool any_gate = false; // gates outside [0,1] are let through: what a wrong kernel may make of them
};

/// `params` resolved against the variant's specs.
inline Run run_of(const std::string &form, const ExecutionOptions &e, const Params &params) {
  return {form, e.real, e.chunk, params, e.schedule, e.math};
}

/// A run's parameters, or the variant's defaults.
Params params_of(const Variant &variant, const Run &run);

/// o and the final state. Input error (exit 3) naming the dataset when one is absent, mis-shaped or non-finite.
Output forward(const Variant &variant, const Sequence &sequence, const Run &run = {});

/// A prepared pass whose inputs already lie on the device: reset() and launch() as often as wanted,
/// fetch() copies the result back.
struct Job {
  std::function<void()> reset;  // to the initial state, and outputs of NaN
  std::function<void()> launch; // the kernel alone; returns after the device is idle
  std::function<Output()> fetch;
};
Job prepare(const Variant &variant, const Sequence &sequence, const Run &run);

/// Usage error where the arithmetic is of products of float32 arrays and the arrays are of 16 bits.
void refuse_math(Real real, Math math);
/// The same, and an input error where the device does not compute in it.
void require_math(Real real, Math math);

/// Bytes of the inputs, outputs and states of one pass, on the host (float64) and on the device (`real`) together. A
/// form's own workspace comes on top, with `real` of 16 bits also the float32 arrays of a form without its own kernel.
std::uint64_t memory_needed(const Variant &variant, const Shape &shape, const Params &params, Real real);
/// "" or why a pass does not fit: what over_memory says of all of it, or over_device_memory of the device's part.
std::string over_memory(const Variant &variant, const Shape &shape, const Params &params, Real real);

/// What the definition is seen to do on these inputs, all heads together.
struct Work {
  long flops = 0;     // additions and products
  long products = 0;  // multiplications and divisions
  long functions = 0; // exponentials, roots, sines ...
};
/// Whether anything can be counted: only where kernels run on the host. counted_work is a logic error elsewhere.
bool counts_work();
Work counted_work(const Variant &variant, const Sequence &sequence, const Params &params);

/// The variant's parameters at their defaults, overlaid with `given`.
Params variant_params(const Variant &variant, const Assignments &given = {});

/// Input error where the array has another number of elements than `sizes`, named by `letters`, say, or one that is not
/// finite.
void check_array(const std::string &name, const std::vector<double> &data, const std::vector<std::string> &letters,
                 const std::vector<int> &sizes);
/// The given state, or the variant's own in every head.
std::vector<double> initial_state(const Variant &variant, const Sequence &sequence, const Params &params);
/// Refuses what `variant` cannot run: absent inputs, wrong sizes, non-finite numbers, gates outside [0,1].
void check_inputs(const Variant &variant, const Sequence &sequence, const Params &params, bool any_gate = false);

} // namespace recollect
