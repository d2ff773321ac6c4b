// SPDX-License-Identifier: Apache-2.0
// plan and run: every selected variant on every selected task.
#include "harness/command_line/flags.hpp"
#include "harness/command_line/print.hpp"
#include "harness/command_line/progress.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/core/ranks.hpp"
#include "harness/device/backend.hpp"
#include "harness/pipeline/recorder.hpp"
#include "harness/pipeline/suite.hpp"
#include <iostream>
#include <map>

namespace recollect {
namespace {

struct PlanFlags {
  std::vector<std::string> variants{"all"}, tasks{"all"}, shapes;
  FormFlags form;
  EngineFlags engine;
  std::uint64_t seed = 1;
  int seeds = 5;
  bool json = false, tune = false;
  std::string suite;
  CLI::Option *seeds_option = nullptr;

  void add(CLI::App &c) {
    c.add_option("--variants", variants, "names or globs, comma-separated")->delimiter(',')->capture_default_str();
    c.add_option("--tasks", tasks, "names or globs, comma-separated")->delimiter(',')->capture_default_str();
    form.add(c);
    engine.add(c);
    c.get_option("--set")->description(
        "name=values or owner.name=values, with values such as 64, 0.2,0.5 or 16:512:*2 (repeatable)");
    c.add_option("--shape", shapes, "d,dv: a pair of key and value widths (repeatable; pairs are not combined)")
        ->expected(1)
        ->take_all();
    c.add_option("--seed", seed, "first seed")->capture_default_str();
    seeds_option =
        c.add_option("--seeds", seeds, "number of seeds")->check(CLI::Range(1, 1000000))->capture_default_str();
    c.add_flag("--tune", tune,
               "tune the free parameters of each layer (temperature, ridge, gates) on separate seeds first");
    c.add_option("--suite", suite,
                 "run the [[run]] entries of this TOML file (see ci/suites) instead of the flags above")
        ->excludes("--variants", "--tasks", "--set", "--shape");
  }
  RunRequest request() const {
    RunRequest r;
    r.variants = variants, r.tasks = tasks, r.form = form.form, r.real = form.real(), r.chunk = form.chunk;
    r.schedule = engine.get_schedule(), r.math = engine.get_math();
    r.seed = seed, r.seeds = seeds, r.tune = tune, r.settings = assignments(form.settings), r.shapes = shapes;
    return r;
  }
  std::vector<Experiment> experiments() const {
    if (suite.empty()) return {{request(), "", ""}};
    std::vector<Experiment> all = load_suite(suite).experiments;
    if (all.empty()) input_error(suite + " has no [[run]]");
    for (Experiment &e : all) {
      e.request.seed = seed, e.request.tune = e.request.tune || tune;
      if (seeds_option->count()) e.request.seeds = seeds;
    }
    return all;
  }
  static std::vector<Case> plan(const std::vector<Experiment> &experiments) {
    std::vector<RunRequest> requests;
    for (const Experiment &e : experiments) requests.push_back(e.request);
    return make_joint_plan(requests);
  }
};

struct RunFlags {
  PlanFlags plan;
  OutputFlags output;
  QuietFlag quiet;
  Shard shard;
  int warmup = 0, repetitions = 1;
};

/// This process's part of a plan, group by group: all of it in order, or what no other rank has begun.
class Share {
public:
  explicit Share(const std::vector<Case> &plan)
      : groups_(groups_of(plan)),
        order_(longest_first(ranks::size() > 1 ? work_of(groups_) : std::vector<double>(groups_.size()))) {}
  const Case *next() {
    if (!group_ || at_ == group_->size()) {
      const size_t drawn = counter_.next();
      if (drawn >= order_.size()) return nullptr;
      group_ = &groups_[order_[drawn]], at_ = 0;
    }
    return (*group_)[at_++];
  }

private:
  std::vector<Group> groups_;
  std::vector<size_t> order_;
  ranks::Counter counter_;
  const Group *group_ = nullptr;
  size_t at_ = 0;
};

int run(RunFlags &flags, const Words &command_line) {
  flags.output.check();
  flags.shard.parse();
  ranks::join();
  const std::vector<Experiment> experiments = flags.plan.experiments();
  const std::vector<Case> plan = PlanFlags::plan(experiments);
  if (!flags.output.path.empty()) OutputFile{flags.output.path}; // before minutes of work: can it be written at all?
  const Backend backend;
  Results start = Results::planned(plan, provenance(command_line, flags.plan.seed));
  for (const Experiment &e : experiments)
    if (!e.request.experiment.empty()) start.describe(e.request.experiment, e.title, e.printed);
  Recorder recorder(flags.output.path, std::move(start), flags.output.resume);
  Trials trials(plan, recorder.before().headlines());
  const bool quiet = flags.quiet.quiet;
  Progress progress(plan.size(), quiet || ranks::rank() != 0);
  Share share(plan);
  while (const Case *next = share.next()) {
    const Case &planned = *next;
    progress.next(planned.task->name + " " + planned.variant->name);
    if (!flags.shard.has(size_t(planned.group)) || recorder.before().has(size_t(planned.index))) continue;
    const auto [c, choice] = trials.settled(planned);
    Record record = run_case(c, flags.warmup, flags.repetitions);
    record.chosen = choice;
    if (c.setting == Setting::trial)
      if (const double *found = headline(c, record)) trials.add(c, *found);
    if (c.setting == Setting::trial || (quiet && record.status != "failed")) {
      recorder.add([] {}, record);
    } else {
      const Case reported = c;
      recorder.add([=, &progress] { progress.done(), print_record(std::cout, reported, record); }, record);
    }
  }
  recorder.finish();
  progress.done();
  if (ranks::rank() != 0) return exit_ok; // rank 0 has everything and speaks for all
  std::map<std::string, int> counts;
  for (const std::string &status : recorder.results().statuses()) ++counts[status];
  if (!quiet) print_cells(std::cout, recorder.results());
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
  example(c, "recollect plan --variants all --tasks recall --set n=16:512:*2");
  return [flags](const Words &) {
    const std::vector<Case> plan = PlanFlags::plan(flags->experiments());
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
  c.add_option("--repetitions", flags->repetitions, "measured launches per case")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  flags->shard.add(c);
  flags->output.add(c);
  flags->quiet.add(c);
  add_memory_flag(c);
  example(c, "recollect run --variants delta_net,softmax --tasks recall --set n=8:64:*2 --tune -o r.h5");
  return [flags](const Words &command_line) { return run(*flags, command_line); };
}

} // namespace recollect
