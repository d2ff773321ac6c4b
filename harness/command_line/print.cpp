// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iomanip>
#include <map>
#include <ostream>

namespace recollect {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// Left-aligned columns, two spaces apart; the first row is the heading.
void print_table(std::ostream &out, const Rows &rows) {
  std::vector<size_t> widths;
  for (const auto &row : rows)
    for (size_t c = 0; c < row.size(); ++c) {
      if (c >= widths.size()) widths.push_back(0);
      widths[c] = std::max(widths[c], row[c].size());
    }
  for (const auto &row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) line += row[c] + std::string(widths[c] - row[c].size() + 2, ' ');
    out << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
  }
}

std::string brief(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string names(const std::vector<Form> &forms) {
  std::vector<std::string> all;
  for (const Form &f : forms)
    all.push_back(f.name + (f.exact ? "" : " (approximate)") + (f.stable ? "" : " (unstable)"));
  return join(all, ", ");
}

std::string traits_text(const Traits &t) {
  return std::string(t.causal ? "causal" : "not causal") + ", " + (t.linear_in_v ? "linear in v" : "not linear in v") +
         ", " + (t.order_invariant ? "blind to the order of the pairs" : "sees the order of the pairs") + ", " +
         (t.stable ? "stable in float32" : "unstable in float32 on ill-conditioned keys");
}

std::string inputs_text(const Variant &v) {
  std::vector<std::string> all{"q", "k", "v"};
  for (const Input &input : v.inputs) {
    const bool alternative =
        std::find(v.needs_one_of.begin(), v.needs_one_of.end(), input.name) != v.needs_one_of.end();
    all.push_back(input.required ? input.name : alternative ? input.name + "*" : "[" + input.name + "]");
  }
  return join(all, ", ");
}

std::string state_text(const Variant &v) {
  const Shape shape{1, 1, 1, 64, 64};
  const StateShape s = v.state_shape(shape, resolve(v.params, {}, v.name));
  return s.size() ? std::to_string(s.rows) + " x " + std::to_string(s.columns) : "none (grows with T)";
}

void describe_params(std::ostream &out, const std::vector<ParamSpec> &params) {
  if (params.empty()) return;
  out << "parameters (--set name=value):\n";
  Rows rows;
  for (const ParamSpec &p : params) {
    const std::string range =
        p.kind == ParamSpec::choice ? join(p.choices, " | ") : "[" + number(p.low) + ", " + number(p.high) + "]";
    rows.push_back({"  " + p.name, "default " + p.default_text(), range, p.meaning});
  }
  print_table(out, rows);
}

void line(std::ostream &out, const std::string &name, const std::string &value) {
  if (!value.empty()) out << std::left << std::setw(12) << name << value << '\n';
}

/// The point a reader wants first: the paper's statement, else the one nearest to or furthest beyond its tolerance.
const Point &decisive(const Finding &f) {
  const auto strain = [](const Point &p) {
    const double ratio = std::fabs(p.measured - p.predicted) / p.tolerance;
    return (p.verdict == Verdict::holds ? 0.0 : 1e300) + (std::isnan(ratio) ? 0.0 : std::min(ratio, 1e200)) +
           (p.role == Role::statement ? 1e250
            : p.role == Role::rival   ? -1e301
                                      : 0.0);
  };
  return *std::max_element(f.points.begin(), f.points.end(),
                           [&](const Point &a, const Point &b) { return strain(a) < strain(b); });
}

/// What the verdict says beyond its name: the scope of a refutation, the reason for not testing.
std::string qualifier(const Claim &c) { return std::string(name_of(c.scope)) + name_of(c.reason); }

/// A finding's line in the summary of what was found.
std::string kind_of(const Finding &f) {
  const std::string verdict = name_of(f.verdict), what = qualifier(*f.claim);
  return f.verdict == Verdict::refuted || f.verdict == Verdict::not_tested
             ? verdict + (what.empty() ? "" : " (" + what + ")")
             : verdict;
}

/// A point whose verdict fails its claim, or would if its statement were held against it.
bool unexpected(const Point &p) {
  return p.role == Role::rival ? p.verdict != Verdict::refuted
                               : p.role != Role::statement && p.verdict != Verdict::holds;
}

std::vector<std::string> point_row(const Finding &f, const Point &p, const std::string &verdict,
                                   const std::string &note) {
  const std::string relation = p.relation == Point::equal ? "" : p.relation == Point::at_most ? "<= " : ">= ";
  return {f.claim->id,
          brief(p.measured),
          relation + brief(p.predicted),
          brief(p.standard_error),
          verdict,
          name_of(f.claim->expected),
          note};
}

} // namespace

void print_variants(std::ostream &out, const std::vector<const Variant *> &list) {
  Rows rows{{"variant", "family", "update", "objective", "state at Dk = Dv = 64", "cost a token", "forms", "inputs",
             "source"}};
  for (const Variant *v : list)
    rows.push_back({v->name, v->family, v->update, v->objective, state_text(*v), v->cost, names(v->forms),
                    inputs_text(*v), v->source});
  print_table(out, rows);
}

void print_tasks(std::ostream &out, const std::vector<const Task *> &list) {
  Rows rows{{"task", "metrics", "source", "summary"}};
  for (const Task *t : list) rows.push_back({t->name, join(t->metrics, ", "), t->source, t->summary});
  print_table(out, rows);
}

