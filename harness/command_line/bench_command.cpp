// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/flags.hpp"
#include "harness/command_line/print.hpp"
#include "harness/command_line/progress.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/core/files.hpp"
#include "harness/core/ranks.hpp"
#include "harness/device/backend.hpp"
#include "harness/pipeline/peers.hpp"
#include "harness/pipeline/plan.hpp"
#include <algorithm>
#include <iostream>

namespace recollect {
namespace {

struct BenchFlags {
  std::vector<std::string> variants{"all"}, forms{"fast"}, shapes, sweeps, settings, without;
  std::string dtype = "f32", output, json;
  int chunk = 64;
  double min_seconds = 0.3, peers_limit = PeerTimes().first_call;
  std::uint64_t seed = 1;
  bool peers = false, backward = false;
  EngineFlags engine;
  AlongFlags along;

  BenchRequest request() const {
    BenchRequest r;
    r.variants = variants, r.forms = forms, r.chunk = chunk, r.seed = seed, r.min_seconds = min_seconds;
    r.real = dtype == "f32" ? Real::f32 : Real::f64;
    r.settings = assignments(settings);
    r.without = without, r.backward = backward;
    r.schedule = engine.get_schedule(), r.math = engine.get_math();
    if (along.asked()) r.along = along.carry;
    for (const std::string &text : shapes) r.shapes.push_back(parse_shape(text));
    if (r.shapes.empty()) r.shapes = {{2, 8, 4096, 64, 64}};
    for (const std::string &sweep : sweeps) r.shapes = swept(r.shapes, sweep);
    return r;
  }
};

int run_bench(const BenchFlags &flags, const Words &command_line) {
  refuse_overlap({flags.output, flags.json}, {});
  const BenchRequest request = flags.request();
  ranks::join();
  const std::vector<BenchCase> plan = bench_plan(request);
  std::unique_ptr<OutputFile> file;
  if (!flags.output.empty() && ranks::rank() == 0) file.reset(new OutputFile(flags.output));
  const Backend backend;
  const Facts meta = provenance(command_line, request.seed);
  const Ceilings ceilings = measure_ceilings();
  if (ranks::rank() == 0) print_ceilings(std::cout, ceilings);
  std::vector<BenchResult> results;
  Progress progress(plan.size() * (flags.peers ? 2 : 1), ranks::rank() != 0);
  const auto keep = [&](BenchResult result) {
    results.push_back(std::move(result));
    if (file) file->checkpoint(bench_image(results, ceilings, meta));
    progress.done();
    print_bench(std::cout, results.back(), ceilings);
  };
  const bool alone = ranks::size() == 1 || !request.along.empty();
  std::vector<double> work;
  for (const BenchCase &c : plan) work.push_back(alone ? 0 : work_of(*c.variant, c.shape, c.params));
  const std::vector<size_t> order = longest_first(work);
  ranks::Counter counter;
  size_t taken = 0;
  const auto draw = [&] { return request.along.empty() ? counter.next() : taken++; }; // one along ranks is everybody's
  for (size_t next = draw(); next < order.size(); next = draw()) {
    const BenchCase &c = plan[order[next]];
    progress.next(name_of(c));
    BenchResult result = bench(c, request.min_seconds);
    if (request.along.empty() || ranks::rank() == 0) keep(std::move(result));
  }
  const std::vector<std::string> parts = ranks::gathered(packed(results));
  if (ranks::rank() != 0) return exit_ok;
  for (size_t from = 1; from < parts.size(); ++from)
    for (BenchResult &r : unpacked(parts[from], plan)) results.push_back(std::move(r));
  std::sort(results.begin(), results.end(),
            [](const BenchResult &a, const BenchResult &b) { return a.bench_case->index < b.bench_case->index; });
  if (flags.peers)
    bench_peers(
        plan, {request.min_seconds, flags.peers_limit},
        [&](const BenchCase &c) { progress.next("peers of " + name_of(c)); }, keep);
  progress.done();
  print_growth(std::cout, growth(results));
  if (file) file->publish(bench_image(results, ceilings, meta));
  if (!flags.json.empty()) write_file(flags.json, bench_json(results, meta));
  const auto bad = [](const BenchResult &r) { return r.status == "wrong" || r.status == "failed"; };
  return std::any_of(results.begin(), results.end(), bad) ? exit_failed : exit_ok;
}

} // namespace

Action add_bench(CLI::App &app) {
  const auto flags = std::make_shared<BenchFlags>();
  CLI::App &c = *app.add_subcommand(
      "bench", "time forms on random tensors, beside the machine's ceilings and other implementations");
  c.add_option("--variants", flags->variants, "names or globs, comma-separated")->delimiter(',')->capture_default_str();
  c.add_option("--forms", flags->forms, "recurrent, fast, all, or names of forms, comma-separated")
      ->delimiter(',')
      ->capture_default_str();
  c.add_option("--shape", flags->shapes, "B,H,T,Dk,Dv (repeatable); default 2,8,4096,64,64")->expected(1)->take_all();
  c.add_option("--sweep", flags->sweeps, "T=1024:65536:*2, D=32,64,128, ... (repeatable)")->expected(1)->take_all();
  c.add_option("--dtype", flags->dtype, "f32 or f64")->check(CLI::IsMember({"f32", "f64"}))->capture_default_str();
  c.add_option("--chunk", flags->chunk, "chunk length C")->check(CLI::Range(1, 1 << 30))->capture_default_str();
  c.add_option("--without", flags->without, "optional inputs to leave out, comma-separated")->delimiter(',');
  c.add_option("--set", flags->settings, "name=value, or variant.name=value (repeatable)")->expected(1)->take_all();
  c.add_option("--min-time", flags->min_seconds, "seconds of measured time a case")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  flags->engine.add(c);
  flags->along.add(c);
  c.add_option("--seed", flags->seed, "seed of the tensors")->capture_default_str();
  c.add_flag("--backward", flags->backward,
             "time the forms' backward passes: gradients of all inputs from do and dstate")
      ->excludes(c.get_option("--ranks-along"));
  c.add_flag("--peers", flags->peers,
             "also time PyTorch's and fla's implementations on the same tensors; their backward passes by autograd");
  c.add_option("--peers-limit", flags->peers_limit,
               "seconds that a peer's first call may take, with compiling and tuning; it is skipped beyond")
      ->check(CLI::Range(0.001, 86400.0))
      ->capture_default_str()
      ->needs("--peers");
  c.add_option("-o,--output", flags->output, "results file (HDF5)");
  c.add_option("--json", flags->json, "the samples as Google Benchmark writes them");
  add_memory_flag(c);
  example(c, "recollect bench --variants delta_net --sweep T=1024:16384:*2 -o bench.h5");
  return [flags](const Words &command_line) { return run_bench(*flags, command_line); };
}

} // namespace recollect
