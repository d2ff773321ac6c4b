// SPDX-License-Identifier: Apache-2.0
#include "harness/train/statements.hpp"
#include "build_config.hpp"
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "tests/testing.hpp"
#include <cmath>
#include <filesystem>
#include <set>

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(train_statements)

/// Models of one layer: a row a rate, in it a seed's accuracy each.
struct Layer {
  std::string mixer;
  std::map<std::string, std::vector<double>> accuracies;
};

/// As a file has them: every run planned, and trained where its accuracy is a number.
std::vector<TrainedModel> models(const std::vector<Layer> &layers) {
  std::vector<TrainedModel> all;
  for (const Layer &layer : layers)
    for (const auto &[rate, accuracies] : layer.accuracies)
      for (size_t seed = 0; seed < accuracies.size(); ++seed) {
        TrainedModel model{"recall", seed, {{"mixer", layer.mixer}, {"lr", rate}, {"vocabulary", "128"}}, {}, {}};
        if (!std::isnan(accuracies[seed])) model.trained = Trained{false, 2, accuracies[seed], 0.1, 1};
        all.push_back(model);
      }
  return all;
}

Statement above(const std::string &first, const std::string &second) {
  Statement s;
  s.row = "a-row", s.experiment = "recall", s.first = {{"mixer", first}}, s.second = {{"mixer", second}};
  s.compares = true;
  return s;
}
Statement number_of(const std::string &mixer, double least, double most) {
  Statement s;
  s.row = "a-row", s.experiment = "recall", s.first = {{"mixer", mixer}}, s.least = least, s.most = most;
  return s;
}

BOOST_AUTO_TEST_CASE(seeds_fully_apart_decide_either_way) {
  const auto all = models({{"vla", {{"0.01", {0.9, 0.8, 0.7}}}}, {"softmax", {{"0.01", {0.3, 0.2, 0.1}}}}});
  const Ruling right = rule(above("vla", "softmax"), all), wrong = rule(above("softmax", "vla"), all);
  BOOST_TEST((right.verdict == "holds" && right.p == 0.05 && wrong.verdict == "refuted" && wrong.p == 0.05));
  BOOST_TEST((std::fabs(right.first.mean - 0.8) < 1e-15 && right.first.seeds == 3 && right.second.rate == "0.01"));
}

BOOST_AUTO_TEST_CASE(one_planted_result_turns_a_verdict) {
  auto all = models({{"vla", {{"0.01", {0.9, 0.8, 0.7}}}}, {"softmax", {{"0.01", {0.3, 0.2, 0.1}}}}});
  all[3].trained->accuracy = 0.75; // of softmax
  BOOST_TEST(rule(above("vla", "softmax"), all).verdict == "undecided");
  for (size_t i = 3; i < 6; ++i) all[i].trained->accuracy = 0.95;
  BOOST_TEST(rule(above("vla", "softmax"), all).verdict == "refuted");
}

BOOST_AUTO_TEST_CASE(each_side_is_taken_at_its_best_rate) {
  const auto all = models({{"vla", {{"0.001", {0.9, 0.9, 0.9}}, {"0.1", {0, 0, 0}}}},
                           {"softmax", {{"0.001", {0.1, 0.1, 0.1}}, {"0.1", {1, 1, 1}}}}});
  const Ruling found = rule(above("vla", "softmax"), all);
  BOOST_TEST((found.verdict == "refuted" && found.first.rate == "0.001" && found.second.rate == "0.1"));
  Statement printed = above("vla", "softmax");
  printed.where = {{"lr", "0.001"}};
  BOOST_TEST(rule(printed, all).verdict == "holds");
}

/// .7, .8, .9: mean .8, standard error .1 / sqrt 3, Student's t with two degrees of freedom 4.302653: .5516 to 1.0484.
BOOST_AUTO_TEST_CASE(a_number_is_held_against_the_interval_of_the_mean) {
  const auto all = models({{"vla", {{"0.01", {0.7, 0.8, 0.9}}}}});
  const Ruling found = rule(number_of("vla", 0.5, 1.1), all);
  BOOST_TEST((found.verdict == "holds" && std::fabs(found.first.low - 0.5515862) < 1e-7 &&
              std::fabs(found.first.high - 1.0484138) < 1e-7 && std::isnan(found.p)));
  BOOST_TEST(rule(number_of("vla", 0.6, 1), all).verdict == "undecided");
  BOOST_TEST(rule(number_of("vla", -HUGE_VAL, 0.55), all).verdict == "refuted");
  BOOST_TEST(rule(number_of("vla", 1.05, HUGE_VAL), all).verdict == "refuted");
  const auto exact = models({{"vla", {{"0.01", {1, 1, 1}}}}});
  BOOST_TEST((rule(number_of("vla", 0.99, 1), exact).verdict == "holds"));
  const auto two = models({{"vla", {{"0.01", {1, 1}}}}});
  BOOST_TEST(rule(number_of("vla", 0.99, 1), two).verdict == "undecided");
}

BOOST_AUTO_TEST_CASE(what_diverged_counts_as_nothing_recalled) {
  auto all = models({{"vla", {{"0.01", {0.9, 0.9, 0.9}}}}, {"softmax", {{"0.01", {1, 1, 1}}}}});
  for (size_t i = 3; i < 6; ++i) all[i].trained->diverged = true;
  const Ruling found = rule(above("vla", "softmax"), all);
  BOOST_TEST((found.verdict == "holds" && found.second.mean == 0 && found.second.diverged == 3));
  Statement share = number_of("softmax", 0.99, HUGE_VAL);
  share.measure = "diverged";
  BOOST_TEST(rule(share, all).verdict == "holds");
  share.first = {{"mixer", "vla"}};
  BOOST_TEST(rule(share, all).verdict == "refuted");
  Statement loss = number_of("softmax", std::log(128.0) - 1e-9, std::log(128.0) + 1e-9);
  loss.measure = "loss"; // of a guess among 128 tokens
  BOOST_TEST(rule(loss, all).verdict == "holds");
}

