// SPDX-License-Identifier: Apache-2.0
#include "harness/train/training_record.hpp"
#include "harness/call/forward.hpp"
#include "harness/core/registry.hpp"
#include "harness/system/ranks.hpp"
#include "harness/train/statements.hpp"
#include <algorithm>
#include <map>
#include <set>

namespace recollect::train {
namespace {

constexpr Kind whole = Kind::whole, integer = Kind::integer, real = Kind::real, text = Kind::text;

Table no_metrics() { return {"trained_metrics", {{"run", integer}, {"metric", text}, {"value", real}}, {}}; }

std::vector<Table> tables_of(const std::vector<TrainingRun> &plan, const std::vector<Experiment> &experiments) {
  Table runs{"training_plan", {{"run", integer}, {"experiment", text}, {"mixer", text}, {"seed", whole}}, {}},
      parameters{"training_parameters",
                 {{"run", integer}, {"owner", text}, {"name", text}, {"value", real}, {"text", text}},
                 {}},
      titles{"experiments", {{"experiment", text}, {"title", text}, {"printed", text}}, {}};
  for (size_t i = 0; i < plan.size(); ++i) {
    const Setup &setup = plan[i].setup;
    runs.add(i, plan[i].experiment, setup.mixer(), plan[i].seed);
    for (const auto &[name, value] : setup.settings) parameters.add(i, "train", name, value.number, value.text);
    for (const auto &[name, value] : setup.mixer_params)
      parameters.add(i, setup.mixer(), name, value.number, value.text);
  }
  for (const Experiment &e : experiments)
    if (!e.request.experiment.empty()) titles.add(e.request.experiment, e.title, e.printed);
  return {
      runs,
      parameters,
      titles,
      {"trained",
       {{"run", integer}, {"status", text}, {"loss", real}, {"accuracy", real}, {"chance", real}, {"seconds", real}},
       {}},
      no_metrics(),
      table_of({}, {}),
      {"training_curves", {{"run", integer}, {"step", integer}, {"loss", real}, {"accuracy", real}}, {}},
      // For an unfinished run: first a row with the number of steps made (in the column `value`) and the sums of loss
      // and of accuracy since the last point of the curve (`first`, `second`). Then a row per parameter of the model,
      // with its value and AdamW's two moments.
      {"training_state", {{"run", integer}, {"value", real}, {"first", real}, {"second", real}}, {}}};
}

std::map<std::string, double> metrics_of(const Results &results, size_t run) {
  std::map<std::string, double> found;
  const Table *metrics = trained_metrics(results);
  for (size_t row = 0; metrics && row < metrics->rows.size(); ++row)
    if (metrics->get<std::int64_t>(row, "run") == std::int64_t(run))
      found[metrics->get<std::string>(row, "metric")] = metrics->get<double>(row, "value");
  return found;
}

void forget(Table &table, size_t run) {
  const auto ours = [&](const auto &row) { return std::get<std::int64_t>(row[0]) == std::int64_t(run); };
  table.rows.erase(std::remove_if(table.rows.begin(), table.rows.end(), ours), table.rows.end());
}
void add_curve(Table &curves, size_t run, const std::vector<CurvePoint> &curve) {
  forget(curves, run);
  for (const CurvePoint &p : curve) curves.add(run, p.step, p.loss, p.accuracy);
}

} // namespace

std::vector<TrainingRun> training_plan(const std::vector<Experiment> &experiments, std::uint64_t seed,
                                       const std::shared_ptr<const Corpus> &corpus) {
  std::vector<TrainingRun> plan;
  const std::string identity = corpus ? corpus->identity() : "";
  for (const Experiment &e : experiments)
    for (Setup &setup : setups(e.request.settings)) {
      check_corpus(setup.settings, corpus.get());
      setup.corpus = corpus;
      if (corpus) setup.settings.set("corpus", identity);
      for (int i = 0; i < e.request.seeds; ++i) plan.push_back({e.request.experiment, setup, seed + std::uint64_t(i)});
    }
  return plan;
}

const Table *trained_metrics(const Results &results) {
  for (const Table &table : results.tables())
    if (table.name == no_metrics().name) return &table;
  return nullptr;
}

Trained trained_of(const Table &trained, size_t row) {
  return {trained.get<std::string>(row, "status") == "diverged", trained.get<double>(row, "loss"),
          trained.get<double>(row, "accuracy"), trained.get<double>(row, "chance"),
          trained.get<double>(row, "seconds")};
}
CurvePoint point_of(const Table &curves, size_t row) {
  return {int(curves.get<std::int64_t>(row, "step")), curves.get<double>(row, "loss"),
          curves.get<double>(row, "accuracy")};
}

TrainingRecord::TrainingRecord(const std::string &path, const std::vector<TrainingRun> &plan,
                               const std::vector<Experiment> &experiments, Facts meta, bool resume,
                               std::function<Recorder::Clock::time_point()> now)
    : recorder_(path, Results::of(tables_of(plan, experiments), std::move(meta)), resume, std::move(now)) {}

std::optional<Trained> TrainingRecord::trained(size_t run) const {
  for (const Results *results : {&recorder_.results(), &recorder_.before()}) {
    const Table &table = results->table("trained");
    for (size_t row = 0; row < table.rows.size(); ++row)
      if (table.get<std::int64_t>(row, "run") == std::int64_t(run)) {
        Trained found = trained_of(table, row);
        found.metrics = metrics_of(*results, run);
        return found;
      }
  }
  return std::nullopt;
}

std::optional<TrainingState> TrainingRecord::kept(size_t run) const {
  const Table &table = recorder_.before().table("training_state"),
              &curves = recorder_.before().table("training_curves");
  TrainingState state;
  bool begun = false;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    if (table.get<std::int64_t>(row, "run") != std::int64_t(run)) continue;
    const double value = table.get<double>(row, "value"), first = table.get<double>(row, "first"),
                 second = table.get<double>(row, "second");
    if (!std::exchange(begun, true))
      state.step = int(value), state.running = {first, second};
    else
      state.parameters.push_back(value), state.first.push_back(first), state.second.push_back(second);
  }
  if (!begun) return std::nullopt;
  for (size_t row = 0; row < curves.rows.size(); ++row)
    if (curves.get<std::int64_t>(row, "run") == std::int64_t(run)) state.curve.push_back(point_of(curves, row));
  return state;
}

