// SPDX-License-Identifier: Apache-2.0
// A task's chance and ceiling, compared with readers of noise, of zero and of the target.
#include "harness/core/error.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/statistics.hpp"
#include "tests/tasks/task_testing.hpp"
#include <tuple>

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(ends)

namespace {

/// Mean headline over seeds of a reader without knowledge: noise where answers are guessed, zero where errors are
/// measured.
Mean of_the_ignorant(const Task &task, const Params &params, int seeds) {
  std::vector<double> scores;
  for (int seed = 1; seed <= seeds; ++seed) {
    const Problem problem = task.generate(params, seed);
    const size_t size = problem.target.size();
    const bool guess = task.metrics[0].better == Metric::larger;
    const Output read{guess ? Stream(seed, "test/noise").normals(size) : std::vector<double>(size, 0.0), {}, {}};
    scores.push_back(metric(task.score(params, problem, read), task.metrics[0].name));
  }
  return mean_of(scores);
}

} // namespace

BOOST_AUTO_TEST_CASE(every_headline_with_a_direction_has_two_ends) {
  for (const Task &task : all_tasks()) BOOST_TEST_CONTEXT(task.name) {
      BOOST_TEST(bool(task.ends) == (task.metrics[0].better != Metric::neither));
    }
}

BOOST_AUTO_TEST_CASE(the_shape_is_that_of_what_is_generated, *slow) {
  int compared = 0;
  for (const Task &task : all_tasks()) {
    std::vector<Assignments> settings{{}};
    for (const ParamSpec &spec : task.params) { // each parameter alone a little larger, and every choice
      for (const std::string &choice : spec.choices) settings.push_back({{spec.name, choice}});
      if (spec.kind == ParamSpec::integer) settings.push_back({{spec.name, std::to_string(int(spec.fallback) + 1)}});
    }
    for (const Assignments &setting : settings) BOOST_TEST_CONTEXT(task.name << " " << setting.size()) {
        Problem problem;
        const Params params = resolve(task.params, setting, task.name);
        try {
          problem = task.generate(params, 1);
        } catch (const Error &) {
          continue; // the two exclude each other
        }
        ++compared;
        const Shape a = task.shape(params), b = problem.sequence.shape;
        BOOST_TEST((a.B == b.B && a.H == b.H && a.T == b.T && a.Dk == b.Dk && a.Dv == b.Dv));
        BOOST_TEST(problem.sequence.k.size() == a.heads() * a.T * a.Dk);
      }
  }
  BOOST_TEST(compared > 5 * int(all_tasks().size()));
}

BOOST_AUTO_TEST_CASE(the_ceiling_is_what_the_target_scores) {
  for (const Task &task : all_tasks()) {
    if (!task.ends) continue;
    const Params params = resolve(task.params, {}, task.name);
    const Problem problem = task.generate(params, 1);
    const double scored = metric(task.score(params, problem, perfect(problem)), task.metrics[0].name);
    BOOST_TEST_CONTEXT(task.name) { BOOST_TEST(scored == task.ends(params).ceiling); }
  }
}

BOOST_AUTO_TEST_CASE(chances_by_hand) { // one among the candidates
  const std::vector<std::tuple<std::string, Assignments, double>> expected{
      {"recall", {{"n", "5"}}, 1 / 5.0},
      {"mqar", {{"P", "6"}}, 1 / 12.0},
      {"mqar", {{"P", "6"}, {"responses", "shifted"}}, 1 / 6.0},
      {"fuzzy_recall", {{"words", "7"}}, 1 / 7.0},
      {"overwrite", {{"n", "3"}, {"rounds", "5"}}, 1 / 15.0},
      {"needle", {}, 1 / 10.0},
      {"needle", {{"kind", "uuid"}}, 1 / 16.0},
      {"swap", {{"n", "3"}}, 1 / 27.0},
      {"swap", {{"n", "3"}, {"read", "one"}}, 1 / 3.0},
      {"long_mqar", {{"n", "9"}, {"vocabulary", "20"}}, 1 / 20.0},
      {"reachability", {}, 1 / 2.0},
      {"stress", {{"levels", "3"}, {"d", "8"}, {"keys", "unit"}}, (1 / 8.0 + 1 / 16.0 + 1 / 32.0) / 3}};
  for (const auto &[name, settings, chance] : expected) {
    const Task &task = find_task(name);
    BOOST_TEST(std::fabs(task.ends(resolve(task.params, settings, name)).chance / chance - 1) < 1e-14, name);
  }
}

BOOST_AUTO_TEST_CASE(chance_is_what_the_ignorant_score, *slow) {
  const std::vector<std::pair<std::string, Assignments>> beside_the_defaults{
      {"swap", {{"n", "2"}, {"memories", "64"}}},
      {"swap", {{"read", "one"}}},
      {"mqar", {{"responses", "shifted"}}},
      {"needle", {{"kind", "uuid"}}},
      {"stress", {{"levels", "3"}, {"d", "8"}, {"keys", "unit"}}},
      {"capacity", {{"level", "0.6"}, {"memories", "2000"}}}};
  std::vector<std::pair<std::string, Assignments>> all = beside_the_defaults;
  for (const Task &task : all_tasks())
    if (task.ends) all.push_back({task.name, {}});
  for (const auto &[name, settings] : all) {
    const Task &task = find_task(name);
    const Params params = resolve(task.params, settings, name);
    const Mean found = of_the_ignorant(task, params, 10);
    const double expected = task.ends(params).chance;
    BOOST_TEST_CONTEXT(name << ": " << found.mean << " +- " << found.standard_error << " for " << expected) {
      // Ten seeds give nine degrees of freedom; the two-sided 10^-10 quantile of Student's t is then 27. If a guess is
      // wrong at every seed, its spread is 0; its true rate n^-n is then too small to show in ten seeds.
      BOOST_TEST(std::fabs(found.mean - expected) <= 27 * found.standard_error + 1e-3);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
