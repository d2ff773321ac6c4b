// SPDX-License-Identifier: Apache-2.0
// plan and run: every selected variant on every selected task.
#include "harness/command_line/flags.hpp"
#include "harness/command_line/print.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/device/backend.hpp"
#include "harness/pipeline/plan.hpp"
#include "harness/pipeline/recorder.hpp"
#include <iostream>
#include <map>

namespace recollect {
namespace {

struct PlanFlags {
  std::vector<std::string> variants{"all"}, tasks{"all"};
  FormFlags form;
  EngineFlags engine;
  std::uint64_t seed = 1;
  int seeds = 1;
  bool json = false;

  void add(CLI::App &c) {
    c.add_option("--variants", variants, "names or globs, comma-separated")->delimiter(',')->capture_default_str();
    c.add_option("--tasks", tasks, "names or globs, comma-separated")->delimiter(',')->capture_default_str();
    form.add(c);
    engine.add(c);
    c.get_option("--set")->description(
        "name=values or owner.name=values, values as 64, 0.2,0.5 or 16:512:*2 (repeatable)");
    c.add_option("--seed", seed, "first seed")->capture_default_str();
    c.add_option("--seeds", seeds, "number of seeds")->check(CLI::Range(1, 1000000))->capture_default_str();
  }
  RunRequest request() const {
    RunRequest r;
    r.variants = variants, r.tasks = tasks, r.form = form.form, r.real = form.real(), r.chunk = form.chunk;
    r.schedule = engine.get_schedule(), r.math = engine.get_math();
    r.seed = seed, r.seeds = seeds, r.settings = assignments(form.settings);
    return r;
  }
};

struct RunFlags {
  PlanFlags plan;
  OutputFlags output;
  Shard shard;
  int warmup = 0, repetitions = 1;
};

int run(RunFlags &flags, const Words &command_line) {
  flags.output.check();
  flags.shard.parse();
  const std::vector<Case> plan = make_plan(flags.plan.request());
  if (!flags.output.path.empty()) OutputFile{flags.output.path}; // before minutes of work: can it be written at all?
  const Backend backend;
  Recorder recorder(flags.output.path, Results::planned(plan, provenance(command_line, flags.plan.seed)),
                    flags.output.resume);
  for (const Case &c : plan) {
    if (!flags.shard.has(size_t(c.index)) || recorder.results().has(size_t(c.index))) continue;
    const Record record = run_case(c, flags.warmup, flags.repetitions);
    recorder.add([=] { print_record(std::cout, c, record); }, record);
  }
  recorder.finish();
  std::map<std::string, int> counts;
  for (const std::string &status : recorder.results().statuses()) ++counts[status];
  std::cout << counts["ok"] << " ok, " << counts["meaningless"] << " meaningless, ";
  if (counts["skipped"]) std::cout << counts["skipped"] << " skipped, ";
  std::cout << counts["failed"] << " failed\n";
  return counts["failed"] ? exit_failed : exit_ok;
}

} // namespace

Action add_plan(CLI::App &app) {
  const auto flags = std::make_shared<PlanFlags>();
  CLI::App &c = *app.add_subcommand("plan", "print the cases that `run` would run");
  flags->add(c);
  c.add_flag("--json", flags->json, "as JSON");
  return [flags](const Words &) {
    const std::vector<Case> plan = make_plan(flags->request());
    flags->json ? print_plan_json(std::cout, plan) : print_plan(std::cout, plan);
    return int(exit_ok);
  };
}

Action add_run(CLI::App &app) {
  const auto flags = std::make_shared<RunFlags>();
  CLI::App &c = *app.add_subcommand("run", "run every selected variant on every selected task");
  flags->plan.add(c);
  c.add_option("--warmup", flags->warmup, "unmeasured launches before the measured ones")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  c.add_option("--repetitions", flags->repetitions, "measured launches a case")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  flags->shard.add(c);
  flags->output.add(c);
  add_memory_flag(c);
  return [flags](const Words &command_line) { return run(*flags, command_line); };
}

} // namespace recollect
