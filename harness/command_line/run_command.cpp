// SPDX-License-Identifier: Apache-2.0
// The commands `plan` and `run`, which print or run the cases of every selected variant on every selected task.
#include "harness/command_line/flags.hpp"
#include "harness/command_line/print.hpp"
#include "harness/command_line/progress.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/lookup.hpp"
#include "harness/device/backend.hpp"
#include "harness/files/recorder.hpp"
#include "harness/files/suite.hpp"
#include "harness/run/estimate.hpp"
#include "harness/run/hand_out.hpp"
#include "harness/run/run.hpp"
#include "harness/system/ranks.hpp"
#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <unistd.h>

namespace recollect {
namespace {

struct PlanFlags {
  std::vector<std::string> variants{"all"}, tasks{"all"}, shapes;
  FormFlags form;
  EngineFlags engine;
  std::uint64_t seed = 1;
  int seeds = 5;
  bool json = false, tune = false;
  std::string suite, state_bytes;
  CLI::Option *seeds_option = nullptr, *tasks_option = nullptr, *variants_option = nullptr;

  void add(CLI::App &c) {
    variants_option =
        c.add_option("--variants", variants, "names or globs, comma-separated")->delimiter(',')->capture_default_str();
    tasks_option =
        c.add_option("--tasks", tasks, "names or globs, comma-separated")->delimiter(',')->capture_default_str();
    form.add(c);
    engine.add(c);
    c.get_option("--set")->description(
        "name=values for every layer and task with this parameter, or OWNER.name=values for the layer or task OWNER; "
        "values such as 64, 0.2,0.5 or 16:512:*2 (repeatable)");
    c.add_option("--shape", shapes, "d,dv: key and value width (repeatable; each pair is one case)")
        ->expected(1)
        ->take_all();
    c.add_option("--seed", seed, "first seed")->capture_default_str();
    seeds_option =
        c.add_option("--seeds", seeds, "number of seeds")->check(CLI::Range(1, 1000000))->capture_default_str();
    c.add_flag("--tune", tune,
               "tune the free parameters of each layer (temperature, ridge, gates) on separate seeds first");
    c.add_option(
         "--state-bytes", state_bytes,
         "a number of bytes, such as 32K: give each layer the largest widths d and dv at which its state takes at most "
         "so many bytes (per head, in --dtype); then tune the layers and rank them. By default on the task recall with "
         "10 seeds")
        ->excludes("--shape");
    c.add_option("--suite", suite,
                 "run the [[run]] entries of this TOML file instead of the flags above; the folder suites has "
                 "examples")
        ->excludes("--variants", "--tasks", "--set", "--shape", "--state-bytes");
  }
  RunRequest request() const {
    RunRequest r;
    r.variants = variants, r.tasks = tasks, r.form = form.form;
    static_cast<ExecutionOptions &>(r) = engine.get(form.real(), form.chunk);
    r.seed = seed, r.seeds = seeds, r.tune = tune, r.settings = assignments(form.settings), r.shapes = shapes;
    if (state_bytes.empty()) return r;
    r.state_bytes = double(parse_bytes(state_bytes, "--state-bytes")), r.tune = true;
    if (!seeds_option->count()) r.seeds = 10; // 5 seeds are too few to show a difference
    if (!tasks_option->count()) r.tasks = {"recall"};
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
  std::vector<std::string> metrics, compare;
  int warmup = 0, repetitions = 1;
  bool every_case = false;
};

/// The metrics asked for, spelt as the tasks spell them.
std::vector<std::string> known_metrics(const std::vector<std::string> &asked, const std::vector<Case> &plan) {
  std::vector<std::string> known{"deviation"}, found; // approximate forms report this metric on any task
  for (const Case &c : plan)
    for (const Metric &metric : c.task->metrics)
      if (std::find(known.begin(), known.end(), metric.name) == known.end()) known.push_back(metric.name);
  for (const std::string &name : asked) {
    const auto same = std::find_if(known.begin(), known.end(), [&](const auto &k) { return lookup::same(k, name); });
    if (same == known.end() && name != "all")
      usage_error("no selected task has the metric '" + name + "'" + suggestion(name, known));
    found.push_back(name == "all" ? name : *same);
  }
  return found;
}

/// Names of the layers to compare. Usage error if one of them does not run or is named twice, or if there is only one.
std::vector<std::string> compared_layers(const std::vector<std::string> &asked, const std::vector<Case> &plan) {
  std::vector<std::string> layers;
  for (const std::string &name : asked) {
    layers.push_back(find_variant(name).name);
    if (std::count(layers.begin(), layers.end(), layers.back()) > 1)
      usage_error("--compare names '" + layers.back() + "' twice");
    if (std::none_of(plan.begin(), plan.end(), [&](const Case &c) { return c.variant->name == layers.back(); }))
      usage_error("--compare names '" + layers.back() + "', which is not among the layers that run");
  }
  if (layers.size() == 1) usage_error("--compare needs at least two layers, comma-separated");
  return layers;
}

/// A rough duration, such as "25 min".
std::string duration_text(double seconds) {
  const auto whole = [](double x) { return std::to_string(std::lround(x)); };
  return seconds < 1        ? "a second"
         : seconds < 90     ? whole(seconds) + " s"
         : seconds < 5400   ? whole(seconds / 60) + " min"
         : seconds < 172800 ? whole(seconds / 3600) + " h"
                            : whole(seconds / 86400) + " days";
}

/// Prints how long a large plan will take before it starts. It asks no question, because the user may be away.
void say_cost(const std::vector<Case> &plan, const std::vector<const Case *> &left, const RunFlags &flags) {
  constexpr size_t many = 100;
  constexpr double heavy = 2e10; // number of operations that take about ten seconds
  double work = 0;
  for (double group : work_of(groups_of(plan))) work += group;
  if (left.size() <= many && work < heavy) return;
  const Estimate cost = estimate(left, 1.0, [&](const Case &c) {
    const auto start = std::chrono::steady_clock::now();
    run_case(c, flags.warmup, flags.repetitions);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  const double seconds = cost.seconds / double(ranks::size());
  std::string said = size_of(plan) + (left.size() < plan.size() ? ", " + std::to_string(left.size()) + " left" : "") +
                     "; about " + duration_text(seconds) + " (" + std::to_string(cost.tried) + " were timed)";
  if (seconds > 600)
    said += flags.output.path.empty()
                ? "; with -o FILE it can be interrupted and resumed; `recollect plan` lists the cases"
                : "; it can be interrupted and completed by --resume";
  std::cerr << folded(said) << std::endl;
}

/// For each group of cases, the layer, form and type, which determine the kernels that run.
std::vector<std::string> kinds_of(const std::vector<Group> &groups) {
  std::vector<std::string> kinds;
  for (const Group &group : groups) {
    const Case &c = *group.front();
    kinds.push_back(c.variant->name + " " + c.form->name + " " + name_of(c.real));
  }
  return kinds;
}

/// The cases of a plan that this process runs. A single process runs all in order. One of several ranks takes the next
/// group of cases that no other rank has started.
class Share {
public:
  explicit Share(const std::vector<Case> &plan)
      : groups_(groups_of(plan)), hand_out_(kinds_of(groups_), work_of(groups_)), counters_(hand_out_.counters()) {}
  const Case *next() {
    if (!group_ || at_ == group_->size()) {
      const std::optional<size_t> drawn = hand_out_.next(counters_);
      if (!drawn) return nullptr;
      group_ = &groups_[*drawn], at_ = 0;
    }
    return (*group_)[at_++];
  }

private:
  std::vector<Group> groups_;
  HandOut hand_out_;
  ranks::Counters counters_;
  const Group *group_ = nullptr;
  size_t at_ = 0;
};

int run(RunFlags &flags, const Words &command_line) {
  flags.output.check();
  flags.shard.parse();
  ranks::join();
  if (!flags.compare.empty() && !flags.plan.variants_option->count() && flags.plan.suite.empty())
    flags.plan.variants = flags.compare;
  const std::vector<Experiment> experiments = flags.plan.experiments();
  const std::vector<Case> plan = PlanFlags::plan(experiments);
  const std::vector<std::string> metrics = known_metrics(flags.metrics, plan),
                                 layers = compared_layers(flags.compare, plan);
  if (!flags.output.path.empty())
    OutputFile{flags.output.path}; // fails before minutes of work if the file cannot be written
  const Backend backend;
  keep_freed_memory();
  Results start = Results::planned(plan, provenance(command_line, flags.plan.seed));
  for (const Experiment &e : experiments)
    if (!e.request.experiment.empty()) start.describe(e.request.experiment, e.title, e.printed);
  Recorder recorder(flags.output.path, std::move(start), flags.output.resume);
  Trials trials(plan, recorder.before().headlines(plan));
  const bool quiet = flags.quiet.quiet;
  const auto is_left = [&](const Case &c) {
    return flags.shard.has(size_t(c.group)) && !recorder.before().has(size_t(c.index));
  };
  std::vector<const Case *> left;
  for (const Case &c : plan)
    if (is_left(c)) left.push_back(&c);
  if (!quiet && ranks::rank() == 0) say_cost(plan, left, flags);
  Progress progress(plan.size(), quiet || ranks::rank() != 0);
  Share share(plan);
  while (const Case *next = share.next()) {
    const Case &planned = *next;
    progress.next(planned.task->name + " " + planned.variant->name);
    if (!is_left(planned)) continue;
    const auto [c, choice] = trials.settled(planned);
    Record record = run_case(c, flags.warmup, flags.repetitions);
    record.chosen = choice;
    if (c.setting == Setting::trial)
      if (const double *found = headline(c, record)) trials.add(c, *found);
    if (record.status != "failed" && (c.setting == Setting::trial || quiet || !flags.every_case)) {
      recorder.add([] {}, record);
    } else {
      const Case reported = c;
      recorder.add([=, &progress] { progress.done(), print_record(std::cout, reported, record); }, record);
    }
  }
  recorder.finish();
  progress.done();
  if (ranks::rank() != 0) return exit_ok; // rank 0 has all results and prints them
  std::map<std::string, int> counts;
  for (const std::string &status : recorder.results().statuses()) ++counts[status];
  if (!quiet) {
    const std::vector<Ensemble> all = ensembles_of(recorder.results());
    print_remarks(std::cout, recorder.results());
    if (flags.plan.state_bytes.empty() || !metrics.empty()) print_cells(std::cout, all, metrics);
    if (!flags.plan.state_bytes.empty())
      print_ranking(std::cout, all, experiments[0].request.state_bytes, flags.every_case);
    if (!layers.empty()) print_comparisons(std::cout, all, layers, metrics);
  }
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
  c.add_option("--metric", flags->metrics,
               "metrics to show in the tables, comma-separated, or all; default: the first metric of each task (see "
               "`recollect list tasks`)")
      ->delimiter(',');
  c.add_option("--compare", flags->compare,
               "layers, comma-separated: for every two of them, print the difference of their results over the seeds "
               "that they share, its interval and the p-value; without --variants no other layers run")
      ->delimiter(',');
  c.add_flag("-v,--verbose", flags->every_case, "print a line per case; with --state-bytes, compare every two layers");
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
