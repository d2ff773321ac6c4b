// SPDX-License-Identifier: Apache-2.0
// The command `train`: trains small models that have any layer as their token mixer.
#include "harness/command_line/flags.hpp"
#include "harness/command_line/progress.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/command_line/table.hpp"
#include "harness/device/backend.hpp"
#include "harness/numerics/statistics.hpp"
#include "harness/run/plan.hpp"
#include "harness/run/provenance.hpp"
#include "harness/run/run.hpp"
#include "harness/system/files.hpp"
#include "harness/system/memory.hpp"
#include "harness/system/ranks.hpp"
#include "harness/train/statements.hpp"
#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>
#include <list>
#include <set>

namespace recollect {
namespace {

using namespace train;

struct TrainFlags {
  std::vector<std::string> settings;
  std::string suite, corpus;
  std::vector<std::string> judged;
  std::uint64_t seed = 1;
  int seeds = 1, at_once = 0; // 0: as many as the machine can train at once
  OutputFlags output;
  QuietFlag quiet;
  CLI::Option *seeds_option = nullptr;

  Suite chosen() const {
    if (suite.empty()) {
      Suite one;
      one.trainings.emplace_back();
      one.trainings[0].request.settings = assignments(settings), one.trainings[0].request.seeds = seeds;
      return one;
    }
    Suite found = load_suite(suite);
    if (found.trainings.empty()) input_error(suite + " has no [[train]]");
    for (Experiment &e : found.trainings)
      if (seeds_option->count()) e.request.seeds = seeds;
    return found;
  }
};

/// Every setting of a run, and every parameter of its layer, as texts.
Assignments described(const TrainingRun &run) {
  Assignments all;
  const auto put = [&](const std::string &prefix, const Params &params) {
    for (const auto &[name, value] : params)
      all[prefix + name] = value.text.empty() ? number(value.number) : value.text;
  };
  put("", run.setup.settings), put(run.setup.mixer() + ".", run.setup.mixer_params);
  return all;
}

/// A label for each run: its layer, its experiment, and the settings that differ between runs, except seeds.
std::vector<std::string> labels_of(const std::vector<TrainingRun> &plan) {
  std::map<std::string, std::set<std::string>> values;
  for (const TrainingRun &run : plan)
    for (const auto &[name, value] : described(run)) values[name].insert(value);
  std::vector<std::string> labels;
  for (const TrainingRun &run : plan) {
    std::vector<std::string> parts{run.setup.mixer()};
    if (!run.experiment.empty()) parts.insert(parts.begin(), run.experiment);
    for (const auto &[name, value] : described(run))
      if (name != "mixer" && values[name].size() > 1) parts.push_back(name + "=" + value);
    labels.push_back(join(parts, " "));
  }
  return labels;
}

/// A model of the plan while it is being trained.
class Underway {
public:
  Underway(size_t model, const TrainingRun &run, TrainingRecord &record)
      : index(model), run_(run), record_(record), trainer_(run.setup, run.seed) {
    if (auto kept = record.kept(model)) trainer_.restore(std::move(*kept));
  }
  /// Waits for the steps that were begun, collects their loss, and updates the progress line. False once the model is
  /// trained.
  bool goes_on(const std::string &label, Progress &progress) {
    trainer_.end();
    if (trainer_.done()) return false;
    if (record_.due()) record_.keep(index, trainer_.state());
    const std::vector<CurvePoint> &curve = trainer_.progressed().curve;
    steps_ = trainer_.together();
    progress.next(label + " seed " + std::to_string(run_.seed) +
                      (curve.empty() ? "" : ", loss " + number(std::round(1e3 * curve.back().loss) / 1e3)),
                  size_t(steps_));
    return true;
  }
  /// Begins step i of the steps that the next call of goes_on() waits for.
  void begin(int i) {
    if (i < steps_) trainer_.begin();
  }
  /// Tests the trained model and adds it to the record. `report` is called once the record is written.
  void evaluate(const std::function<void(size_t, const Trained &)> &report) {
    train::Judged judged = trainer_.evaluate();
    // A trained model may still diverge in the test, for example on longer texts.
    const bool diverged = trainer_.progressed().diverged || !std::isfinite(judged.loss);
    if (diverged) judged = {};
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    const Params &settings = run_.setup.settings;
    Trained trained{diverged, judged.loss, judged.accuracy(), chance(settings), passed.count(), {}};
    if (settings.text("task") == "words")
      trained.metrics["length"] = solved_length(judged.answers, held_out_length(settings));
    if (const Variant *layer = run_.setup.layer()) {
      const int D = head_width(settings), H = settings.integer("heads"), T = text_length(settings);
      const Real real = settings.text("dtype") == "f32" ? Real::f32 : Real::f64;
      trained.metrics["state_bytes"] =
          settings.integer("layers") * H * state_bytes(*layer, {1, H, T, D, D}, run_.setup.mixer_params, real);
    }
    record_.add(index, trainer_.progressed(), trained, [report, trained, i = index] { report(i, trained); });
  }

