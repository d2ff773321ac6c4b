// SPDX-License-Identifier: Apache-2.0
// The only place that knows flags. Each subcommand is parsed into its request, then handed on.
#include "harness/command_line/cli.hpp"
#include "harness/command_line/commands.hpp"
#include "harness/core/error.hpp"
#include "harness/core/files.hpp"
#include "harness/core/text.hpp"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <unistd.h>

namespace recollect {
namespace {

const std::vector<std::string> subcommands{"list", "plan", "run", "verify", "bench", "forward", "report", "info"};

Real real_of(const std::string &text) { return text == "f32" ? Real::f32 : Real::f64; }

/// Flags that several subcommands share, kept as texts until parsing is over.
struct Flags {
  std::string kind, variant, input, output, json, junit, suite = "quick", dtype = "f64", form = "fast";
  std::vector<std::string> names, variants{"all"}, tasks{"all"}, settings, points, results, forms{"fast"}, shapes,
      sweeps;
  double min_seconds = 0.3;
  std::uint64_t seed = 1;
  int seeds = 1, chunk = 64, warmup = 0, repetitions = 1;
  bool as_json = false, every_point = false, resume = false, peers = false;
};

Assignments assignments(const std::vector<std::string> &texts) {
  Assignments all;
  for (const std::string &text : texts) parse_assignment(text, all);
  return all;
}

RunRequest run_request(const Flags &f) {
  if (f.resume && f.output.empty()) usage_error("--resume needs the file to complete: -o FILE");
  RunRequest r;
  r.variants = f.variants, r.tasks = f.tasks, r.form = f.form, r.real = real_of(f.dtype), r.chunk = f.chunk;
  r.seed = f.seed, r.seeds = f.seeds, r.settings = assignments(f.settings), r.warmup = f.warmup,
  r.repetitions = f.repetitions;
  return r;
}

BenchRequest bench_request(const Flags &f) {
  BenchRequest r;
  r.variants = f.variants, r.forms = f.forms, r.real = real_of(f.dtype), r.chunk = f.chunk, r.seed = f.seed;
  r.settings = assignments(f.settings), r.min_seconds = f.min_seconds;
  for (const std::string &text : f.shapes) r.shapes.push_back(parse_shape(text));
  if (r.shapes.empty()) r.shapes = {{2, 8, 4096, 64, 64}};
  for (const std::string &sweep : f.sweeps) r.shapes = swept(r.shapes, sweep);
  return r;
}

void add_form_flags(CLI::App *c, Flags &f) {
  c->add_option("--form", f.form, "recurrent, fast (the first other form), or a form's name")->capture_default_str();
  c->add_option("--chunk", f.chunk, "chunk length C")->check(CLI::Range(1, 1 << 30))->capture_default_str();
  c->add_option("--dtype", f.dtype, "f32 or f64")->check(CLI::IsMember({"f32", "f64"}))->capture_default_str();
  c->add_option("--set", f.settings, "name=value, or owner.name=value (repeatable)")->expected(1)->take_all();
}

void add_plan_flags(CLI::App *c, Flags &f) {
  c->add_option("--variants", f.variants, "names or globs, comma-separated")->delimiter(',')->capture_default_str();
  c->add_option("--tasks", f.tasks, "names or globs, comma-separated")->delimiter(',')->capture_default_str();
  add_form_flags(c, f);
  c->add_option("--seed", f.seed, "first seed")->capture_default_str();
  c->add_option("--seeds", f.seeds, "number of seeds")->check(CLI::Range(1, 1000000))->capture_default_str();
}

VerifyRequest verify_request(const Flags &f, bool seed_given) {
  VerifyRequest r;
  r.suite = load_suite(f.suite);
  r.claims = f.names;
  r.seed = seed_given ? f.seed : r.suite.seed.value_or(f.seed);
  if (f.resume && f.output.empty()) usage_error("--resume needs the file to complete: -o FILE");
  for (const std::string &text : f.points) r.points.push_back(assignments(split(text, ',')));
  if (!r.points.empty() && r.claims.empty()) usage_error("--point needs the id of the claim that it is for");
  return r;
}

/// CLI11 reports an unknown subcommand as an extra argument; users deserve the nearest name.
void check_subcommand(int argc, char **argv) {
  if (argc < 2) usage_error("no command given; one of " + join(subcommands, ", "));
  const std::string first = argv[1];
  if (first[0] != '-' && std::find(subcommands.begin(), subcommands.end(), first) == subcommands.end())
    usage_error("unknown command '" + first + "'" + suggestion(first, subcommands));
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

int parse_and_run(int argc, char **argv) {
  Flags f;
  CLI::App app{"recollect: associative memory in sequence models, benchmarked and held against theory", "recollect"};
  app.set_version_flag("--version", version());
  app.require_subcommand(1);

  CLI::App *list =
      app.add_subcommand("list", "what there is: variants, tasks or claims; with names, everything about each");
  list->add_option("kind", f.kind, "variants, tasks or claims")
      ->required()
      ->check(CLI::IsMember({"variants", "tasks", "claims"}));
  list->add_option("names", f.names, "names or globs");
  list->add_flag("--json", f.as_json, "as JSON");

  CLI::App *plan = app.add_subcommand("plan", "print the cases that `run` would run");
  add_plan_flags(plan, f);
  plan->add_flag("--json", f.as_json, "as JSON");

  CLI::App *run = app.add_subcommand("run", "run every selected variant on every selected task");
  add_plan_flags(run, f);
  run->add_option("--warmup", f.warmup, "unmeasured launches before the measured ones")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  run->add_option("--repetitions", f.repetitions, "measured launches a case")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  run->add_option("-o,--output", f.output, "results file (HDF5)");
  run->add_flag("--resume", f.resume, "complete what an interrupted run left in OUTPUT.partial");

  CLI::App *verify =
      app.add_subcommand("verify", "hold claims against measurement; exit 1 when one does not come out as expected");
  verify->add_option("claims", f.names, "ids or globs; default: the suite's");
  verify->add_option("--suite", f.suite, "quick, full, or the path of a TOML suite")->capture_default_str();
  CLI::Option *seed = verify->add_option("--seed", f.seed, "seed of every random input")->capture_default_str();
  verify->add_option("--point", f.points, "measure at name=value,name=value,... (repeatable)")->expected(1)->take_all();
  verify->add_option("-o,--output", f.output, "results file (HDF5)");
  verify->add_flag("--resume", f.resume, "complete what an interrupted verify left in OUTPUT.partial");
  verify->add_option("--json", f.json, "write findings as JSON");
  verify->add_option("--junit", f.junit, "write findings as JUnit XML");
  verify->add_flag("--points", f.every_point, "print every point, not one row a claim");

  CLI::App *bench = app.add_subcommand(
      "bench", "time forms on random tensors, beside the machine's ceilings and other implementations");
  bench->add_option("--variants", f.variants, "names or globs, comma-separated")->delimiter(',')->capture_default_str();
  bench->add_option("--forms", f.forms, "recurrent, fast, all, or names of forms, comma-separated")
      ->delimiter(',')
      ->capture_default_str();
  bench->add_option("--shape", f.shapes, "B,H,T,Dk,Dv (repeatable); default 2,8,4096,64,64")->expected(1)->take_all();
  bench->add_option("--sweep", f.sweeps, "T=1024:65536:*2, D=32,64,128, ... (repeatable)")->expected(1)->take_all();
  bench->add_option("--dtype", f.dtype, "f32 or f64; default f32")->check(CLI::IsMember({"f32", "f64"}));
  bench->add_option("--chunk", f.chunk, "chunk length C")->check(CLI::Range(1, 1 << 30))->capture_default_str();
  bench->add_option("--set", f.settings, "name=value, or variant.name=value (repeatable)")->expected(1)->take_all();
  bench->add_option("--min-time", f.min_seconds, "seconds of measured time a case")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  bench->add_option("--seed", f.seed, "seed of the tensors")->capture_default_str();
  bench->add_flag("--peers", f.peers, "also time PyTorch's and fla's implementations on the same tensors");
  bench->add_option("-o,--output", f.output, "results file (HDF5)");
  bench->add_option("--json", f.json, "the samples as Google Benchmark writes them");

  CLI::App *forward = app.add_subcommand("forward", "run one variant on your own tensors (HDF5)");
  forward->add_option("variant", f.variant, "see `recollect list variants`")->required();
  forward->add_option("-i,--input", f.input, "q, k, v and where needed beta, alpha, lambda, w, state")->required();
  forward->add_option("-o,--output", f.output, "o and, where one exists, state")->required();
  add_form_flags(forward, f);

  CLI::App *report = app.add_subcommand("report", "render result files as one page with figures");
  report->add_option("results", f.results, "files written by run and verify")->required();
  report->add_option("-o,--output", f.output, "folder for index.html and the figures")->required();

  CLI::App *info =
      app.add_subcommand("info", "version, build and backend; with a file, what it holds and whether it is whole");
  info->add_option("file", f.input, "a results file");
  info->add_flag("--json", f.as_json, "as JSON");

  try {
    check_subcommand(argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::Success &help) {
    return app.exit(help);
  } catch (const CLI::ParseError &failure) {
    usage_error(one_line(failure.what()));
  }

  const std::vector<std::string> command_line(argv, argv + argc);
  if (*list) return command_list(f.kind, f.names, f.as_json);
  if (*plan) return command_plan(run_request(f), f.as_json);
  if (*run) return command_run(run_request(f), {f.output, f.resume}, command_line);
  if (*verify)
    return command_verify(verify_request(f, seed->count() > 0), {f.output, f.json, f.junit, f.every_point, f.resume},
                          command_line);
  if (*bench) {
    if (bench->get_option("--dtype")->count() == 0) f.dtype = "f32";
    return command_bench(bench_request(f), {f.output, f.json, f.peers}, command_line);
  }
  if (*forward)
    return command_forward({f.variant, f.input, f.output, f.form, real_of(f.dtype), f.chunk, assignments(f.settings)},
                           command_line);
  if (*report) return command_report(f.results, f.output);
  return command_info(f.input, f.as_json);
}

/// A library that gives up ends the program by itself (the OpenMP runtime calls exit(1), an exception in the wrong place
/// calls terminate): that is the environment's failure, and says nothing about a claim.
bool finished = false;
void end_like_an_environment_failure() {
  std::atexit([] {
    if (!finished) _exit(exit_input);
  });
  std::set_terminate([] {
    const char said[] = "recollect: a library gave up, most likely for want of memory\n";
    if (write(STDERR_FILENO, said, sizeof said - 1) < 0) _exit(exit_input);
    _exit(exit_input);
  });
}

int finish(int status) {
  finished = true;
  return status;
}

} // namespace

int run_command_line(int argc, char **argv) {
  open_standard_descriptors();
  end_like_an_environment_failure();
  try {
    const int status = parse_and_run(argc, argv);
    if (!std::cout.flush()) input_error("cannot write standard output");
    return finish(status);
  } catch (const Error &failure) {
    std::cerr << "recollect: " << failure.what() << '\n';
    return finish(failure.code);
  } catch (const std::exception &failure) { // out of memory, no device, a failed kernel: the environment
    std::cerr << "recollect: " << one_line(failure.what()) << '\n';
    return finish(exit_input);
  }
}

} // namespace recollect
