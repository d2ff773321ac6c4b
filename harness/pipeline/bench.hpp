// SPDX-License-Identifier: Apache-2.0
// Times: the kernel alone, with its inputs on the device and the caches cold, beside what the machine can do and what
// others take for the same tensors in turn.
#pragma once
#include "harness/core/registry.hpp"
#include "harness/device/ceilings.hpp"
#include "harness/numerics/sampling.hpp"
#include "harness/pipeline/hdf5_file.hpp"
#include <functional>

namespace recollect {

struct BenchRequest {
  std::vector<std::string> variants{"all"}, forms{"fast"};
  std::vector<Shape> shapes;
  Real real = Real::f32;
  int chunk = 64;
  Assignments settings;
  std::vector<std::string> without; // optional inputs that are not given
  SamplingRule rule;                // when there are enough samples of a case
  std::uint64_t seed = 1;
  Schedule schedule = Schedule::automatic;
  Math math = Math::exact;
  std::string along;     // "auto", "scan", "chain": all ranks share each sequence (along_ranks.hpp); "": none is shared
  bool backward = false; // time the forms' backward passes
};

struct BenchCase {
  int index = 0;
  const Variant *variant = nullptr;
  const Form *form = nullptr;
  Params params;
  Shape shape;
  Real real = Real::f32;
  int chunk = 64;
  std::uint64_t seed = 1;
  Schedule schedule = Schedule::automatic;
  Math math = Math::exact;
  std::vector<std::string> without = {};
  std::string along = ""; // as asked for
  bool backward = false;
};
/// "variant/form/B:4/H:16/T:4096/Dk:64/Dv:64/f32", with "/backward", "/tf32", "/streaming", "/without:lambda" and
/// "/ranks_along_T:4" where asked for
std::string name_of(const BenchCase &c);
/// The tensors that a case is timed on: q, k, v and the inputs that its layer takes.
Sequence inputs_of(const BenchCase &c);

struct BenchResult {
  const BenchCase *bench_case = nullptr;
  std::string source = "recollect"; // or the peer: "torch", "fla", "torch-flash" ...
  std::string storage;              // what q, k, v and o are stored in: "f32", "f64", "bf16"
  // "ok" | "skipped" (cannot take the shape, or for a peer the type or the time) | "wrong" (not its definition, or faster
  // than the machine can be) | "failed"
  std::string status = "ok", reason; // of a peer that is ok: what it does otherwise, and how its tuning was cut
  std::string method;                // how it was timed: Stopwatch::method
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
      0; // deviation from the definition, over the largest value; 0: is the definition, or was not held to it
};

/// Time as a power of T, over the cases that differ in T alone.
struct Growth {
  std::string name; // of the cases, without T
  double exponent, standard_error;
  int points;
};

/// Every form of every variant at every shape. Usage error for unknown names.
std::vector<BenchCase> bench_plan(const BenchRequest &request);
/// "T=1024:65536:*2" replaces T in every shape by each of the values. Usage error for what is no dimension.
std::vector<Shape> swept(const std::vector<Shape> &shapes, const std::string &sweep);
/// "B,H,T,Dk,Dv"
Shape parse_shape(const std::string &text);
/// One of them a line, of a file of that name; # begins a comment. Usage error where there is none.
std::vector<Shape> shapes_of(const std::string &text, const std::string &file);

class Peers;

struct BenchSettings {
  SamplingRule rule;
  Ceilings *ceilings =
      nullptr;            // a time below its limit is an error: measured anew before that is said. Null: no limits
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
