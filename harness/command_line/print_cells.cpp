// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/text.hpp"
#include "harness/numerics/statistics.hpp"
#include <cmath>
#include <map>
#include <ostream>

namespace recollect {
namespace {

/// All cases that differ in their seed alone.
struct Line {
  std::vector<std::string> name; // experiment, task, variant, form
  std::string parameters, headline, setting, chosen;
  double chance, ceiling;
  std::vector<double> values;
};

/// Case -> "n=8 d=16", as planned, or of the choices.
std::map<std::int64_t, std::string> parameters(const Table &table) {
  std::map<std::int64_t, std::string> texts;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const double value = table.get<double>(row, "value");
    const std::string word = table.find("text") < 0 ? "" : table.get<std::string>(row, "text");
    std::string &text = texts[table.get<std::int64_t>(row, "case")];
    text += (text.empty() ? "" : " ") + table.get<std::string>(row, "name") + "=" +
            (!word.empty()       ? word
             : std::isnan(value) ? "default"
                                 : brief(value));
  }
  return texts;
}

std::vector<Line> lines(const Results &results) {
  const Table &plan = results.table("plan");
  const auto planned = parameters(results.table("parameters")), chosen = parameters(results.table("choices"));
  const std::map<int, double> headlines = results.headlines();
  std::map<std::string, size_t> places;
  std::vector<Line> all;
  for (size_t row = 0; row < plan.rows.size(); ++row) {
    const auto word = [&](const char *column) { return plan.get<std::string>(row, column); };
    const std::int64_t index = plan.get<std::int64_t>(row, "case");
    const auto value = headlines.find(int(index));
    if (word("setting") == name_of(Setting::trial) || value == headlines.end()) continue;
    Line line;
    line.name = {word("experiment"), word("task"), word("variant"), word("form")};
    if (const auto found = planned.find(index); found != planned.end()) line.parameters = found->second;
    const auto [place, fresh] = places.emplace(join(line.name, "/") + " " + line.parameters, all.size());
    if (fresh) {
      line.headline = word("headline"), line.setting = word("setting");
      if (const auto found = chosen.find(index); found != chosen.end()) line.chosen = found->second;
      line.chance = plan.get<double>(row, "chance"), line.ceiling = plan.get<double>(row, "ceiling");
      all.push_back(line);
    }
    all[place->second].values.push_back(value->second);
  }
  return all;
}

} // namespace

void print_cells(std::ostream &out, const Results &results) {
  Rows rows{{"task", "variant", "headline", "mean", "s.e.", "seeds", "chance", "ceiling", "parameters"}};
  bool several = false;
  for (const Line &line : lines(results)) {
    several = several || line.values.size() > 1;
    const Mean mean = mean_of(line.values);
    const auto end = [](double x) { return std::isnan(x) ? std::string("-") : brief(x); };
    rows.push_back({line.name[1], line.name[2], line.headline, brief(mean.mean),
                    line.values.size() > 1 ? brief(mean.standard_error) : "-", std::to_string(line.values.size()),
                    end(line.chance), end(line.ceiling),
                    line.chosen.empty() ? line.setting : line.setting + ": " + line.chosen});
  }
  if (several) print_table(out, rows);
}

} // namespace recollect
