// SPDX-License-Identifier: Apache-2.0
#include "harness/train/training_record.hpp"
#include "harness/core/ranks.hpp"
#include "harness/train/statements.hpp"

namespace recollect::train {
namespace {

constexpr Kind whole = Kind::whole, integer = Kind::integer, real = Kind::real, text = Kind::text;

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
      table_of({}, {}),
      {"training_curves", {{"run", integer}, {"step", integer}, {"loss", real}, {"accuracy", real}}, {}},
      // Of runs under way. A run's first row holds the steps made and the sums since the last point of its curve.
      {"training_state", {{"run", integer}, {"value", real}, {"first", real}, {"second", real}}, {}}};
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

TrainingRecord::TrainingRecord(const std::string &path, const std::vector<TrainingRun> &plan,
                               const std::vector<Experiment> &experiments, Facts meta, bool resume,
                               std::function<Recorder::Clock::time_point()> now)
    : recorder_(path, Results::of(tables_of(plan, experiments), std::move(meta)), resume, std::move(now)) {}

std::optional<Trained> TrainingRecord::trained(size_t run) const {
  for (const Results *results : {&recorder_.results(), &recorder_.before()}) {
    const Table &table = results->table("trained");
    for (size_t row = 0; row < table.rows.size(); ++row)
      if (table.get<std::int64_t>(row, "run") == std::int64_t(run))
        return Trained{table.get<std::string>(row, "status") == "diverged", table.get<double>(row, "loss"),
                       table.get<double>(row, "accuracy"), table.get<double>(row, "chance"),
                       table.get<double>(row, "seconds")};
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
    if (curves.get<std::int64_t>(row, "run") == std::int64_t(run))
      state.curve.push_back({int(curves.get<std::int64_t>(row, "step")), curves.get<double>(row, "loss"),
                             curves.get<double>(row, "accuracy")});
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

void TrainingRecord::add(size_t run, const Progressed &progressed, const Trained &trained) {
  const Results &now = recorder_.results();
  Table table = now.table("trained"), curves = now.table("training_curves"), under_way = now.table("training_state");
  table.add(run, trained.diverged ? "diverged" : "ok", trained.loss, trained.accuracy, trained.chance, trained.seconds);
  add_curve(curves, run, progressed.curve);
  forget(under_way, run);
  recorder_.add([] {}, std::vector<Table>{table, curves, under_way});
}

void TrainingRecord::finish(const std::function<Table(const Results &)> &statements) {
  recorder_.gather();
  if (ranks::rank() == 0)
    if (const Table ruled = statements(results()); !(ruled == results().table(ruled.name)))
      recorder_.add([] {}, std::vector<Table>{ruled});
  recorder_.finish();
}

Results joined_trainings(const std::vector<Results> &files) {
  std::vector<Table> tables = tables_of({}, {});
  Facts meta = files.at(0).meta;
  std::int64_t runs = 0;
  for (const Results &file : files) {
    for (const auto &[name, value] : file.meta)
      for (auto &[known, all] : meta)
        if (known == name && (all + "; ").find(value + "; ") == std::string::npos) all += "; " + value;
    for (Table &table : tables) {
      if (table.name == "training_state" || table.name == "trained_statements") continue;
      for (std::vector<Cell> row : file.table(table.name).rows) {
        if (std::int64_t *run = std::get_if<std::int64_t>(&row.at(0))) *run += runs;
        const auto same_row = [&](const std::vector<Cell> &other) { return other == row; };
        if (table.name != "experiments" || std::none_of(table.rows.begin(), table.rows.end(), same_row))
          table.rows.push_back(std::move(row));
      }
    }
    runs += std::int64_t(file.table("training_plan").rows.size());
  }
  return Results::of(tables, meta);
}

} // namespace recollect::train