void TrainingRecord::keep(size_t run, const TrainingState &state) {
  Table table = recorder_.results().table("training_state"), curves = recorder_.results().table("training_curves");
  forget(table, run);
  table.add(run, state.step, state.running[0], state.running[1]);
  for (size_t i = 0; i < state.parameters.size(); ++i)
    table.add(run, state.parameters[i], state.first[i], state.second[i]);
  add_curve(curves, run, state.curve);
  recorder_.add([] {}, std::vector<Table>{table, curves});
}

void TrainingRecord::add(size_t run, const Progressed &progressed, const Trained &trained,
                         std::function<void()> report) {
  const Results &now = recorder_.results();
  Table table = now.table("trained"), metrics = now.table("trained_metrics"), curves = now.table("training_curves"),
        under_way = now.table("training_state");
  table.add(run, trained.diverged ? "diverged" : "ok", trained.loss, trained.accuracy, trained.chance, trained.seconds);
  for (const auto &[name, value] : trained.metrics) metrics.add(run, name, value);
  add_curve(curves, run, progressed.curve);
  forget(under_way, run);
  recorder_.add(std::move(report), std::vector<Table>{table, metrics, curves, under_way});
}

void TrainingRecord::finish(const std::function<Table(const Results &)> &statements) {
  recorder_.gather();
  if (ranks::rank() == 0)
    if (const Table ruled = statements(results()); !(ruled == results().table(ruled.name)))
      recorder_.add([] {}, std::vector<Table>{ruled});
  recorder_.finish();
}

