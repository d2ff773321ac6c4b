// SPDX-License-Identifier: Apache-2.0
#include "harness/train/statements.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/numerics/false_discovery.hpp"
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
    if (found == model.settings.end()) return false; // the name is a parameter of another layer
    if (found->second != value) return false;        // texts are compared: numbers must be written as in the settings
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

/// What the statement measures, for one model: accuracy, loss, length, or whether the model diverged (1 or 0). A
/// diverged model has accuracy 0 and the loss of a guess.
double measured(const Statement &s, const TrainedModel &model) {
  const bool loss = s.measure == "loss";
  if (s.measure == "diverged") return model.trained->diverged;
  if (s.measure == "length") {
    const auto length = model.trained->metrics.find("length");
    if (length == model.trained->metrics.end()) refuse(s, "only models of words have a length");
    return length->second;
  }
  if (model.trained->diverged) return loss ? std::log(parse_number(model.settings.at("vocabulary"), s.row)) : 0;
  if (s.step == 0) return loss ? model.trained->loss : model.trained->accuracy;
  const CurvePoint *last = nullptr;
  for (const CurvePoint &point : model.curve)
    if (point.step <= s.step) last = &point;
  if (!last) refuse(s, "the curve has no point up to step " + std::to_string(s.step));
  return loss ? last->loss : last->accuracy;
}

/// measured() for the models of one side of a statement, one row per seed and one column per learning rate. Seeds that
/// were not trained at every rate are left out.
struct Sampled {
  std::vector<std::string> rates;
  Tried trials;
  std::vector<std::vector<int>> diverged; // rows and columns as in `trials`
};

/// The rates ascend, so that a column has the same rate on both sides of a comparison.
Sampled sampled(const Statement &s, const std::vector<const TrainedModel *> &models) {
  Sampled found;
  std::map<double, std::string> rates;
  std::map<std::uint64_t, std::map<double, const TrainedModel *>> seeds;
  for (const TrainedModel *model : models) {
    const std::string &text = model->settings.at(rate_setting);
    const double rate = parse_number(text, s.row);
    rates[rate] = text;
    if (model->trained) seeds[model->seed][rate] = model;
  }
  for (const auto &[rate, text] : rates) found.rates.push_back(text);
  for (const auto &[seed, by_rate] : seeds) {
    if (by_rate.size() < found.rates.size()) continue;
    found.trials.emplace_back(), found.diverged.emplace_back();
    for (const auto &[rate, model] : by_rate)
      found.trials.back().push_back(measured(s, *model)), found.diverged.back().push_back(model->trained->diverged);
  }
  return found;
}

/// Sets the mean over seeds and its interval. With fewer than three seeds there is no interval: for two it would be
/// very wide, or empty if they agree.
void give_interval(Side &side, const std::vector<double> &seeds) {
  const Mean mean = mean_of(seeds);
  side.mean = mean.mean;
  if (seeds.size() < 3) return;
  const double wide =
      boost::math::quantile(boost::math::students_t(double(seeds.size()) - 1), 1 - level / 2) * mean.standard_error;
  side.low = side.mean - wide, side.high = side.mean + wide;
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
  give_interval(side, column);
  return side;
}

/// For every seed, the rate that is best for the other seeds, and what was measured for the seed at this rate.
struct LeftOut {
  std::vector<double> values;
  std::vector<size_t> rates; // columns of Sampled::trials
  int diverged = 0;
};
LeftOut left_out(const Sampled &all, bool smallest) {
  LeftOut found;
  for (size_t i = 0; i < all.trials.size(); ++i) {
    Tried others = all.trials;
    others.erase(others.begin() + std::ptrdiff_t(i));
    if (others.empty()) others = all.trials; // a single seed uses its own best rate
    const size_t rate = best_column(others, smallest);
    found.values.push_back(all.trials[i][rate]), found.rates.push_back(rate);
    found.diverged += all.diverged[i][rate];
  }
  return found;
}

Side on_other_seeds(const Sampled &all, bool smallest) {
  const LeftOut chosen = left_out(all, smallest);
  Side side;
  side.seeds = int(chosen.values.size()), side.diverged = chosen.diverged;
  if (chosen.values.empty()) return side;
  for (size_t rate : std::set<size_t>(chosen.rates.begin(), chosen.rates.end()))
    side.rate += (side.rate.empty() ? "" : ", ") + all.rates[rate];
  give_interval(side, chosen.values);
  return side;
}

/// The 90 % interval of the difference of means, by Welch's t test.
void give_difference(Ruling &ruling, const std::vector<double> &first, const std::vector<double> &second) {
  if (std::min(first.size(), second.size()) < 3) return;
  const Mean a = mean_of(first), b = mean_of(second);
  const double x = std::pow(a.standard_error, 2), y = std::pow(b.standard_error, 2), difference = a.mean - b.mean;
  double wide = 0;
  if (x + y > 0) {
    const double freedom = std::pow(x + y, 2) / (x * x / double(first.size() - 1) + y * y / double(second.size() - 1));
    wide = boost::math::quantile(boost::math::students_t(freedom), 0.95) * std::sqrt(x + y);
  }
  ruling.low = difference - wide, ruling.high = difference + wide;
}