BOOST_AUTO_TEST_CASE(the_curve_is_read_up_to_a_step) {
  auto all = models({{"vla", {{"0.01", {1, 1, 1}}}}});
  for (TrainedModel &model : all) model.curve = {{100, 3, 0.25}, {200, 1, 0.75}};
  Statement early = number_of("vla", 0.7, 0.8);
  early.step = 150;
  BOOST_TEST((rule(early, all).verdict == "refuted" && rule(early, all).first.mean == 0.25));
  early.step = 200;
  BOOST_TEST(rule(early, all).verdict == "holds");
  early.step = 50;
  BOOST_CHECK_THROW(rule(early, all), Error);
}

BOOST_AUTO_TEST_CASE(seeds_count_that_are_trained_at_every_rate) {
  const double missing = std::nan("");
  const auto all = models({{"vla", {{"0.001", {0.9, 0.9, 0.9}}, {"0.1", {0.5, 0.5, missing}}}}});
  const Ruling found = rule(number_of("vla", 0, 1), all);
  BOOST_TEST((found.verdict == "undecided" && found.first.seeds == 2));
  BOOST_TEST(rule(number_of("vla", 0, 1), models({{"vla", {{"0.1", {missing}}}}})).verdict == "not run");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_judged_is_refused) {
  auto all = models({{"vla", {{"0.01", {1, 1, 1}}}}, {"softmax", {{"0.1", {1, 1, 1}}}}});
  BOOST_CHECK_THROW(rule(above("vla", "none"), all), Error);    // no such model
  BOOST_CHECK_THROW(rule(above("vla", "softmax"), all), Error); // other rates
  Statement all_mixers = number_of("vla", 0, 1);
  all_mixers.first.clear();
  BOOST_CHECK_THROW(rule(all_mixers, all), Error);  // more than one mixer
  all[0].settings["delta_former.kappa1"] = "round"; // a parameter of one of them alone
  BOOST_CHECK_THROW(rule(all_mixers, all), Error);
  Statement elsewhere = number_of("vla", 0, 1);
  elsewhere.experiment = "copy";
  BOOST_CHECK_THROW(rule(elsewhere, all), Error);
  const std::vector<double> eleven(11, 1.0);
  BOOST_CHECK_THROW(rule(above("vla", "softmax"), models({{"vla", {{"0.1", eleven}}}, {"softmax", {{"0.1", eleven}}}})),
                    Error);
}

/// What every file in ci/suites trains is a plan, and what it states can be judged of it and is a row of the ledger.
BOOST_AUTO_TEST_CASE(the_suites_statements_have_models_and_rows) {
  std::set<std::string> rows;
  for (const Claim &claim : all_claims()) rows.insert(claim.covers.begin(), claim.covers.end());
  const auto corpus = std::make_shared<Corpus>(Corpus{std::string(4096, 'x')});
  int stated = 0;
  for (const auto &entry : std::filesystem::directory_iterator(RECOLLECT_SOURCE_DIR "/ci/suites")) {
    const Suite suite = load_suite(entry.path().string());
    if (suite.trainings.empty()) continue;
    BOOST_TEST_CONTEXT(entry.path()) {
      const Assignments &first = suite.trainings[0].request.settings;
      const bool text = first.count("task") && first.at("task") == "text";
      const TrainingRecord record("", training_plan(suite.trainings, 1, text ? corpus : nullptr), suite.trainings, {},
                                  false);
      const std::vector<TrainedModel> planned = models_of(record.results());
      for (const Statement &s : suite.statements) {
        BOOST_TEST(rule(s, planned).verdict == "not run");
        BOOST_TEST(rows.count(s.row) == 1u, s.row);
        ++stated;
      }
    }
  }
  BOOST_TEST(stated > 100);
}

BOOST_AUTO_TEST_CASE(tables_that_do_not_fit_together_are_refused) {
  Experiment e;
  e.request.settings = {{"mixer", "linear"}, {"width", "8"}, {"heads", "2"}, {"vocabulary", "8"}, {"pairs", "1"}};
  e.request.experiment = "recall";
  const TrainingRecord record("", training_plan({e}, 1), {e}, {}, false);
  const Results whole = record.results();
  BOOST_TEST(models_of(whole).size() == 1u);
  for (const char *name :
       {"training_plan", "training_parameters"}) { // runs that are not planned, runs without settings
    Results less = whole;
    Table emptied = whole.table(name);
    emptied.rows.clear();
    less.add(std::vector<Table>{emptied});
    BOOST_CHECK_THROW(models_of(less), Error);
  }
}

BOOST_AUTO_TEST_CASE(a_statement_says_what_it_asks) {
  Statement s = above("vla", "softmax");
  s.where = {{"pairs", "24"}};
  BOOST_TEST(says(s) == "accuracy of vla above softmax, pairs=24");
  Statement n = number_of("vla", 0.9, 1);
  n.step = 200, n.measure = "loss";
  BOOST_TEST(says(n) == "loss by step 200 of vla from 0.9 to 1");
  BOOST_TEST(says(number_of("vla", -HUGE_VAL, 0.5)) == "accuracy of vla at most 0.5");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
