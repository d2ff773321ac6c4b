// SPDX-License-Identifier: Apache-2.0
#include "harness/files/diff.hpp"
#include "harness/core/text.hpp"
#include "harness/numerics/timing.hpp"
#include <algorithm>
#include <cmath>
#include <map>

namespace recollect {
namespace {

using Texts = std::map<std::string, std::string>;
using Samples = std::map<std::string, std::vector<double>>;

std::string text(const Table &t, size_t row, const char *column) {
  return t.find(column) < 0 ? "" : t.get<std::string>(row, column);
}
std::int64_t whole(const Table &t, size_t row, const char *column) { return t.get<std::int64_t>(row, column); }

/// Claim (and the user's point, if any) -> verdict, with "(failed)" if another verdict was expected.
Texts verdicts(const Results &r) {
  Texts found;
  std::map<std::int64_t, std::string> points;
  if (const Table *plan = r.find("claim_plan"))
    for (size_t row = 0; row < plan->rows.size(); ++row)
      points[whole(*plan, row, "finding")] = text(*plan, row, "point");
  const Table *texts = r.find("claim_texts"), *claims = r.find("claims");
  const bool old = !texts || texts->find("verdict") < 0; // schema_version 1 stores verdicts only with points
  const Table *table = old ? claims : texts;
  for (size_t row = 0; table && row < table->rows.size(); ++row) {
    const std::string point = table->find("finding") < 0 ? "" : points[whole(*table, row, "finding")];
    const std::string verdict = text(*table, row, old ? "claim_verdict" : "verdict");
    const bool failed = verdict != "not_tested" && whole(*table, row, "passed") == 0;
    found[text(*table, row, "claim") + (point.empty() ? "" : " at " + point)] = verdict + (failed ? " (failed)" : "");
  }
  return found;
}

/// The seed of a case. Old files store it as a signed number.
std::string seed_of(const Table &plan, size_t row) {
  const int column = plan.find("seed");
  if (column >= 0 && plan.columns[size_t(column)].kind == Kind::integer)
    return std::to_string(whole(plan, row, "seed"));
  return std::to_string(plan.get<std::uint64_t>(row, "seed"));
}

/// Case number -> a text with everything that identifies the case, with its seed only if `with_seed`.
std::map<std::int64_t, std::string> case_names(const Results &r, bool with_seed) {
  std::map<std::int64_t, std::string> names;
  const Table *plan = r.find("plan"), *parameters = r.find("parameters");
  for (size_t row = 0; plan && row < plan->rows.size(); ++row) {
    if (text(*plan, row, "setting") == "trial") continue;
    std::string &name = names[whole(*plan, row, "case")];
    const std::string experiment = text(*plan, row, "experiment");
    name = (experiment.empty() ? "" : experiment + ": ") + text(*plan, row, "task") + "/" +
           text(*plan, row, "variant") + "/" + text(*plan, row, "form") + "/" + text(*plan, row, "real") +
           " C=" + std::to_string(whole(*plan, row, "chunk"));
    if (with_seed) name += " seed=" + seed_of(*plan, row);
  }
  for (size_t row = 0; parameters && row < parameters->rows.size(); ++row) {
    const double value = parameters->get<double>(row, "value");
    const std::string word = text(*parameters, row, "text");
    const auto owner = names.find(whole(*parameters, row, "case"));
    if (owner != names.end() && (!std::isnan(value) || !word.empty()))
      owner->second += " " + text(*parameters, row, "name") + "=" + (word.empty() ? number(value) : word);
  }
  return names;
}

Texts statuses(const Results &r) {
  Texts found;
  const auto names = case_names(r, true);
  if (const Table *records = r.find("records"))
    for (size_t row = 0; row < records->rows.size(); ++row)
      if (const auto name = names.find(whole(*records, row, "case")); name != names.end())
        found[name->second] = text(*records, row, "status");
  return found;
}

/// Case (without its seed) and metric -> the values of the metric over the seeds.
Samples metrics(const Results &r) {
  Samples found;
  const auto names = case_names(r, false);
  if (const Table *table = r.find("metrics"))
    for (size_t row = 0; row < table->rows.size(); ++row)
      if (const auto name = names.find(whole(*table, row, "case")); name != names.end())
        found[name->second + ": " + text(*table, row, "metric")].push_back(table->get<double>(row, "value"));
  return found;
}

Samples times(const Results &r) {
  Samples found;
  const Table *bench = r.find("bench"), *samples = r.find("bench_samples");
  std::map<std::int64_t, std::string> names;
  for (size_t row = 0; bench && row < bench->rows.size(); ++row)
    names[whole(*bench, row, "row")] = text(*bench, row, "source") + " " + text(*bench, row, "name");
  for (size_t row = 0; samples && row < samples->rows.size(); ++row)
    found[names[whole(*samples, row, "row")]].push_back(samples->get<double>(row, "seconds"));
  return found;
}

bool bad(const std::string &state) { return state == "failed" || state.find("(failed)") != std::string::npos; }

void compare_texts(const std::string &kind, const Texts &before, const Texts &after, Difference &d) {
  for (const auto &[name, old] : before) {
    const auto now = after.find(name);
    if (now == after.end()) {
      if (!after.empty()) d.changes.push_back({"gone", name, old, "", true});
      continue;
    }
    ++d.compared;
    if (now->second != old) d.changes.push_back({kind, name, old, now->second, bad(now->second) || kind == "verdict"});
  }
  for (const auto &[name, now] : after)
    if (!before.count(name) && !before.empty()) d.changes.push_back({"new", name, "", now, bad(now)});
}

std::string brief(double x) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", x);
  return buffer;
}

std::string with_error(const Mean &m, size_t n) {
  return brief(m.mean) + (n > 1 ? " +- " + brief(m.standard_error) : "");
}

bool differ(const std::vector<double> &a, const std::vector<double> &b, double resolution) {
  const Mean x = mean_of(a), y = mean_of(b);
  if (std::isnan(x.mean) || std::isnan(y.mean)) return std::isnan(x.mean) != std::isnan(y.mean);
  if (x.mean == y.mean) return false;
  const double rounding = resolution * (std::fabs(x.mean) + std::fabs(y.mean));
  const bool many = a.size() > 1 && b.size() > 1;
  const double error = many ? std::hypot(x.standard_error, y.standard_error) : 0;
  return std::fabs(x.mean - y.mean) > allowed_standard_errors * error + rounding;
}

template <class Compare>
void compare_samples(const Samples &before, const Samples &after, Difference &d, const Compare &compare) {
  for (const auto &[name, old] : before)
    if (const auto now = after.find(name); now != after.end()) {
      ++d.compared;
      compare(name, old, now->second);
    }
}

/// The changes; those for the worse come first.
std::vector<Change> ordered(const Difference &d) {
  std::vector<Change> changes = d.changes;
  std::stable_sort(changes.begin(), changes.end(), [](const Change &a, const Change &b) { return a.worse > b.worse; });
  return changes;
}

std::string summary(const Difference &d) {
  const auto worse = std::count_if(d.changes.begin(), d.changes.end(), [](const Change &c) { return c.worse; });
  return std::to_string(d.compared) + " compared, " + std::to_string(d.changes.size()) + " changed, " +
         std::to_string(worse) + " to look at";
}

} // namespace