std::string number_verdict(const Statement &s, const Side &side) {
  const double rounding = 1e-12; // if all seeds agree, the interval is a single number, perhaps one of the limits
  if (side.low >= s.least - rounding && side.high <= s.most + rounding) return "holds";
  return side.high < s.least - rounding || side.low > s.most + rounding ? "refuted" : "undecided";
}

/// The verdict "undecided (REASON)" if the models cannot decide the statement, else "".
std::string cannot_decide(const Statement &s, const Ruling &r) {
  if (!s.undecided.empty()) return "undecided (" + s.undecided + ")";
  return s.measure != "diverged" && r.first.diverged + r.second.diverged > 0 ? "undecided (diverged)" : "";
}

/// Verdict of a comparison for which cannot_decide() is "". `above` and `below` are the p-values for "the first side is
/// larger" and "the second side is larger".
std::string comparison_verdict(const Statement &s, const Ruling &r, double above, double below) {
  const double rounding = 1e-12; // rounding error of the means
  if (s.measure == "accuracy" && r.low >= -matters - rounding && r.high <= matters + rounding)
    return "no difference that matters";
  return above <= level ? "holds" : below <= level ? "refuted" : "undecided";
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
  if (const Table *metrics = trained_metrics(results))
    for (size_t row = 0; row < metrics->rows.size(); ++row)
      if (std::optional<Trained> &one = model(*metrics, row).trained)
        one->metrics[metrics->get<std::string>(row, "metric")] = metrics->get<double>(row, "value");
  for (size_t row = 0; row < curves.rows.size(); ++row) model(curves, row).curve.push_back(point_of(curves, row));
  return models;
}

Ruling rule(const Statement &s, const std::vector<TrainedModel> &models) {
  const bool smallest = s.measure == "loss";
  const Sampled first = sampled(s, chosen(s, models, s.first));
  Ruling ruling;
  if (!s.compares) {
    ruling.first = on_other_seeds(first, smallest);
    if (ruling.first.seeds == 0) return ruling;
    ruling.verdict = cannot_decide(s, ruling);
    if (ruling.verdict.empty()) ruling.verdict = number_verdict(s, ruling.first);
    return ruling;
  }
  const Sampled second = sampled(s, chosen(s, models, s.second));
  ruling.first = at_best(first, smallest), ruling.second = at_best(second, smallest);
  if (first.rates != second.rates) refuse(s, "its two sides were trained at different learning rates");
  if (std::max(first.trials.size(), second.trials.size()) > most_permuted)
    refuse(s, "more than " + std::to_string(most_permuted) + " seeds a side");
  if (first.trials.empty() || second.trials.empty()) return ruling;
  const PermutationTest test = permutation_test(first.trials, second.trials, smallest);
  ruling.above = test.first_larger, ruling.below = test.second_larger;
  ruling.p = ruling.adjusted = std::min(ruling.above, ruling.below);
  give_difference(ruling, left_out(first, smallest).values, left_out(second, smallest).values);
  ruling.verdict = cannot_decide(s, ruling);
  if (ruling.verdict.empty()) ruling.verdict = comparison_verdict(s, ruling, ruling.above, ruling.below);
  return ruling;
}

std::vector<Ruling> rule_all(const std::vector<Statement> &statements, const std::vector<TrainedModel> &models) {
  std::vector<Ruling> all;
  std::vector<size_t> tested; // indices of the comparisons that can be decided
  std::vector<double> above, below;
  for (const Statement &s : statements) {
    all.push_back(rule(s, models));
    const Ruling &r = all.back();
    if (std::isnan(r.p) || !cannot_decide(s, r).empty()) continue;
    tested.push_back(all.size() - 1), above.push_back(r.above), below.push_back(r.below);
  }
  above = adjusted_for_discoveries(above), below = adjusted_for_discoveries(below);
  for (size_t i = 0; i < tested.size(); ++i) {
    Ruling &r = all[tested[i]];
    r.adjusted = r.above <= r.below ? above[i] : below[i];
    r.verdict = comparison_verdict(statements[tested[i]], r, above[i], below[i]);
  }
  return all;
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
               {"adjusted", Kind::real},
               {"difference_low", Kind::real},
               {"difference_high", Kind::real},
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
    table.add(i, s.row, s.paper, s.experiment, says(s), r.verdict, r.p, r.adjusted, r.low, r.high, s.least, s.most,
              r.first.rate, r.first.mean, r.first.low, r.first.high, r.first.seeds, r.first.diverged, r.second.rate,
              r.second.mean, r.second.low, r.second.high, r.second.seeds, r.second.diverged);
  }
  return table;
}

} // namespace recollect::train
