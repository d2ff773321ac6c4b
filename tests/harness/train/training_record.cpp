// SPDX-License-Identifier: Apache-2.0
#include "harness/train/training_record.hpp"
#include "harness/core/error.hpp"
#include "harness/train/statements.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(training_record)

std::vector<Experiment> experiments() {
  Experiment e;
  e.request.settings = {{"mixer", "linear,none"}, {"width", "8"}, {"heads", "2"}, {"vocabulary", "8"}, {"pairs", "1"}};
  e.request.seeds = 2, e.request.experiment = "small", e.title = "a title";
  return {e};
}

BOOST_AUTO_TEST_CASE(a_plan_has_every_setup_with_every_seed) {
  const std::vector<TrainingRun> plan = training_plan(experiments(), 7);
  BOOST_TEST_REQUIRE(plan.size() == 4u);
  BOOST_TEST((plan[1].seed == 8 && plan[1].setup.mixer() == "linear" && plan[2].setup.mixer() == "none"));
  BOOST_TEST(plan[0].experiment == "small");
}

BOOST_AUTO_TEST_CASE(what_was_trained_is_read_again) {
  const Folder folder;
  const std::vector<TrainingRun> plan = training_plan(experiments(), 1);
  TrainingState state;
  state.curve = {{50, 2.5, 0.25}, {100, 1.5, 0.5}};
  {
    TrainingRecord record(folder / "t.h5", plan, experiments(), {{"seed", "1"}}, false);
    BOOST_TEST((!record.trained(1) && !record.kept(1)));
    record.add(1, state, {false, 1.25, 0.75, 0.125, 2});
    record.add(0, state, {true, 0, 0, 0.125, 1});
    record.finish([](const Results &results) { return results.table("trained_statements"); });
  }
  const TrainingRecord again(folder / "t.h5", plan, experiments(), {{"seed", "1"}}, true);
  BOOST_TEST((again.trained(1)->accuracy == 0.75 && again.trained(1)->loss == 1.25 && !again.trained(1)->diverged));
  BOOST_TEST((again.trained(0)->diverged && !again.trained(2)));
  const Results results = Results::read(folder / "t.h5");
  const Table &curves = results.table("training_curves");
  BOOST_TEST_REQUIRE(curves.rows.size() == 4u);
  BOOST_CHECK_THROW(Results::merged({results, results}, {"a", "b"}), Error); // one run, one process
  BOOST_TEST((curves.get<std::int64_t>(1, "step") == 100 && curves.get<double>(1, "loss") == 1.5));
  BOOST_CHECK_THROW(
      TrainingRecord(folder / "t.h5", training_plan(experiments(), 2), experiments(), {{"seed", "1"}}, true),
      Error); // other seeds
}

BOOST_AUTO_TEST_CASE(a_model_is_reported_once_it_is_on_the_disk) {
  const Folder folder;
  const std::vector<TrainingRun> plan = training_plan(experiments(), 1);
  Recorder::Clock::time_point now{};
  TrainingRecord record(folder / "t.h5", plan, experiments(), {}, false, [&] { return now; });
  int reported = 0;
  const auto on_disk = [&] {
    const Results kept = Results::read(folder / "t.h5.partial");
    return kept.table("trained").rows.size();
  };
  const auto report = [&] {
    reported += 1;
    BOOST_TEST(on_disk() == 2u);
  };
  record.add(1, {}, {false, 1.25, 0.75, 0.125, 2}, report);
  BOOST_TEST((reported == 0 && on_disk() == 0u)); // too soon to write again
  now += std::chrono::seconds(2);
  record.add(0, {}, {true, 0, 0, 0.125, 1}, report);
  BOOST_TEST(reported == 2);
}

BOOST_AUTO_TEST_CASE(a_run_under_way_comes_back_to_the_last_bit) {
  const Folder folder;
  const std::vector<TrainingRun> plan = training_plan(experiments(), 1);
  Trainer trainer(plan[0].setup, 1);
  for (int i = 0; i < 60; ++i) trainer.step();
  {
    Recorder::Clock::time_point now{};
    TrainingRecord record(folder / "t.h5", plan, experiments(), {}, false, [&] { return now; });
    record.keep(0, trainer.state()); // too soon after the file was created
    const Results early = Results::read(folder / "t.h5.partial");
    BOOST_TEST(early.table("training_state").rows.empty());
    now += std::chrono::seconds(2);
    record.keep(0, trainer.state());
  }
  const TrainingRecord again(folder / "t.h5", plan, experiments(), {}, true);
  BOOST_TEST(!again.kept(1));
  BOOST_TEST_REQUIRE(again.kept(0).has_value());
  const TrainingState kept = *again.kept(0), &was = trainer.state();
  BOOST_TEST((kept.step == 60 && kept.parameters == was.parameters && kept.first == was.first));
  BOOST_TEST((kept.second == was.second && kept.running == was.running && kept.curve.size() == 1u));
}

/// An unfinished results file of the plan after `done`, with one hour per item.
Results shard(const std::vector<TrainingRun> &plan, const std::vector<std::function<void(TrainingRecord &)>> &work) {
  const Folder folder;
  {
    Recorder::Clock::time_point now{};
    TrainingRecord record(folder / "t.h5", plan, experiments(), {}, false, [&] { return now; });
    for (const auto &one : work) now += std::chrono::hours(1), one(record);
  }
  return Results::read(folder / "t.h5.partial");
}

