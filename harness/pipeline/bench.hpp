// SPDX-License-Identifier: Apache-2.0
// Times: the kernel alone, between fences, with its inputs on the device and the caches cold, beside what the machine can
// do and what others take for the same tensors.
#pragma once
#include "harness/core/registry.hpp"
#include "harness/device/ceilings.hpp"
#include "harness/numerics/timing.hpp"
#include "harness/pipeline/hdf5_file.hpp"

namespace recollect {

struct BenchRequest {
  std::vector<std::string> variants{"all"}, forms{"fast"};
  std::vector<Shape> shapes;
  Real real = Real::f32;
  int chunk = 64;
  Assignments settings;
  std::vector<std::string> without; // optional inputs that are not given
  double min_seconds = 0.3;         // of measured time a case
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
  std::string source = "recollect"; // or the peer: "torch", "fla", and in bfloat16 "torch-bf16", "fla-bf16"
  // "ok" | "skipped" (cannot take the shape, or for a peer the type or the time) | "wrong" (not its definition) | "failed"
  std::string status = "ok", reason;
  std::vector<double> seconds;
  Timing timing;
  double bytes = 0; // read and written once: inputs, outputs, initial and final state; backwards also their gradients
  double flops = 0; // of the definition, as its descriptor has them; 0 for peers and backwards
  std::int64_t peak_bytes = 0;
  double error = 0; // deviation from the definition on a short sequence, over the largest value; 0: is the definition
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

/// A case whose form is not its definition gets no time. Never throws, but for memory, and where the other ranks wait.
BenchResult bench(const BenchCase &c, double min_seconds);

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
