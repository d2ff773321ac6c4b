// SPDX-License-Identifier: Apache-2.0
// The tables at the end of `run`, one per task: mean and standard error of each layer in every metric asked for.
#include "harness/command_line/print.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/text.hpp"
#include "harness/numerics/statistics.hpp"
#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <set>

namespace recollect {
namespace {

using Names = std::vector<std::string>;

/// The metrics in a task's table: the task's headline, or the requested metrics that the task has.
Names shown_metrics(const std::vector<const Ensemble *> &rows, const Names &asked) {
  if (asked.empty()) return {rows[0]->headline};
  Names shown;
  for (const std::string &metric : asked)
    for (const auto &[name, values] : rows[0]->values)
      if (metric == name || metric == "all") shown.push_back(name);
  return shown;
}

/// text(row), if it is the same for all rows; "" if it is not.
template <class Text> std::string common(const std::vector<const Ensemble *> &rows, const Text &text) {
  const std::string first = text(*rows[0]);
  return std::all_of(rows.begin(), rows.end(), [&](const Ensemble *e) { return text(*e) == first; }) ? first : "";
}

std::string chance_text(const Ensemble &e) { return std::isnan(e.chance) ? "" : brief(e.chance); }

/// A heading such as "recall: accuracy, 5 seeds, chance 0.0625, ceiling 1, untuned".
std::string heading(const std::vector<const Ensemble *> &rows, const Names &metrics) {
  size_t seeds = 0;
  bool untuned = false;
  for (const Ensemble *e : rows) {
    for (const auto &[metric, values] : e->values) seeds = std::max(seeds, values.size());
    untuned = untuned || e->setting == name_of(Setting::untuned);
  }
  // Chance and ceiling are known for the headline metric only.
  const bool ends = std::find(metrics.begin(), metrics.end(), rows[0]->headline) != metrics.end();
  const std::string of = metrics.size() > 1 ? " of " + rows[0]->headline : "";
  const auto part = [&](const char *name, const std::string &text) {
    return !ends || text.empty() ? "" : std::string(", ") + name + of + " " + text;
  };
  return (rows[0]->experiment.empty() ? "" : rows[0]->experiment + ", ") + rows[0]->task + ": " + join(metrics, ", ") +
         ", " + std::to_string(seeds) + (seeds == 1 ? " seed" : " seeds") + part("chance", common(rows, chance_text)) +
         part("ceiling",
              common(rows, [](const Ensemble &e) { return std::isnan(e.ceiling) ? "" : brief(e.ceiling); })) +
         (untuned ? ", untuned" : "");
}

/// How the layer was set, such as "tuned: beta=0.5", followed by its swept parameters.
std::string setting(const Ensemble &e, const Swept &swept) {
  std::string text = e.setting + (e.chosen.empty() ? "" : ": " + e.chosen);
  for (const auto &[name, value] : swept.of_variant(e)) text += " " + name + "=" + value;
  return text;
}

void print_table_of(std::ostream &out, const std::vector<const Ensemble *> &rows, const Swept &swept,
                    const Names &metrics) {
  std::set<std::string> names; // names of the task's swept parameters
  for (const Ensemble *e : rows)
    for (const auto &[name, value] : swept.of_task(*e)) names.insert(name);
  const bool several = std::any_of(rows.begin(), rows.end(), [&](const Ensemble *e) {
    return std::any_of(metrics.begin(), metrics.end(), [&](const auto &m) { return values_of(*e, m).size() > 1; });
  });
  const bool of_chance =
      metrics[0] == rows[0]->headline && common(rows, chance_text).empty() && !std::isnan(rows[0]->chance);
  Rows table{{"  variant", "form"}};
  table[0].insert(table[0].end(), names.begin(), names.end());
  for (const std::string &metric : metrics) {
    table[0].push_back(metrics.size() > 1 ? metric : "mean");
    if (several) table[0].push_back("s.e.");
  }
  if (of_chance) table[0].push_back("chance");
  table[0].push_back("setting");
  for (const Ensemble *e : rows) {
    table.push_back({"  " + e->variant, e->form});
    std::vector<std::string> &row = table.back();
    for (const std::string &name : names) row.push_back(e->of_task.at(name));
    for (const std::string &metric : metrics) {
      const std::vector<double> values = values_of(*e, metric);
      const Mean mean = values.empty() ? Mean{NAN, NAN} : mean_of(values);
      row.push_back(values.empty() ? "" : brief(mean.mean));
      if (several) row.push_back(values.size() < 2 ? "" : brief(mean.standard_error));
    }
    if (of_chance) row.push_back(brief(e->chance));
    row.push_back(setting(*e, swept));
  }
  print_table(out, table);
}

} // namespace

void print_cells(std::ostream &out, const std::vector<Ensemble> &all, const std::vector<std::string> &metrics) {
  std::vector<std::vector<const Ensemble *>> tables;
  std::map<std::pair<std::string, std::string>, size_t> places;
  for (const Ensemble &e : all) {
    const auto [place, fresh] = places.emplace(std::make_pair(e.experiment, e.task), tables.size());
    if (fresh) tables.emplace_back();
    tables[place->second].push_back(&e);
  }
  const Swept swept(all);
  bool untuned = false;
  for (const auto &rows : tables) {
    const Names shown = shown_metrics(rows, metrics);
    if (shown.empty()) continue; // the metrics asked for belong to other tasks
    for (const Ensemble *e : rows) untuned = untuned || e->setting == name_of(Setting::untuned);
    const bool together = shown.size() <= 2; // a table of more metrics does not fit a terminal
    for (size_t i = 0; i < (together ? 1 : shown.size()); ++i) {
      const Names one = together ? shown : Names{shown[i]};
      out << folded(heading(rows, one)) << '\n';
      print_table_of(out, rows, swept, one);
    }
  }
  if (untuned)
    out << folded("untuned: layers have their default parameters, so this table does not compare them; --tune tunes "
                  "each on a small grid")
        << '\n';
}

void print_remarks(std::ostream &out, const Results &results) {
  const Table &plan = results.table("plan"), &records = results.table("records");
  std::map<std::int64_t, std::pair<std::string, std::string>> names; // case -> task, variant
  for (size_t row = 0; row < plan.rows.size(); ++row)
    names[plan.get<std::int64_t>(row, "case")] = {plan.get<std::string>(row, "task"),
                                                  plan.get<std::string>(row, "variant")};
  std::map<std::string, std::map<std::string, int>> remarks; // "recall, skipped: why" -> variant -> cases
  for (size_t row = 0; row < records.rows.size(); ++row) {
    const std::string status = records.get<std::string>(row, "status"), why = records.get<std::string>(row, "reason");
    const auto &[task, variant] = names[records.get<std::int64_t>(row, "case")];
    if (!why.empty() && status != "failed")
      ++remarks[task + (status == "ok" ? "" : ", " + status) + ": " + why][variant];
  }
  for (const auto &[remark, variants] : remarks) {
    std::vector<std::string> all;
    for (const auto &[variant, cases] : variants) all.push_back(variant + " (" + std::to_string(cases) + ")");
    out << folded(remark + "; layers (cases): " + join(all, ", ")) << '\n';
  }
}

} // namespace recollect
