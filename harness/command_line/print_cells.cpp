// SPDX-License-Identifier: Apache-2.0
// What `run` says at its end where there were several seeds: by task, each layer's mean and standard error.
#include "harness/command_line/print.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/text.hpp"
#include "harness/numerics/statistics.hpp"
#include <cmath>
#include <map>
#include <ostream>
#include <set>

namespace recollect {
namespace {

using Texts = std::map<std::string, std::string>; // parameter -> "n=8"

/// All cases that differ in their seed alone.
struct Line {
  std::string experiment, task, variant, form, headline, setting, chosen;
  Texts of_task, of_variant;
  double chance, ceiling;
  std::vector<double> values;
};

/// Case -> owner -> parameters, as planned, or of the choices.
std::map<std::int64_t, std::map<std::string, Texts>> parameters(const Table &table) {
  std::map<std::int64_t, std::map<std::string, Texts>> found;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const double value = table.get<double>(row, "value");
    const std::string word = table.find("text") < 0 ? "" : table.get<std::string>(row, "text");
    const std::string name = table.get<std::string>(row, "name");
    found[table.get<std::int64_t>(row, "case")][table.get<std::string>(row, "owner")][name] =
        name + "=" +
        (!word.empty()       ? word
         : std::isnan(value) ? "default"
                             : brief(value));
  }
  return found;
}

std::string joined(const Texts &texts) {
  std::vector<std::string> all;
  for (const auto &[name, text] : texts) all.push_back(text);
  return join(all, " ");
}

std::vector<Line> lines(const Results &results) {
  const Table &plan = results.table("plan");
  auto planned = parameters(results.table("parameters")), chosen = parameters(results.table("choices"));
  const std::map<int, double> headlines = results.headlines();
  std::map<std::vector<std::string>, size_t> places;
  std::vector<Line> all;
  for (size_t row = 0; row < plan.rows.size(); ++row) {
    const auto word = [&](const char *column) { return plan.get<std::string>(row, column); };
    const std::int64_t index = plan.get<std::int64_t>(row, "case");
    const auto value = headlines.find(int(index));
    if (word("setting") == name_of(Setting::trial) || value == headlines.end()) continue;
    Line line{word("experiment"),
              word("task"),
              word("variant"),
              word("form"),
              word("headline"),
              word("setting"),
              "",
              {},
              {},
              0,
              0,
              {}};
    line.of_task = planned[index][line.task], line.of_variant = planned[index][line.variant];
    const auto [place, fresh] =
        places.emplace(std::vector<std::string>{line.experiment, line.task, line.variant, line.form,
                                                joined(line.of_task), joined(line.of_variant)},
                       all.size());
    if (fresh) {
      std::vector<std::string> choices;
      for (const auto &[owner, texts] : chosen[index]) choices.push_back(joined(texts));
      line.chosen = join(choices, " ");
      line.chance = plan.get<double>(row, "chance"), line.ceiling = plan.get<double>(row, "ceiling");
      all.push_back(line);
    }
    all[place->second].values.push_back(value->second);
  }
  return all;
}

/// Everything that is said of each parameter of a task, and of a layer on a task.
struct Said {
  std::map<std::vector<std::string>, std::set<std::string>> texts;

  explicit Said(const std::vector<Line> &all) {
    for (const Line &line : all) {
      for (const auto &[name, text] : line.of_task) texts[{line.experiment, line.task, name}].insert(text);
      for (const auto &[name, text] : line.of_variant)
        texts[{line.experiment, line.task, line.variant, name}].insert(text);
    }
  }
  /// " n=16" for each parameter that is not the same everywhere.
  std::string varying(std::vector<std::string> of, const Texts &mine) const {
    std::string told;
    of.emplace_back();
    for (const auto &[name, text] : mine) {
      of.back() = name;
      if (texts.at(of).size() > 1) told += " " + text;
    }
    return told;
  }
};

/// "recall n=16: accuracy, 5 seeds, chance 0.0625, ceiling 1"
std::string heading(const Line &line, const Said &said) {
  const auto end = [](const char *name, double x) {
    return std::isnan(x) ? "" : std::string(", ") + name + " " + brief(x);
  };
  return (line.experiment.empty() ? "" : line.experiment + ", ") + line.task +
         said.varying({line.experiment, line.task}, line.of_task) + ": " + line.headline + ", " +
         std::to_string(line.values.size()) + " seeds" + end("chance", line.chance) + end("ceiling", line.ceiling);
}

/// "tuned: beta=0.5", and what else tells the line from others of its layer.
std::string setting(const Line &line, const Said &said) {
  return line.setting + (line.chosen.empty() ? "" : ": " + line.chosen) +
         said.varying({line.experiment, line.task, line.variant}, line.of_variant);
}

} // namespace

void print_cells(std::ostream &out, const Results &results) {
  const std::vector<Line> all = lines(results);
  const Said said(all);
  std::vector<std::string> headings;
  std::set<std::string> untuned; // headings
  std::map<std::string, Rows> tables;
  for (const Line &line : all) {
    if (line.values.size() < 2) continue;
    const std::string over = heading(line, said);
    if (!tables.count(over))
      headings.push_back(over), tables[over] = {{"  variant", "form", "mean", "s.e.", "setting"}};
    if (line.setting == name_of(Setting::untuned)) untuned.insert(over);
    const Mean mean = mean_of(line.values);
    tables[over].push_back(
        {"  " + line.variant, line.form, brief(mean.mean), brief(mean.standard_error), setting(line, said)});
  }
  for (const std::string &over : headings) {
    out << folded(over + (untuned.count(over) ? ", untuned" : "")) << '\n';
    print_table(out, tables[over]);
  }
  if (!untuned.empty())
    out << folded("untuned: layers have their default parameters, so this is no comparison; --tune tunes each on a "
                  "small grid")
        << '\n';
}

} // namespace recollect
