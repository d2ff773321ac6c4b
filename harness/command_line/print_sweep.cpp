// SPDX-License-Identifier: Apache-2.0
// The tables of `verify --point`: measurements and predictions of claims at the points that the user named.
#include "harness/command_line/print.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/text.hpp"
#include <cmath>
#include <cstdio>
#include <map>
#include <ostream>
#include <set>

namespace recollect {
namespace {

/// The measurements of a claim that have the same role and label, one for every point.
struct Law {
  const Claim *claim;
  Role role;
  std::string label;
  std::vector<const Point *> points;
};

std::vector<Law> laws_of(const std::vector<Finding> &findings) {
  std::vector<Law> laws;
  std::map<std::tuple<const Claim *, Role, std::string>, size_t> places;
  for (const Finding &f : findings)
    for (const Point &p : f.points) {
      if (p.role == Role::rival) continue;
      const auto [place, fresh] = places.emplace(std::make_tuple(f.claim, p.role, p.label), laws.size());
      if (fresh) laws.push_back({f.claim, p.role, p.label, {}});
      laws[place->second].points.push_back(&p);
    }
  return laws;
}

std::string text_of(const Params::Value &value) { return value.text.empty() ? number(value.number) : value.text; }

/// Names of the parameters that have several values among the points. For a single point, all its parameters.
std::set<std::string> shown_parameters(const std::vector<const Point *> &points) {
  std::map<std::string, std::set<std::string>> values;
  for (const Point *p : points)
    for (const auto &[name, value] : p->params) values[name].insert(text_of(value));
  std::set<std::string> names;
  for (const auto &[name, all] : values)
    if (all.size() > 1 || points.size() == 1) names.insert(name);
  return names;
}

std::string percent(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.3g%%", 100 * ratio);
  return std::isfinite(ratio) ? text : "";
}

std::string two_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

void print_law(std::ostream &out, const Law &law) {
  out << folded(law.claim->id + ", " + name_of(law.role) + (law.label.empty() ? "" : ": " + unmarked(law.label)))
      << '\n';
  const std::set<std::string> names = shown_parameters(law.points);
  Rows rows{{}};
  for (const std::string &name : names) rows[0].push_back("  " + name);
  for (const char *name : {"measured", "predicted", "off by", "detects", "verdict"}) rows[0].push_back(name);
  if (names.empty()) rows[0][0].insert(0, "  ");
  for (const Point *p : law.points) {
    std::vector<std::string> row;
    std::map<std::string, std::string> values;
    for (const auto &[name, value] : p->params) values[name] = text_of(value);
    for (const std::string &name : names) row.push_back("  " + values[name]);
    const std::string relation = p->relation == Point::equal ? "" : p->relation == Point::at_most ? "<= " : ">= ";
    row.insert(row.end(), {brief(p->measured) + (p->standard_error > 0 ? " +- " + two_digits(p->standard_error) : ""),
                           relation + brief(p->predicted), percent(p->measured / p->predicted - 1),
                           p->relation == Point::equal ? two_digits(sensitivity(*p)) : "", name_of(p->verdict)});
    if (names.empty()) row[0].insert(0, "  ");
    rows.push_back(row);
  }
  print_table(out, rows);
}

} // namespace

void print_sweep(std::ostream &out, const std::vector<Finding> &findings) {
  double least = INFINITY;
  for (const Law &law : laws_of(findings)) {
    print_law(out, law);
    for (const Point *p : law.points)
      if (p->relation == Point::equal && sensitivity(*p) > 0) least = std::min(least, sensitivity(*p));
  }
  if (std::isfinite(least))
    out << folded(
               "detects: the relative error of the prediction that is detected with 95% power; the smallest here is " +
               two_digits(least))
        << '\n';
}

} // namespace recollect