bool Difference::worse() const {
  return std::any_of(changes.begin(), changes.end(), [](const Change &c) { return c.worse; });
}

Difference diff(const Results &before, const Results &after, double resolution) {
  Difference d;
  compare_texts("verdict", verdicts(before), verdicts(after), d);
  compare_texts("status", statuses(before), statuses(after), d);
  for (Change &c : d.changes) // a verdict that has become the expected one is not worse
    if (c.kind == "verdict" && bad(c.before) && !bad(c.after)) c.worse = false;
  compare_samples(metrics(before), metrics(after), d,
                  [&](const std::string &name, const std::vector<double> &old, const std::vector<double> &now) {
                    if (differ(old, now, resolution))
                      d.changes.push_back({"metric", name, with_error(mean_of(old), old.size()),
                                           with_error(mean_of(now), now.size()), true});
                  });
  compare_samples(times(before), times(after), d,
                  [&](const std::string &name, const std::vector<double> &old, const std::vector<double> &now) {
                    const Timing a = summarise(old), b = summarise(now);
                    const bool apart = a.high < b.low || b.high < a.low;
                    if (apart && std::fabs(b.median / a.median - 1) > 0.1)
                      d.changes.push_back({"time", name, brief(a.median * 1e3) + " ms", brief(b.median * 1e3) + " ms",
                                           b.median > a.median});
                  });
  return d;
}

std::string as_text(const Difference &d) {
  std::string out;
  for (const Change &c : ordered(d))
    out += printable((c.worse ? "! " : "  ") + c.kind + " " + c.what + ": " + (c.before.empty() ? "-" : c.before) +
                     " -> " + (c.after.empty() ? "-" : c.after)) +
           "\n";
  return out + summary(d) + "\n";
}

std::string as_markdown(const Difference &d) {
  std::string out = "**" + summary(d) + "**\n";
  if (d.changes.empty()) return out;
  const auto cell = [](const std::string &text) {
    std::string escaped;
    for (char c : printable(text))
      escaped += c == '|' ? "\\|" : c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
    return text.empty() ? std::string("-") : escaped;
  };
  out += "\n| | | what | before | after |\n|---|---|---|---|---|\n";
  for (const Change &c : ordered(d))
    out += std::string("| ") + (c.worse ? "!" : "") + " | " + c.kind + " | " + cell(c.what) + " | " + cell(c.before) +
           " | " + cell(c.after) + " |\n";
  return out;
}

} // namespace recollect
