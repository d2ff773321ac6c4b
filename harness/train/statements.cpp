// SPDX-License-Identifier: Apache-2.0
#include "harness/train/statements.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/numerics/permutation.hpp"
#include "harness/numerics/statistics.hpp"
#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <set>

namespace recollect::train {
namespace {

constexpr const char *rate_setting = "lr";

[[noreturn]] void refuse(const Statement &s, const std::string &why) {
  usage_error("statement on " + s.row + ", " + s.experiment + ": " + why);
}

bool matches(const TrainedModel &model, const Assignments &wanted) {
  for (const auto &[name, value] : wanted) {
    const auto found = model.settings.find(name);
    if (found == model.settings.end()) return false; // of another layer
    if (found->second != value) return false;        // numbers are written alike on both sides
  }
  return true;
}

std::vector<const TrainedModel *> chosen(const Statement &s, const std::vector<TrainedModel> &models,
                                         Assignments side) {
  std::string experiment = s.experiment;
  if (const auto own = side.find("experiment"); own != side.end()) experiment = own->second, side.erase(own);
  std::vector<const TrainedModel *> found;
  for (const TrainedModel &model : models)
    if (model.experiment == experiment && matches(model, s.where) && matches(model, side)) found.push_back(&model);
  const auto text = [](const Assignments &all) {
    std::string list;
    for (const auto &[name, value] : all) list += (list.empty() ? "" : ", ") + name + "=" + value;
    return list;
  };
  if (found.empty())
    refuse(s, "no model has " + text(s.where) + (s.where.empty() || side.empty() ? "" : ", ") + text(side));
  for (const TrainedModel *model : found) {
    const Assignments &first = found[0]->settings;
    if (model->settings.at("mixer") != first.at("mixer")) refuse(s, "it chooses models of more than one mixer");
    for (const auto &[name, value] : model->settings)
      if (const auto other = first.find(name); name != rate_setting && (other == first.end() || other->second != value))
        refuse(s, "it chooses models of more than one " + name);
  }
  return found;
}

/// Larger is more: accuracy, loss, or 1 where it diverged. A model that diverged knows nothing: its loss is a guess's.
double measured(const Statement &s, const TrainedModel &model) {
  const bool loss = s.measure == "loss";
  if (s.measure == "diverged") return model.trained->diverged;
  if (model.trained->diverged) return loss ? std::log(parse_number(model.settings.at("vocabulary"), s.row)) : 0;
  if (s.step == 0) return loss ? model.trained->loss : model.trained->accuracy;
  const CurvePoint *last = nullptr;
  for (const CurvePoint &point : model.curve)
    if (point.step <= s.step) last = &point;
  if (!last) refuse(s, "the curve has no point up to step " + std::to_string(s.step));
  return loss ? last->loss : last->accuracy;
}

/// The seeds all of whose rates are trained.
struct Sampled {
  std::vector<std::string> rates;
  Tried trials;
  std::vector<std::vector<int>> diverged; // as trials
};

Sampled sampled(const Statement &s, const std::vector<const TrainedModel *> &models) {
  Sampled found;
  std::map<std::uint64_t, std::map<size_t, const TrainedModel *>> seeds;
  for (const TrainedModel *model : models) {
    const std::string &rate = model->settings.at(rate_setting);
    size_t at = size_t(std::find(found.rates.begin(), found.rates.end(), rate) - found.rates.begin());
    if (at == found.rates.size()) found.rates.push_back(rate);
    if (model->trained) seeds[model->seed][at] = model;
  }
  for (const auto &[seed, by_rate] : seeds) {
    if (by_rate.size() < found.rates.size()) continue;
    found.trials.emplace_back(), found.diverged.emplace_back();
    for (const auto &[at, model] : by_rate)
      found.trials.back().push_back(measured(s, *model)), found.diverged.back().push_back(model->trained->diverged);
  }
  return found;
}

Side at_best(const Sampled &all, bool smallest) {
  Side side;
  side.seeds = int(all.trials.size());
  if (all.trials.empty()) return side;
  const size_t best = best_column(all.trials, smallest);
  std::vector<double> column;
  for (size_t i = 0; i < all.trials.size(); ++i)
    column.push_back(all.trials[i][best]), side.diverged += all.diverged[i][best];
  side.rate = all.rates[best];
  const Mean mean = mean_of(column);
  side.mean = mean.mean;
  if (side.seeds < 3) return side; // two seeds bound little, and two that agree by chance nothing
  const double wide =
      boost::math::quantile(boost::math::students_t(side.seeds - 1), 1 - level / 2) * mean.standard_error;
  side.low = side.mean - wide, side.high = side.mean + wide;
  return side;
}

void rule_number(const Statement &s, Ruling &ruling) {
  const double rounding = 1e-12; // of a mean of seeds that agree
  const Side &side = ruling.first;
  if (side.low >= s.least - rounding && side.high <= s.most + rounding)
    ruling.verdict = "holds";
  else if (side.high < s.least - rounding || side.low > s.most + rounding)
    ruling.verdict = "refuted";
}

} // namespace

std::vector<TrainedModel> models_of(const Results &results) {
  const Table &plan = results.table("training_plan"), &parameters = results.table("training_parameters"),
              &trained = results.table("trained"), &curves = results.table("training_curves");
  std::vector<TrainedModel> models;
  for (size_t row = 0; row < plan.rows.size(); ++row)
    models.push_back({plan.get<std::string>(row, "experiment"), plan.get<std::uint64_t>(row, "seed"), {}, {}, {}});
  const auto model = [&](const Table &table, size_t row) -> TrainedModel & {
    const auto run = table.get<std::int64_t>(row, "run");
    if (run < 0 || size_t(run) >= models.size()) input_error("table " + table.name + " has a run that is not planned");
    return models[size_t(run)];
  };
  for (size_t row = 0; row < parameters.rows.size(); ++row) {
    const std::string &owner = parameters.get<std::string>(row, "owner"),
                      &name = parameters.get<std::string>(row, "name"),
                      &text = parameters.get<std::string>(row, "text");
    model(parameters, row).settings[owner == "train" ? name : owner + "." + name] =
        text.empty() ? number(parameters.get<double>(row, "value")) : text;
  }
  for (const TrainedModel &one : models)
    for (const char *name : {"mixer", rate_setting, "vocabulary"})
      if (!one.settings.count(name)) input_error("table training_parameters lacks a run's " + std::string(name));
  for (size_t row = 0; row < trained.rows.size(); ++row) model(trained, row).trained = trained_of(trained, row);
  for (size_t row = 0; row < curves.rows.size(); ++row) model(curves, row).curve.push_back(point_of(curves, row));
  return models;
}

Ruling rule(const Statement &s, const std::vector<TrainedModel> &models) {
  const bool smallest = s.measure == "loss";
  const Sampled first = sampled(s, chosen(s, models, s.first));
  Ruling ruling;
  ruling.first = at_best(first, smallest);
  if (!s.compares) {
    if (ruling.first.seeds == 0) return ruling;
    ruling.verdict = "undecided";
    rule_number(s, ruling);
    return ruling;
  }
  const Sampled second = sampled(s, chosen(s, models, s.second));
  ruling.second = at_best(second, smallest);
  if (std::set<std::string>(first.rates.begin(), first.rates.end()) !=
      std::set<std::string>(second.rates.begin(), second.rates.end()))
    refuse(s, "its sides have other learning rates to choose from");
  if (std::max(first.trials.size(), second.trials.size()) > most_permuted)
    refuse(s, "more than " + std::to_string(most_permuted) + " seeds a side");
  if (first.trials.empty() || second.trials.empty()) return ruling;
  const PermutationTest test = permutation_test(first.trials, second.trials, smallest);
  ruling.p = std::min(test.first_larger, test.second_larger);
  ruling.verdict = test.first_larger <= level ? "holds" : test.second_larger <= level ? "refuted" : "undecided";
  return ruling;
}

std::string says(const Statement &s) {
  const auto text = [](const Assignments &all) {
    std::string list;
    for (const auto &[name, value] : all)
      list += (list.empty() ? "" : " ") + (name == "mixer" ? value : name + "=" + value);
    return list;
  };
  std::string line = s.measure + (s.step ? " by step " + std::to_string(s.step) : "") +
                     (s.first.empty() ? "" : " of " + text(s.first));
  if (s.compares)
    line += " above " + text(s.second);
  else if (s.least == -HUGE_VAL)
    line += " at most " + number(s.most);
  else
    line += s.most == HUGE_VAL ? " at least " + number(s.least) : " from " + number(s.least) + " to " + number(s.most);
  return line + (s.where.empty() ? "" : ", " + text(s.where));
}

Table table_of(const std::vector<Statement> &statements, const std::vector<Ruling> &rulings) {
  Table table{"trained_statements",
              {{"statement", Kind::integer},
               {"row", Kind::text},
               {"paper", Kind::text},
               {"experiment", Kind::text},
               {"says", Kind::text},
               {"verdict", Kind::text},
               {"p", Kind::real},
               {"least", Kind::real},
               {"most", Kind::real},
               {"rate", Kind::text},
               {"mean", Kind::real},
               {"low", Kind::real},
               {"high", Kind::real},
               {"seeds", Kind::integer},
               {"diverged", Kind::integer},
               {"other_rate", Kind::text},
               {"other_mean", Kind::real},
               {"other_low", Kind::real},
               {"other_high", Kind::real},
               {"other_seeds", Kind::integer},
               {"other_diverged", Kind::integer}},
              {}};
  for (size_t i = 0; i < rulings.size(); ++i) {
    const Statement &s = statements[i];
    const Ruling &r = rulings[i];
    table.add(i, s.row, s.paper, s.experiment, says(s), r.verdict, r.p, s.least, s.most, r.first.rate, r.first.mean,
              r.first.low, r.first.high, r.first.seeds, r.first.diverged, r.second.rate, r.second.mean, r.second.low,
              r.second.high, r.second.seeds, r.second.diverged);
  }
  return table;
}

} // namespace recollect::train
