// SPDX-License-Identifier: Apache-2.0
#include "harness/run/ensembles.hpp"
#include "harness/core/text.hpp"
#include <cmath>
#include <cstdio>

namespace recollect {
namespace {

using Texts = std::map<std::string, std::string>;
/// Index of a case -> owner (its layer or its task) -> the owner's parameters, as planned or as chosen by tuning.
using ByCase = std::map<std::int64_t, std::map<std::string, Texts>>;

std::string six_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

ByCase parameters(const Table &table) {
  ByCase found;
  const bool words = table.find("text") >= 0;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const double value = table.get<double>(row, "value");
    const std::string word = words ? table.get<std::string>(row, "text") : "";
    found[table.get<std::int64_t>(row, "case")][table.get<std::string>(row, "owner")]
         [table.get<std::string>(row, "name")] = !word.empty()       ? word
                                                 : std::isnan(value) ? "default"
                                                                     : six_digits(value);
  }
  return found;
}

std::map<std::int64_t, std::map<std::string, double>> metrics(const Table &table) {
  std::map<std::int64_t, std::map<std::string, double>> found;
  for (size_t row = 0; row < table.rows.size(); ++row)
    found[table.get<std::int64_t>(row, "case")][table.get<std::string>(row, "metric")] =
        table.get<double>(row, "value");
  return found;
}

std::string chosen_text(const std::map<std::string, Texts> &chosen) {
  std::vector<std::string> all;
  for (const auto &[owner, texts] : chosen)
    for (const auto &[name, value] : texts) all.push_back(name + "=" + value);
  return join(all, " ");
}

} // namespace

std::vector<Ensemble> ensembles_of(const Results &results) {
  const Table &plan = results.table("plan"), &records = results.table("records");
  ByCase planned = parameters(results.table("parameters")), chosen = parameters(results.table("choices"));
  auto measured = metrics(results.table("metrics"));
  std::map<std::int64_t, double> bytes;
  for (size_t row = 0; row < records.rows.size(); ++row)
    bytes[records.get<std::int64_t>(row, "case")] = records.get<double>(row, "state_bytes");
  std::map<std::tuple<std::string, std::string, std::string, std::string, Texts, Texts>, size_t> places;
  std::vector<Ensemble> all;
  for (size_t row = 0; row < plan.rows.size(); ++row) {
    const auto word = [&](const char *column) { return plan.get<std::string>(row, column); };
    const std::int64_t index = plan.get<std::int64_t>(row, "case");
    if (word("setting") == name_of(Setting::trial) || !measured.count(index)) continue;
    Ensemble one;
    one.experiment = word("experiment"), one.task = word("task"), one.variant = word("variant");
    one.form = word("form"), one.real = word("real"), one.headline = word("headline"), one.setting = word("setting");
    one.larger_is_better = word("better") == name_of(Metric::larger);
    one.of_task = planned[index][one.task], one.of_variant = planned[index][one.variant];
    one.chosen = chosen_text(chosen[index]), one.state_bytes = bytes[index];
    one.chance = plan.get<double>(row, "chance"), one.ceiling = plan.get<double>(row, "ceiling");
    const auto [place, fresh] = places.emplace(
        std::make_tuple(one.experiment, one.task, one.variant, one.form, one.of_task, one.of_variant), all.size());
    if (fresh) all.push_back(std::move(one));
    for (const auto &[metric, value] : measured[index])
      all[place->second].values[metric][plan.get<std::uint64_t>(row, "seed")] = value;
  }
  return all;
}

std::vector<double> values_of(const Ensemble &ensemble, const std::string &metric) {
  std::vector<double> values;
  if (const auto found = ensemble.values.find(metric); found != ensemble.values.end())
    for (const auto &[seed, value] : found->second) values.push_back(value);
  return values;
}

SharedSeeds shared_seeds(const Ensemble &first, const Ensemble &second, const std::string &metric) {
  SharedSeeds shared;
  const auto one = first.values.find(metric), other = second.values.find(metric);
  if (one == first.values.end() || other == second.values.end()) return shared;
  for (const auto &[seed, value] : one->second)
    if (const auto found = other->second.find(seed); found != other->second.end())
      shared.first.push_back(value), shared.second.push_back(found->second);
  return shared;
}

Swept::Swept(const std::vector<Ensemble> &all) {
  for (const Ensemble &e : all) {
    for (const auto &[name, value] : e.of_task) values_[{e.experiment, e.task, "", name}].insert(value);
    for (const auto &[name, value] : e.of_variant) values_[{e.experiment, e.task, e.variant, name}].insert(value);
  }
}

Texts Swept::several(const Ensemble &one, const std::string &variant, const Texts &mine) const {
  Texts found;
  for (const auto &[name, value] : mine)
    if (values_.at({one.experiment, one.task, variant, name}).size() > 1) found[name] = value;
  return found;
}

Texts Swept::of_task(const Ensemble &one) const { return several(one, "", one.of_task); }
Texts Swept::of_variant(const Ensemble &one) const { return several(one, one.variant, one.of_variant); }

} // namespace recollect
