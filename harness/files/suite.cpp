// SPDX-License-Identifier: Apache-2.0
#include "harness/files/suite.hpp"
#include "harness/core/error.hpp"
#include "harness/core/lookup.hpp"
#include "harness/core/sweep.hpp"
#include "harness/core/text.hpp"
#include "harness/files/suite_entry.hpp"
#include "harness/system/files.hpp"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <tuple>

namespace recollect {
namespace {

Experiment experiment_from(const SuiteEntry &entry) {
  Experiment e;
  RunRequest &r = e.request;
  r.experiment = entry.text("name"), e.title = entry.text("title"), e.printed = entry.text("printed");
  if (r.experiment.empty()) entry.refuse("a name is missing");
  r.variants = entry.texts("variants", r.variants), r.tasks = entry.texts("tasks", r.tasks);
  r.form = entry.text("form", r.form);
  r.real = *real_named(
      entry.one_of({name_of(Real::f64), name_of(Real::f32), name_of(Real::bf16), name_of(Real::f16)}, "dtype"));
  r.chunk = entry.count("chunk", r.chunk), r.seeds = entry.count("seeds", 5);
  r.tune = entry.flag("tune");
  for (const auto &[name, values] : entry.choices("set")) r.settings[name] = join(values, ",");
  return e;
}

std::vector<Experiment> experiments_from(const SuiteEntry &suite, const std::string &key,
                                         const std::vector<std::string> &known) {
  std::vector<Experiment> all;
  for (const SuiteEntry &entry : suite.entries(key, known)) {
    all.push_back(experiment_from(entry));
    const std::string &name = all.back().request.experiment;
    if (std::any_of(all.begin(), all.end() - 1, [&](const Experiment &e) { return e.request.experiment == name; }))
      entry.refuse("another [[" + key + "]] is named '" + name + "' as well");
  }
  return all;
}

/// The statements of one [[statement]]: one per combination of values of `experiment`, `where`, `above`, `below`, `of`.
std::vector<Statement> statements_from(const SuiteEntry &entry, const std::vector<std::string> &trainings) {
  Statement s;
  s.row = entry.text("row"), s.paper = entry.text("paper"), s.undecided = entry.text("undecided");
  s.measure = entry.one_of({"accuracy", "loss", "length", "diverged"}, "measure");
  s.step = entry.count("step", 0);
  std::tie(s.least, s.most) = entry.interval("between", s.least, s.most);
  s.least = entry.number("at_least", s.least), s.most = entry.number("at_most", s.most);
  s.compares = entry.has("above") && entry.has("below");
  const bool bounded = entry.has("between") || entry.has("at_least") || entry.has("at_most");
  const bool sides_fit = s.compares ? !entry.has("of") : entry.has("of") && !entry.has("above") && !entry.has("below");
  if (s.row.empty() || !entry.has("experiment") || s.compares == bounded || !sides_fit)
    entry.refuse(
        "every [[statement]] needs a row, an experiment, and either `above` and `below`, or a number and `of`");
  if (s.least > s.most) entry.refuse("no number is from " + number(s.least) + " to " + number(s.most));
  const auto require_training = [&](const std::string &name) {
    if (std::find(trainings.begin(), trainings.end(), name) == trainings.end())
      entry.refuse("no [[train]] is named '" + name + "'" + suggestion(name, trainings));
  };
  std::vector<Statement> all;
  for (const std::string &name : entry.texts("experiment", {}))
    require_training(name), all.push_back(s), all.back().experiment = name;
  const std::vector<std::pair<std::string, Assignments Statement::*>> sides{{"above", &Statement::first},
                                                                            {"below", &Statement::second},
                                                                            {"of", &Statement::first},
                                                                            {"where", &Statement::where}};
  for (const auto &[key, into] : sides)
    for (const auto &[name, values] : entry.choices(key)) {
      std::vector<Statement> longer;
      for (const Statement &one : all)
        for (const std::string &value : values) {
          if (name == "experiment") require_training(value);
          longer.push_back(one);
          (longer.back().*into)[name] = value;
        }
      if (longer.size() > 1000) entry.refuse("the lists of one [[statement]] give more than 1000 statements");
      all = std::move(longer);
    }
  return all;
}

Suite from_table(const toml::table &table, const std::string &path) {
  const SuiteEntry file(table, path, "a suite", {"claims", "effort", "seed", "point", "run", "train", "statement"});
  Suite suite;
  suite.path = path;
  suite.claims = file.texts("claims", suite.claims);
  suite.effort = file.one_of({"quick", "full"}, "effort") == "full" ? Effort::full : Effort::quick;
  suite.seed = file.seed();
  const std::vector<std::string> both{"name", "title", "printed", "seeds", "set"};
  std::vector<std::string> runs = both;
  runs.insert(runs.end(), {"variants", "tasks", "form", "dtype", "chunk", "tune"});
  suite.experiments = experiments_from(file, "run", runs), suite.trainings = experiments_from(file, "train", both);
  for (const SuiteEntry &entry : file.entries("point", {})) {
    if (entry.text("claim").empty()) entry.refuse("every [[point]] names its claim");
    for (const Assignments &point : combinations(entry.settings_but("claim"), path + ": [[point]]"))
      suite.points.push_back({entry.text("claim"), point});
  }
  std::vector<std::string> trainings;
  for (const Experiment &e : suite.trainings) trainings.push_back(e.request.experiment);
  for (const SuiteEntry &entry :
       file.entries("statement", {"row", "paper", "experiment", "measure", "step", "where", "undecided", "above",
                                  "below", "of", "at_least", "at_most", "between"})) {
    const std::vector<Statement> all = statements_from(entry, trainings);
    suite.statements.insert(suite.statements.end(), all.begin(), all.end());
  }
  return suite;
}

} // namespace

Suite load_suite(const std::string &name) {
  Suite suite;
  if (name == "quick") return suite;
  if (name == "full") {
    suite.effort = Effort::full;
    return suite;
  }
  if (!std::filesystem::exists(name)) {
    if (name.find('.') == std::string::npos && name.find('/') == std::string::npos)
      usage_error("unknown suite '" + name + "'" + suggestion(name, {"quick", "full"}) +
                  " (or the path of a TOML file)");
    input_error("no such suite file: " + name);
  }
  try {
    return from_table(toml::parse(read_regular_file(name), name), name);
  } catch (const toml::parse_error &failure) {
    std::ostringstream line;
    line << name << ":" << failure.source().begin.line << ": not valid TOML: " << failure.description();
    input_error(line.str());
  } catch (const BrokenAssertion &) {
    input_error(name + ": not valid TOML");
  }
}

std::vector<Measurement> measurements(const VerifyRequest &request, std::vector<const Claim *> selected) {
  if (request.suite.effort == Effort::quick && request.claims.empty())
    selected.erase(
        std::remove_if(selected.begin(), selected.end(), [](const Claim *c) { return c->suite == Effort::full; }),
        selected.end());
  Protocol base;
  base.effort = request.suite.effort, base.seed = request.seed;
  for (const auto &own : request.suite.points)
    if (request.claims.empty() && std::none_of(selected.begin(), selected.end(), [&](const Claim *claim) {
          return canonical(claim->id) == canonical(own.claim);
        }))
      usage_error(
          request.suite.path + ": there is a [[point]] of " + own.claim +
          ", which the suite does not verify: add it to `claims`, or set effort = \"full\" where it needs that");
  std::vector<Measurement> all;
  for (const Claim *claim : selected) {
    std::vector<Assignments> points = request.points;
    for (const auto &own : request.suite.points)
      if (lookup::same(own.claim, claim->id)) points.push_back(own.parameters);
    if (points.empty()) all.push_back({claim, base});
    for (const Assignments &point : points) {
      Protocol protocol = base;
      protocol.point = resolve(claim->params, point, claim->id);
      all.push_back({claim, protocol});
    }
  }
  return all;
}

double work_of(const Claim &claim) {
  const double layers = double(claim.variants.size()), tasks = double(claim.tasks.size());
  return (claim.suite == Effort::full ? 1e6 : 0) + 1e3 * tasks * layers + layers;
}

} // namespace recollect