namespace {

/// A text that identifies a run: experiment, seed, settings and parameters.
std::string identity(const TrainedModel &model) {
  std::string all = model.experiment + '\n' + std::to_string(model.seed);
  for (const auto &[name, value] : model.settings) all += '\n' + name + '=' + value;
  return all;
}

/// "a; b; a; " -> "a; b"
std::string distinct(const std::string &values) {
  std::string kept;
  for (size_t begin = 0, end; (end = values.find("; ", begin)) != std::string::npos; begin = end + 2) {
    const std::string value = values.substr(begin, end - begin) + "; ";
    if (("; " + kept).find("; " + value) == std::string::npos) kept += value;
  }
  return kept.substr(0, kept.size() - 2);
}

/// The facts that the files record, with all values that differ between files. Facts about the process that wrote a
/// file, such as its command line, are left out.
Facts common_facts(const std::vector<Results> &files) {
  Facts common;
  for (const auto &[name, value] : files.at(0).meta) {
    const char *const of_a_process[] = {"command_line", "environment", "start_utc", "concurrency", "blas"};
    if (std::find(std::begin(of_a_process), std::end(of_a_process), name) != std::end(of_a_process)) continue;
    std::string all;
    for (const Results &file : files)
      for (const auto &[other, its] : file.meta)
        if (other == name) all += its + "; ";
    common.emplace_back(name, distinct(all));
  }
  return common;
}

} // namespace

Results read_trainings(const std::string &path) {
  Results results = Results::read(path);
  Table parameters = std::as_const(results).table("training_parameters");
  const std::vector<TrainedModel> models = models_of(results);
  for (size_t run = 0; run < models.size(); ++run) {
    const std::string &mixer = models[run].settings.at("mixer");
    const auto complete = [&](const std::string &owner, const std::string &prefix, const Params &defaults) {
      for (const auto &[name, value] : defaults)
        if (!models[run].settings.count(prefix + name)) parameters.add(run, owner, name, value.number, value.text);
    };
    complete("train", "", resolve(settings(), {}, "train"));
    for (const Variant &layer : all_variants())
      if (layer.name == mixer) complete(mixer, mixer + ".", variant_params(layer, {}));
  }
  results.add({parameters});
  if (trained_metrics(results)) return results;
  std::vector<Table> tables = results.tables();
  tables.push_back(no_metrics());
  return Results::of(std::move(tables), results.meta);
}

Results planned_trainings(const std::vector<TrainingRun> &plan, const std::vector<Experiment> &experiments) {
  return Results::of(tables_of(plan, experiments), {});
}

Results joined_trainings(const std::vector<Results> &files, const Results &planned) {
  std::map<std::string, std::int64_t> numbers; // identity of a run -> number of the run; planned runs come first
  for (const TrainedModel &model : models_of(planned)) numbers.emplace(identity(model), numbers.size());
  std::vector<Table> tables = tables_of({}, {});
  std::set<std::int64_t> trained;
  std::vector<const Results *> sources;
  for (const Results &file : files) sources.push_back(&file);
  sources.push_back(&planned); // the last source, so that it only adds runs that no file has trained
  for (const Results *file : sources) {
    std::map<std::int64_t, std::int64_t> taken; // number of a run in this file -> its number among all runs
    const std::vector<TrainedModel> models = models_of(*file);
    for (size_t run = 0; run < models.size(); ++run) {
      if (file != &planned && !models[run].trained) continue;
      const std::int64_t joint = numbers.emplace(identity(models[run]), numbers.size()).first->second;
      if (trained.insert(joint).second) taken[std::int64_t(run)] = joint;
    }
    for (Table &table : tables) {
      if (table.name == "training_state" || table.name == "trained_statements") continue;
      const Table &source = file->table(table.name);
      if (!source.rows.empty() && !(source.columns == table.columns))
        input_error("cannot judge: a table " + table.name + " has columns that train does not write");
      for (std::vector<Cell> row : source.rows) {
        if (table.name == "experiments") { // an experiment gets its title from the last source, which is the suite
          const auto same = std::find_if(table.rows.begin(), table.rows.end(),
                                         [&](const std::vector<Cell> &other) { return other.at(0) == row.at(0); });
          same == table.rows.end() ? table.rows.push_back(row) : void(*same = row);
        } else if (const auto run = taken.find(std::get<std::int64_t>(row.at(0))); run != taken.end()) {
          row[0] = run->second;
          table.rows.push_back(std::move(row));
        }
      }
    }
  }
  Results joined = Results::of(tables, common_facts(files));
  joined.sort();
  return joined;
}

} // namespace recollect::train
