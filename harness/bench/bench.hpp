// SPDX-License-Identifier: Apache-2.0
// Times kernels without transfers and with cold caches. Compares the times with the machine's ceilings, and with peers
// that run in turn with the kernel on the same tensors.
#pragma once
#include "harness/bench/plan.hpp"
#include "harness/device/ceilings.hpp"
#include "harness/files/hdf5_file.hpp"
#include <functional>

namespace recollect {

struct BenchResult {
  const BenchCase *bench_case = nullptr;
  std::string source = "recollect"; // or the name of the peer: "torch", "fla", "torch-flash" ...
  std::string storage;              // type of q, k, v and o in memory: "f32", "f64", "bf16", "f16"
  // "ok" | "skipped" (does not take the shape; or a peer does not take the type or would take too long) | "wrong"
  // (differs from its definition, or is faster than the machine can be) | "failed". In an ok row, `reason` is a remark:
  // how a peer differs, that its tuning was cut short, that arrays were converted.
  std::string status = "ok", reason;
  std::string method; // how the pass was timed (Stopwatch::method)
  std::vector<double> seconds;
  Timing timing;
  double clock = 1;       // median of the samples' clocks, relative to the default clock (sampling.hpp)
  size_t discarded = 0;   // samples discarded because the clock was slow
  bool kept_slow = false; // the clock stayed slow, so its samples were kept
  std::string stopped_by; // Sampling::stopped_by
  double bytes = 0;       // bytes of inputs, outputs, both states and (backward) their gradients, each moved once
  double flops = 0;       // operations of the definition, from the layer's descriptor; 0 for a backward pass
  double limit = 0;       // seconds at the ceilings for `bytes` or for `flops`, whichever is longer; 0: no ceilings
  std::string bound;      // "bytes" or "flops": which takes longer
  std::int64_t peak_bytes = 0;
  double error = 0; // deviation from the definition, relative to its largest value; 0 if not compared
};

/// The exponent p of time ~ T^p, fitted over cases that differ in T only.
struct Growth {
  std::string name; // name of the cases, without T
  double exponent, standard_error;
  int points;
};

class Peers;

struct BenchSettings {
  SamplingRule rule;
  Ceilings *ceilings = nullptr; // null: no limits. The ceilings are measured again if a time is below its limit
  Peers *peers = nullptr;       // timed in turn with the form
  std::function<void(const std::string &)> told = [](const std::string &) {}; // called before steps that may take long
};

/// One row for the case's form, then one for every peer that supports the case. The form is compared with its
/// definition twice. Before timing, both run on a short sequence. After timing, the outputs of the timed pass are
/// compared; they were filled with NaN before that pass. If the form differs, its row has no time. Throws only if
/// memory runs out, or if other ranks are waiting.
std::vector<BenchResult> bench(const BenchCase &c, const BenchSettings &settings);

/// Sets `limit` and `bound`, for arrays of type `result.storage`.
void set_limit(BenchResult &result, const Ceilings &ceilings);

/// One fit for each group of cases that have times at three or more different T.
std::vector<Growth> growth(const std::vector<BenchResult> &results);

/// Serialises results for another process. unpacked() reads them back, given the same plan.
std::string packed(const std::vector<BenchResult> &results);
std::vector<BenchResult> unpacked(const std::string &bytes, const std::vector<BenchCase> &plan);

/// The HDF5 file: /bench, /bench_samples, /bench_growth, /ceilings.
std::string bench_image(const std::vector<BenchResult> &results, const Ceilings &ceilings, const Facts &meta);
/// Google Benchmark's JSON, for its compare tool.
std::string bench_json(const std::vector<BenchResult> &results, const Facts &meta);

} // namespace recollect