void print_claims(std::ostream &out, const std::vector<const Claim *> &list) {
  Rows rows{{"claim", "expected", "scope", "suite", "system", "source", "statement"}};
  for (const Claim *c : list)
    rows.push_back({c->id, name_of(c->expected), qualifier(*c), c->suite == Effort::full ? "full" : "quick",
                    system_of(*c), c->source, c->statement});
  print_table(out, rows);
}

void describe(std::ostream &out, const Variant &v) {
  line(out, "variant", v.name);
  line(out, "family", v.family);
  line(out, "update", v.update);
  line(out, "objective", v.objective);
  line(out, "source", v.source);
  line(out, "state", state_text(v) + " a head at Dk = Dv = 64");
  line(out, "cost", v.cost + " a token");
  line(out, "forms", names(v.forms));
  line(out, "traits", traits_text(v.traits));
  out << "inputs:\n";
  Rows rows{{"  q, k", "[B,H,T,Dk]", "required", ""}, {"  v", "[B,H,T,Dv]", "required", ""}};
  for (const Input &i : v.inputs) {
    const bool alternative = std::find(v.needs_one_of.begin(), v.needs_one_of.end(), i.name) != v.needs_one_of.end();
    const std::string absent = i.required      ? "required"
                               : alternative   ? "one of these required"
                               : i.name == "w" ? "default k"
                                               : "default 1";
    rows.push_back({"  " + i.name, i.per_step() ? "[B,H,T]" : "[B,H,T,Dk]", absent, i.meaning});
  }
  print_table(out, rows);
  describe_params(out, v.params);
}

void describe(std::ostream &out, const Task &t) {
  line(out, "task", t.name);
  line(out, "summary", t.summary);
  line(out, "source", t.source);
  line(out, "metrics", join(t.metrics, ", "));
  describe_params(out, t.params);
}

void describe(std::ostream &out, const Claim &c) {
  line(out, "claim", c.id);
  line(out, "source", c.source);
  line(out, "statement", c.statement);
  line(out, "exact", c.exact);
  line(out, "explanation", c.explanation);
  line(out, "expected", name_of(c.expected) + (qualifier(c).empty() ? "" : " (" + qualifier(c) + ")"));
  line(out, "system", system_of(c));
  line(out, "variants", join(c.variants, ", "));
  line(out, "covers", join(c.covers, ", "));
  describe_params(out, c.params);
}

void print_plan(std::ostream &out, const std::vector<Case> &plan) {
  Rows rows{{"case", "variant", "form", "task", "real", "chunk", "seed", "variant parameters", "task parameters"}};
  for (const Case &c : plan)
    rows.push_back({std::to_string(c.index), c.variant->name, c.form->name, c.task->name, name_of(c.real),
                    std::to_string(c.chunk), std::to_string(c.seed), c.variant_params.str(), c.task_params.str()});
  print_table(out, rows);
}

void print_record(std::ostream &out, const Case &c, const Record &record) {
  out << std::left << std::setw(20) << c.task->name << ' ' << std::setw(22) << c.variant->name << ' ' << std::setw(10)
      << c.form->name << ' ';
  if (record.status != "ok") out << record.status << ": " << record.reason;
  for (const auto &[name, value] : record.score.metrics) out << name << '=' << brief(value) << ' ';
  if (!record.seconds.empty())
    out << '(' << brief(*std::min_element(record.seconds.begin(), record.seconds.end())) << " s)";
  out << std::endl;
}

void print_facts(std::ostream &out, const Facts &facts) {
  for (const auto &[name, value] : facts) out << std::left << std::setw(24) << name << value << '\n';
}

void print_findings(std::ostream &out, const std::vector<Finding> &findings, bool every_point) {
  Rows rows{{"id", "measured", "predicted", "std.err", "verdict", "expected", ""}};
  int passed = 0, failed = 0;
  std::map<std::string, int> found;
  for (const Finding &f : findings) {
    ++found[kind_of(f)];
    if (!f.tested()) {
      rows.push_back({f.claim->id, "", "", "", name_of(f.verdict), name_of(f.claim->expected), qualifier(*f.claim)});
      continue;
    }
    (f.passed ? passed : failed) += 1;
    const std::string mark = f.passed ? "" : "FAILED";
    if (f.points.empty())
      rows.push_back({f.claim->id, "", "", "", name_of(f.verdict), name_of(f.claim->expected), mark + " (no points)"});
    else
      rows.push_back(point_row(f, decisive(f), name_of(f.verdict), mark));
    for (const Point &p : f.points)
      if (every_point || (!f.passed && unexpected(p))) {
        rows.push_back(
            point_row(f, p, name_of(p.verdict),
                      std::string(name_of(p.role)) + (p.label.empty() ? " " : " " + p.label + " ") + p.params.str()));
        rows.back()[0] = "  . " + f.claim->id;
        rows.back()[5] = "";
      }
    if (!f.passed &&
        std::none_of(f.points.begin(), f.points.end(), [](const Point &p) { return p.role == Role::rival; }))
      rows.push_back({"  . " + f.claim->id, "", "", "", "", "", "no rival: nothing shows that it could fail"});
  }
  print_table(out, rows);
  for (const auto &[kind, count] : found) out << count << ' ' << kind << '\n';
  out << passed << " passed, " << failed << " failed\n";
}

} // namespace recollect
