// SPDX-License-Identifier: Apache-2.0
// Times: the kernel alone, with its inputs on the device and the caches cold, beside what the machine can do and what
// others take for the same tensors in turn.
#pragma once
#include "harness/bench/plan.hpp"
#include "harness/device/ceilings.hpp"
#include "harness/files/hdf5_file.hpp"
#include <functional>

namespace recollect {

struct BenchResult {
  const BenchCase *bench_case = nullptr;
  std::string source = "recollect"; // or the peer: "torch", "fla", "torch-flash" ...
  std::string storage;              // what q, k, v and o are stored in: "f32", "f64", "bf16", "f16"
  // "ok" | "skipped" (cannot take the shape, or for a peer the type or the time) | "wrong" (not its definition, or faster
  // than the machine can be) | "failed"
  // If the row is ok, `reason` is a remark: what a peer does otherwise, how its tuning was cut, that arrays were
  // converted.
  std::string status = "ok", reason;
  std::string method; // how it was timed: Stopwatch::method
  std::vector<double> seconds;
  Timing timing;
  double clock = 1;       // median of the samples' (sampling.hpp)
  size_t discarded = 0;   // samples at a slow clock
  bool kept_slow = false; // the clock stayed slow, and samples were kept all the same
  std::string stopped_by; // Sampling::stopped_by
  double bytes = 0;  // read and written once: inputs, outputs, initial and final state; backwards also their gradients
  double flops = 0;  // of the definition, as its descriptor has them; 0 backwards
  double limit = 0;  // seconds that the bytes or the flops take at the ceilings, whichever is more; 0 without ceilings
  std::string bound; // which: "bytes" or "flops"
  std::int64_t peak_bytes = 0;
  double error =
      0; // deviation from the definition, over the largest value; 0: is the definition, or was not compared with it
};

/// Time as a power of T, over the cases that differ in T alone.
struct Growth {
  std::string name; // of the cases, without T
  double exponent, standard_error;
  int points;
};

class Peers;

struct BenchSettings {
  SamplingRule rule;
  Ceilings *ceilings =
      nullptr;            // a time below its limit is an error: measured again before that is said. Null: no limits
  Peers *peers = nullptr; // take turns with the form
  std::function<void(const std::string &)> told = [](const std::string &) {}; // before what may take long
};

/// The case's form, and after it a row for every peer that knows the case. A form that is not its definition gets no
/// time; it is held to it before on a short sequence, and after on what the timed pass left in outputs that had been
/// filled with NaN. Never throws, but for memory, and where the other ranks wait.
std::vector<BenchResult> bench(const BenchCase &c, const BenchSettings &settings);

/// Fills in `limit` and `bound`, for work that is stored in `result.storage`.
void set_limit(BenchResult &result, const Ceilings &ceilings);

/// Cases with at least three different T and a time each.
std::vector<Growth> growth(const std::vector<BenchResult> &results);

/// Results of this plan for another process, and back.
std::string packed(const std::vector<BenchResult> &results);
std::vector<BenchResult> unpacked(const std::string &bytes, const std::vector<BenchCase> &plan);

/// The HDF5 file: /bench, /bench_samples, /bench_growth, /ceilings.
std::string bench_image(const std::vector<BenchResult> &results, const Ceilings &ceilings, const Facts &meta);
/// Google Benchmark's JSON, for its compare tool.
std::string bench_json(const std::vector<BenchResult> &results, const Facts &meta);

} // namespace recollect