  const size_t index;

private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const TrainingRun &run_;
  TrainingRecord &record_;
  Trainer trainer_;
  int steps_ = 0;
};

std::string rounded(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", x);
  return text;
}

std::string solved(const Trained &trained) {
  const auto length = trained.metrics.find("length");
  return length == trained.metrics.end() ? "" : "longest word " + number(length->second) + ", ";
}

/// Prints the accuracy of each label: mean and standard error over seeds.
void print_summary(const std::vector<std::string> &labels, const TrainingRecord &record) {
  for (size_t i = 0; i < labels.size();) {
    std::vector<double> accuracies;
    int diverged = 0;
    const double chance = record.trained(i)->chance;
    const std::string &label = labels[i];
    for (; i < labels.size() && labels[i] == label; ++i) {
      const Trained one = *record.trained(i);
      accuracies.push_back(one.accuracy), diverged += one.diverged;
    }
    const Mean mean = mean_of(accuracies);
    std::string line = label + ": accuracy " + rounded(mean.mean);
    if (accuracies.size() > 1) line += " +- " + rounded(mean.standard_error);
    line += " over " + std::to_string(accuracies.size()) + (accuracies.size() > 1 ? " seeds" : " seed") + ", chance " +
            rounded(chance);
    if (diverged) line += ", " + std::to_string(diverged) + " diverged";
    std::cout << folded(line) << '\n';
  }
}

std::string shown(const Side &side) {
  if (side.seeds == 0) return "";
  const std::string interval =
      side.low <= side.high ? " (" + rounded(side.low) + " to " + rounded(side.high) + ")" : "";
  return rounded(side.mean) + interval + (side.diverged ? ", " + std::to_string(side.diverged) + " diverged" : "");
}

void print_rulings(const std::vector<Statement> &statements, const std::vector<Ruling> &all) {
  Rows rows{{"verdict", "row", "experiment", "statement", "found", "compared with", "p", "adjusted", "paper"}};
  for (size_t i = 0; i < all.size(); ++i)
    rows.push_back({all[i].verdict, statements[i].row, statements[i].experiment, says(statements[i]),
                    shown(all[i].first), shown(all[i].second), std::isnan(all[i].p) ? "" : rounded(all[i].p),
                    std::isnan(all[i].adjusted) ? "" : rounded(all[i].adjusted), statements[i].paper});
  print_table(std::cout, rows);
}

/// For --judge: judges the suite's statements by models that earlier runs trained.
int judge(const TrainFlags &flags) {
  refuse_overlap({flags.output.path}, flags.judged);
  const Suite suite = flags.chosen();
  const std::vector<Statement> &statements = suite.statements;
  if (statements.empty()) input_error(flags.suite + " has no [[statement]]");
  std::vector<Results> files;
  for (const std::string &path : flags.judged) files.push_back(read_trainings(path));
  Results all = joined_trainings(
      files, planned_trainings(
                 training_plan(suite.trainings, flags.seed, flags.corpus.empty() ? nullptr : load_corpus(flags.corpus)),
                 suite.trainings));
  const std::string given =
      flags.judged.size() > 3 ? std::to_string(flags.judged.size()) + " files" : join(flags.judged, " ");
  all.meta.emplace_back("command_line", "recollect train --suite " + flags.suite + " --judge " + given);
  const std::vector<Ruling> ruled = rule_all(statements, models_of(all));
  all.add({table_of(statements, ruled)});
  if (!flags.output.path.empty()) OutputFile(flags.output.path).publish(all.image());
  print_rulings(statements, ruled);
  return exit_ok;
}

/// The runs that are not trained yet, in the order of the plan. If several ranks share the runs, the longest come
/// first.
std::vector<size_t> left_to_train(const std::vector<TrainingRun> &plan, const TrainingRecord &record) {
  std::vector<double> work;
  for (const TrainingRun &run : plan) {
    const Params &s = run.setup.settings;
    work.push_back(ranks::size() == 1 ? 0 : double(s.integer("steps")) * s.integer("batch") * text_length(s));
  }
  std::vector<size_t> left;
  for (size_t i : longest_first(work))
    if (!record.trained(i)) left.push_back(i);
  return left;
}

/// Trains those runs of the plan whose indices are in `left`: up to `at_once` at a time, or fewer if the device does
/// not have enough memory.
void train_all(const std::vector<size_t> &left, int at_once, const std::vector<TrainingRun> &plan,
               const std::vector<std::string> &labels, TrainingRecord &record, Progress &progress,
               const std::function<void(size_t, const Trained &)> &report) {
  const std::optional<std::uint64_t> free_at_first = device_memory_free();
  ranks::Counters counter;
  std::list<Underway> underway;
  for (bool more = true; more || !underway.empty();) {
    if (more && underway.size() < size_t(at_once) &&
        room_for_another(underway.size(), free_at_first, device_memory_free())) {
      const size_t drawn = counter.next();
      more = drawn < left.size();
      if (more) underway.emplace_back(left[drawn], plan[left[drawn]], record);
    }
    for (auto model = underway.begin(); model != underway.end();) {
      if (model->goes_on(labels[model->index], progress)) {
        ++model;
      } else {
        model->evaluate(report);
        model = underway.erase(model);
      }
    }
    for (int i = 0; i < int(Model::most_begun); ++i) // in turns, because a GPU's queue holds a limited number of steps
      for (Underway &model : underway) model.begin(i);
  }
}

int run_train(const TrainFlags &flags, const Words &command_line) {
  flags.output.check();
  if (!flags.judged.empty()) return judge(flags);
  ranks::join();
  refuse_overlap({flags.output.path}, {flags.corpus});
  const Suite suite = flags.chosen();
  const std::vector<Experiment> &experiments = suite.trainings;
  const std::vector<TrainingRun> plan =
      training_plan(experiments, flags.seed, flags.corpus.empty() ? nullptr : load_corpus(flags.corpus));
  if (!flags.output.path.empty()) OutputFile{flags.output.path};
  const Backend backend;
  keep_freed_memory();
  TrainingRecord record(flags.output.path, plan, experiments, provenance(command_line, flags.seed),
                        flags.output.resume);
  const std::vector<std::string> labels = labels_of(plan);
  if (ranks::rank() == 0) // fails before training if the statements cannot be judged
    rule_all(suite.statements, models_of(record.results()));
  const std::vector<size_t> left = left_to_train(plan, record);
  size_t steps = 0;
  for (size_t i : left) steps += size_t(plan[i].setup.settings.integer("steps"));
  Progress progress(steps / size_t(ranks::size()), flags.quiet.quiet || ranks::rank() != 0);
  train_all(left, flags.at_once ? flags.at_once : Model::side_by_side(), plan, labels, record, progress,
            [&](size_t i, const Trained &trained) {
              if (flags.quiet.quiet) return;
              progress.done();
              const std::string found = trained.diverged ? "diverged"
                                                         : "accuracy " + rounded(trained.accuracy) + ", loss " +
                                                               rounded(trained.loss) + ", " + solved(trained) +
                                                               rounded(trained.seconds) + " s";
              std::cout << folded(labels[i] + ", seed " + std::to_string(plan[i].seed) + ": " + found) << std::endl;
            });
  progress.done();
  std::vector<Ruling> ruled;
  record.finish([&](const Results &results) {
    ruled = rule_all(suite.statements, models_of(results));
    return table_of(suite.statements, ruled);
  });
  if (ranks::rank() != 0) return exit_ok; // rank 0 has all results and prints them
  print_summary(labels, record);
  if (!ruled.empty()) std::cout << '\n', print_rulings(suite.statements, ruled);
  return exit_ok;
}

std::string settings_help() {
  std::string text = "Settings:\n";
  for (const ParamSpec &spec : settings())
    text += "  " + spec.name + " [" + spec.default_text() + "]: " + spec.meaning +
            (spec.kind == ParamSpec::choice && spec.name != "mixer" ? " (" + join(spec.choices, ", ") + ")" : "") +
            "\n";
  return text +
         "Example: recollect train --set mixer=softmax,vla --set convolution=0,2 --set pairs=8 --seeds 5 -o t.h5";
}

} // namespace

Action add_train(CLI::App &app) {
  const auto flags = std::make_shared<TrainFlags>();
  CLI::App &c = *app.add_subcommand("train", "train small models with a layer as token mixer");
  c.add_option("--set", flags->settings,
               "name=values of a setting, or LAYER.name=values of a layer's parameter, with values such as 64, 0.2,0.5 "
               "or 16:512:*2 (repeatable)")
      ->expected(1)
      ->take_all();
  CLI::Option *suite =
      c.add_option("--suite", flags->suite,
                   "train the [[train]] entries of this TOML file and judge its statements; the folder suites has "
                   "examples")
          ->excludes("--set");
  c.add_option("--judge", flags->judged,
               "train nothing: judge the suite's statements with the models in these files; -o joins the files")
      ->needs(suite)
      ->excludes("--set");
  c.add_option("--corpus", flags->corpus, "file whose bytes task=text predicts; its last tenth is held out");
  c.add_option("--seed", flags->seed, "first seed")->capture_default_str();
  flags->seeds_option =
      c.add_option("--seeds", flags->seeds, "number of seeds")->check(CLI::Range(1, 1000000))->capture_default_str();
  c.add_option(
       "--at-once", flags->at_once,
       "models trained at the same time; default: 8 on a GPU if they fit into its memory, 1 on a host (there, use "
       "mpirun)")
      ->check(CLI::Range(1, 1000));
  flags->output.add(c);
  flags->quiet.add(c);
  c.footer(settings_help());
  return [flags](const Words &command_line) { return run_train(*flags, command_line); };
}

} // namespace recollect