BOOST_AUTO_TEST_CASE(what_ranks_did_comes_together) {
  const std::vector<TrainingRun> plan = training_plan(experiments(), 1);
  TrainingState half, whole;
  half.step = 50, half.parameters = half.first = half.second = {1, 2, 3}, half.curve = {{50, 2, 0.25}};
  whole.curve = {{50, 2, 0.25}, {100, 1, 0.5}};
  const Results begun = shard(
                    plan, {[&](TrainingRecord &r) { r.keep(1, half); }, [&](TrainingRecord &r) { r.keep(2, half); }}),
                ended = shard(plan, {[&](TrainingRecord &r) {
                                r.add(1, whole, {false, 1, 0.5, 0.125, 2});
                              }});
  BOOST_TEST((begun.missing() == 4 && ended.missing() == 3));
  Results one = begun, other = ended;
  one.absorb(ended), other.absorb(begun);
  for (const Results *all : {&one, &other}) {
    BOOST_TEST(all->missing() == 3u);
    BOOST_TEST(all->table("trained").rows.size() == 1u);
    BOOST_TEST(all->table("training_plan").rows.size() == 4u);
    BOOST_TEST(all->table("training_curves").rows.size() == 3u); // 50 and 100 of run 1, 50 of run 2
    const Table &left = all->table("training_state");
    BOOST_TEST_REQUIRE(left.rows.size() == 4u);
    BOOST_TEST((left.get<std::int64_t>(0, "run") == 2 && left.get<double>(0, "value") == 50));
  }
}

BOOST_AUTO_TEST_CASE(files_are_joined_along_the_plan) {
  const std::vector<TrainingRun> plan = training_plan(experiments(), 1);
  const Results planned = planned_trainings(plan, experiments());
  TrainingState curve;
  curve.curve = {{50, 2, 0.25}};
  const auto done = [&](size_t run, double accuracy) {
    return [=](TrainingRecord &r) { r.add(run, curve, {false, 1, accuracy, 0.125, 2}); };
  };
  Results late = shard(plan, {done(3, 0.5)}), early = shard(plan, {done(1, 0.75), done(3, 0.25)});
  late.meta = {{"device", "here"}, {"command_line", "one"}, {"git_commit", "a"}};
  early.meta = {{"device", "there; here; her"}, {"command_line", "other"}, {"git_commit", "a"}};
  const Results all = joined_trainings({late, early}, planned);
  BOOST_TEST((all.meta == Facts{{"device", "here; there; her"}, {"git_commit", "a"}}));
  BOOST_TEST((all.table("training_plan") == planned.table("training_plan")));
  BOOST_TEST((all.table("training_parameters") == planned.table("training_parameters")));
  BOOST_TEST((all.table("experiments") == planned.table("experiments")));
  BOOST_TEST(all.table("training_curves").rows.size() == 2u);
  const Table &trained = all.table("trained");
  BOOST_TEST_REQUIRE(trained.rows.size() == 2u); // run 3 once, from the file that is named first
  BOOST_TEST((trained.get<std::int64_t>(0, "run") == 1 && trained.get<double>(0, "accuracy") == 0.75));
  BOOST_TEST((trained.get<std::int64_t>(1, "run") == 3 && trained.get<double>(1, "accuracy") == 0.5));
}

BOOST_AUTO_TEST_CASE(joined_files_may_have_other_runs_than_the_plan) {
  const std::vector<TrainingRun> plan = training_plan(experiments(), 1);
  const Results file = shard(plan, {[](TrainingRecord &r) { r.add(3, {}, {false, 1, 0.5, 0.125, 2}); }});
  const Results all = joined_trainings({file}, planned_trainings(training_plan(experiments(), 3), experiments()));
  const std::vector<TrainedModel> models = models_of(all);
  BOOST_TEST_REQUIRE(models.size() == 5u); // runs that were neither planned nor trained are left out
  for (size_t i = 0; i < 4; ++i) BOOST_TEST((models[i].seed >= 3 && !models[i].trained));
  BOOST_TEST((models[4].seed == 2 && models[4].trained->accuracy == 0.5));
}

BOOST_AUTO_TEST_CASE(
    joined_files_have_the_columns_of_trainings) { // so that no row has more cells than the table to write
  const std::vector<TrainingRun> plan = training_plan(experiments(), 1);
  const Results planned = planned_trainings(plan, experiments()),
                file = shard(plan, {[](TrainingRecord &r) {
                               r.add(3, {}, {false, 1, 0.5, 0.125, 2});
                             }});
  for (const char *name : {"trained", "training_plan", "training_parameters", "experiments"}) {
    std::vector<Table> tables = file.tables();
    for (Table &table : tables)
      if (table.name == name) {
        table.columns.push_back({"more", Kind::real});
        for (auto &row : table.rows) row.push_back(1.0);
      }
    BOOST_CHECK_THROW(joined_trainings({Results::of(tables, {})}, planned), Error);
  }
}

BOOST_AUTO_TEST_CASE(joined_files_take_their_titles_from_the_suite) {
  std::vector<Experiment> renamed = experiments();
  for (Experiment &e : renamed) e.title = "another title of " + e.request.experiment;
  const Results planned = planned_trainings(training_plan(renamed, 1), renamed);
  const Results all = joined_trainings({shard(training_plan(experiments(), 1), {})}, planned);
  BOOST_TEST(planned.table("experiments").rows.size() > 0u);
  BOOST_TEST((all.table("experiments") == planned.table("experiments")));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
