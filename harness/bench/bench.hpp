// SPDX-License-Identifier: Apache-2.0 Times kernels without transfers and with cold caches. Compares the times with the
// ceilings (peak rates) of the machine, and with peers: implementations of the same layer in other libraries, timed in
// alternation on the same tensors.
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
  // "ok"; "skipped": the form or peer does not take the shape, or a peer does not take the type or would take too long;
  // "wrong": the result differs from the definition, or the time is shorter than the machine allows; "failed". If the
  // status is "ok", `reason` is a remark: how a peer differs, that its tuning was cut short, that arrays were
  // converted.
  std::string status = "ok", reason;
  std::string method; // how the pass was timed (Stopwatch::method)
  std::vector<double> seconds;
  Timing timing;
  double clock = 1;       // median of the samples' clocks, relative to the default clock (sampling.hpp)
  size_t discarded = 0;   // samples discarded because the clock was slow
  bool kept_slow = false; // whether samples with a slow clock were kept, because the clock stayed slow
  std::string stopped_by; // Sampling::stopped_by
  double bytes = 0;       // bytes of inputs, outputs and both states; of a backward pass, also of gradients
  double flops = 0;       // operations of the definition, from the layer's descriptor; 0 for a backward pass
  double limit = 0;       // least seconds: the longer of `bytes` and `flops` at the ceilings; 0: no ceilings are known
  std::string bound;      // "bytes" or "flops": which of the two takes longer
  std::int64_t peak_bytes = 0;
  double error = 0; // deviation from the definition, relative to its largest value; 0 if not compared
};

/// A fit of time ~ T^exponent over cases that differ in T only.
struct Growth {
  std::string name; // name of the cases, without T
  double exponent, standard_error;
  int points;
};

class Peers;

struct BenchSettings {
  SamplingRule rule;
  Ceilings *ceilings = nullptr; // null: no limits. The ceilings are measured again if a time is below its limit
  Peers *peers = nullptr;       // timed in alternation with the form; null: no peers
  std::function<void(const std::string &)> told = [](const std::string &) {}; // called before steps that may take long
};

/// Times a case. Returns a row for the case's form, then a row for every peer that supports the case. The form is
/// compared with its definition twice: before timing on a short sequence, and after timing by the outputs of the timed
/// pass, which were filled with NaN before that pass. If the form differs, its row has no time. Throws only if memory
/// runs out, or if other ranks are waiting.
std::vector<BenchResult> bench(const BenchCase &c, const BenchSettings &settings);

/// Sets `limit` and `bound` of a row, whose arrays have the type `result.storage`.
void set_limit(BenchResult &result, const Ceilings &ceilings);

/// A fit for each group of cases that differ in T only, if they have times at three T or more.
std::vector<Growth> growth(const std::vector<BenchResult> &results);

/// Serialises results for another process. unpacked() reads them back, given the same plan.
std::string packed(const std::vector<BenchResult> &results);
std::vector<BenchResult> unpacked(const std::string &bytes, const std::vector<BenchCase> &plan);

/// The bytes of the HDF5 file, with the tables /bench, /bench_samples, /bench_growth and /ceilings.
std::string bench_image(const std::vector<BenchResult> &results, const Ceilings &ceilings, const Facts &meta);
/// The results in Google Benchmark's JSON format, which its compare tool reads.
std::string bench_json(const std::vector<BenchResult> &results, const Facts &meta);

} // namespace recollect
