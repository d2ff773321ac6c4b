// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/peers.hpp"
#include "harness/command_line/flags.hpp"
#include "harness/command_line/print.hpp"
#include "harness/command_line/progress.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/device/backend.hpp"
#include "harness/run/plan.hpp"
#include "harness/system/files.hpp"
#include "harness/system/host_conditions.hpp"
#include "harness/system/ranks.hpp"
#include <algorithm>
#include <iostream>

namespace recollect {
namespace {

struct BenchFlags {
  std::vector<std::string> variants{"all"}, forms{"fast"}, shapes, sweeps, settings, without;
  std::string shapes_file, output, json, texts;
  TypeFlag dtype{"f32"};
  int chunk = 64, qk_heads = 0;
  SamplingRule rule;
  double peers_limit = 60, peers_tuning = 0;
  std::uint64_t seed = 1;
  bool peers = false, backward = false;
  EngineFlags engine;
  AlongFlags along;

  BenchRequest request() const {
    BenchRequest r;
    r.variants = variants, r.forms = forms, r.seed = seed, r.rule = rule;
    static_cast<ExecutionOptions &>(r) = engine.get(dtype.real(), chunk);
    r.settings = assignments(settings);
    r.without = without, r.backward = backward;
    if (along.asked()) r.along = along.carry;
    for (const std::string &text : shapes) r.shapes.push_back({parse_shape(text)});
    if (!shapes_file.empty())
      for (const BenchShape &timed : shapes_of(read_regular_file(shapes_file), shapes_file)) r.shapes.push_back(timed);
    if (r.shapes.empty()) r.shapes = {{2, 8, 4096, 64, 64}};
    for (BenchShape &timed : r.shapes) { // --texts and --qk-heads apply where the shape itself says nothing
      if (timed.texts.empty()) timed.texts = texts;
      if (!timed.qk_heads) timed.qk_heads = qk_heads;
    }
    for (const std::string &sweep : sweeps) r.shapes = swept(r.shapes, sweep);
    return r;
  }
};

/// Number of threads that kernels use if they run on the CPU. On a GPU 1: the thread that launches them.
int host_threads() {
  if (device_memory_free()) return 1;
  for (const auto &[name, value] : backend_facts())
    if (name == "concurrency") return std::stoi(value);
  return 1;
}

/// Warns of whatever would disturb timings on this machine. Returns all known facts about the machine.
Facts conditions(std::ostream &errors) {
  const HostConditions found = host_conditions(host_threads());
  for (const std::string &line : found.warnings) errors << "warning: " << line << "\n";
  return found.facts;
}

int run_bench(const BenchFlags &flags, const Words &command_line) {
  refuse_overlap({flags.output, flags.json}, {});
  const BenchRequest request = flags.request();
  ranks::join();
  const std::vector<BenchCase> plan = bench_plan(request);
  std::unique_ptr<OutputFile> file;
  const bool tells = ranks::rank() == 0;
  if (!flags.output.empty() && tells) file.reset(new OutputFile(flags.output));
  const Backend backend;
  Facts meta = provenance(command_line, request.seed);
  if (tells)
    for (const auto &fact : conditions(std::cerr)) meta.push_back(fact);
  if (tells) std::cerr << "measuring the peak rates of this machine ..." << std::endl;
  Ceilings ceilings = measure_ceilings();
  if (tells) print_ceilings(std::cout, ceilings);
  std::unique_ptr<Peers> peers;
  if (flags.peers && ranks::size() > 1) usage_error("--peers needs a run of one rank");
  if (flags.peers) peers = std::make_unique<Peers>(flags.peers_limit, flags.peers_tuning);
  std::vector<BenchResult> results;
  Progress progress(plan.size(), !tells);
  const auto keep = [&](std::vector<BenchResult> rows) {
    progress.done();
    const size_t first = results.size();
    for (BenchResult &row : rows) {
      results.push_back(std::move(row));
      print_bench(std::cout, results.back(), results[first].timing.median);
    }
    if (file) file->checkpoint(bench_image(results, ceilings, meta));
  };
  const bool alone = ranks::size() == 1 || !request.along.empty();
  std::vector<double> work;
  for (const BenchCase &c : plan) work.push_back(work_of(*c.variant, c.shape, c.params));
  std::vector<size_t> order = longest_first(work);
  if (alone) std::reverse(order.begin(), order.end()); // fast cases first, so that rows appear soon
  ranks::Counters counter;
  size_t taken = 0;
  const auto draw = [&] {
    return request.along.empty() ? counter.next() : taken++;
  }; // with --ranks-along, all ranks work on the same case, so each takes every case
  const BenchSettings settings{request.rule, &ceilings, peers.get(),
                               [&](const std::string &what) { progress.next(what, 0); }};
  for (size_t next = draw(); next < order.size(); next = draw()) {
    const BenchCase &c = plan[order[next]];
    progress.next(name_of(c));
    std::vector<BenchResult> rows = bench(c, settings);
    if (request.along.empty() || tells) keep(std::move(rows));
  }
  const std::vector<std::string> parts = ranks::gathered(packed(results));
  if (!tells) return exit_ok;
  for (size_t from = 1; from < parts.size(); ++from)
    for (BenchResult &r : unpacked(parts[from], plan)) results.push_back(std::move(r));
  std::stable_sort(results.begin(), results.end(), [](const BenchResult &a, const BenchResult &b) {
    return a.bench_case->index < b.bench_case->index;
  });
  progress.done();
  print_growth(std::cout, growth(results));
  if (file) file->publish(bench_image(results, ceilings, meta));
  if (!flags.json.empty()) write_file(flags.json, bench_json(results, meta));
  const auto bad = [](const BenchResult &r) {
    return r.status == "wrong" || (r.source == "recollect" && r.status == "failed");
  };
  return std::any_of(results.begin(), results.end(), bad) ? exit_failed : exit_ok;
}

} // namespace

Action add_bench(CLI::App &app) {
  const auto flags = std::make_shared<BenchFlags>();
  CLI::App &c = *app.add_subcommand(
      "bench", "time forms on random tensors; compare with the machine's peak rates and other implementations");
  c.add_option("--variants", flags->variants, "names or globs, comma-separated")->delimiter(',')->capture_default_str();
  c.add_option("--forms", flags->forms, "recurrent, fast, all, or names of forms, comma-separated")
      ->delimiter(',')
      ->capture_default_str();
  c.add_option("--shape", flags->shapes, "B,H,T,Dk,Dv (repeatable); default 2,8,4096,64,64")->expected(1)->take_all();
  c.add_option(
      "--shapes", flags->shapes_file,
      "file of shapes, one B,H,T,Dk,Dv per line, where texts=LENGTHS and qk-heads=N may follow; # begins a comment");
  c.add_option("--sweep", flags->sweeps,
               "values of one dimension of the shapes: T=1024:65536:*2, D=32,64,128 (both widths), ... (repeatable)")
      ->expected(1)
      ->take_all();
  flags->dtype.add(c);
  c.add_option("--chunk", flags->chunk, "chunk length C")->check(CLI::Range(1, 1 << 30))->capture_default_str();
  c.add_option("--without", flags->without, "optional inputs to leave out, comma-separated")->delimiter(',');
  c.add_option("--set", flags->settings,
               "name=value for every variant with this parameter, or VARIANT.name=value (repeatable)")
      ->expected(1)
      ->take_all();
  c.add_option("--min-time", flags->rule.least_seconds, "least measured time per case in seconds")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  c.add_option("--max-time", flags->rule.most_seconds,
               "longest sampling time per case in seconds, including cache flushes; sampling stops earlier when the "
               "median is known to 0.5%")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  flags->engine.add(c);
  flags->along.add(c);
  c.add_option("--seed", flags->seed, "seed of the tensors")->capture_default_str();
  c.add_flag("--backward", flags->backward,
             "time the forms' backward passes: gradients of all inputs from do and dstate")
      ->excludes(c.get_option("--ranks-along"));
  c.add_option("--texts", flags->texts,
               "lengths of packed texts, such as 3000,0,1096, whose sum must be T; B must be 1, and each text has its "
               "own state")
      ->excludes(c.get_option("--ranks-along"));
  c.add_option("--qk-heads", flags->qk_heads, "number of heads of q and k, each shared by several heads of v")
      ->excludes(c.get_option("--ranks-along"));
  c.add_flag(
      "--peers", flags->peers,
      "also time PyTorch's, fla's and other installed implementations on the same tensors, alternating with ours; "
      "their backward passes by autograd");
  c.add_option("--peers-limit", flags->peers_limit,
               "longest first call of a peer in seconds, with compiling and tuning; slower peers are skipped")
      ->check(CLI::Range(0.001, 86400.0))
      ->capture_default_str()
      ->needs("--peers");
  c.add_option("--peers-tuning", flags->peers_tuning,
               "milliseconds for which Triton times each of a peer's configurations; 0: Triton's default, 100")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str()
      ->needs("--peers");
  c.add_option("-o,--output", flags->output, "results file (HDF5)");
  c.add_option("--json", flags->json, "write the samples in Google Benchmark's JSON format");
  add_memory_flag(c);
  example(c, "recollect bench --variants delta_net --sweep T=1024:16384:*2 -o bench.h5");
  return [flags](const Words &command_line) { return run_bench(*flags, command_line); };
}

} // namespace recollect
