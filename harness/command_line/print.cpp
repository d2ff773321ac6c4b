// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/text.hpp"
#include "harness/run/estimate.hpp"
#include <algorithm>
#include <iomanip>
#include <map>
#include <ostream>
#include <set>
#include <sstream>

namespace recollect {
namespace {

std::string forms_text(const Variant &v) {
  std::vector<std::string> all;
  for (const Form &f : v.forms)
    all.push_back(f.name + (f.exact ? "" : " (approximate)") + (f.stable ? "" : " (unstable)") +
                  (f.vjp ? " (with a backward pass)" : "") +
                  (f.work.str() == "0" ? "" : " (fast where " + f.work.str() + " <= " + v.cost.flops.str() + ")"));
  return join(all, ", ");
}

/// What a read at a key returns if several values were written at that key.
const char *returned(Repeats repeats) {
  const char *const texts[] = {"", "the sum of its values", "the mean of its values",
                               "the sum of its values divided by (their number + ridge)", "its latest value"};
  return texts[int(repeats)];
}

std::string traits_text(const Traits &t) {
  return std::string(t.causal ? "causal" : "not causal") + ", " + (t.linear_in_v ? "linear in v" : "not linear in v") +
         ", " + (t.order_invariant ? "independent of the order of the pairs" : "depends on the order of the pairs") +
         ", " +
         (t.stable ? "float32 errors stay within the condition number's bound"
                   : "float32 errors may exceed the condition number's bound on ill-conditioned keys") +
         (t.zero_step_keeps ? ", beta = 0 writes nothing" : "") +
         (t.zero_key_keeps ? ", a key of zero writes nothing" : "") +
         (t.repeats == Repeats::other ? "" : std::string(", a repeated key returns ") + returned(t.repeats)) +
         (t.linear_memory ? "" : ", memory grows as T^2");
}

/// The metrics of a task, the headline metric first, each with the direction that is better: " (larger)" or "
/// (smaller)".
std::string metrics_text(const Task &t) {
  const char *const arrows[] = {"", " (larger)", " (smaller)"};
  std::vector<std::string> all;
  for (const Metric &m : t.metrics) all.push_back(m.name + std::string(arrows[m.better]));
  return join(all, ", ");
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

/// The name with the first alias, such as "gated_linear (gla)". describe() lists all aliases.
std::string both_names(const Variant &v) { return v.name + (v.aliases.empty() ? "" : " (" + v.aliases.front() + ")"); }

std::string state_text(const Variant &v) {
  const Shape shape{1, 1, 1, 64, 64};
  const StateShape s = v.state_shape(shape, resolve(v.params, {}, v.name));
  return s.size() ? std::to_string(s.rows) + " x " + std::to_string(s.columns) : "none (grows with T)";
}

void describe_params(std::ostream &out, const std::vector<ParamSpec> &params, const std::string &flag = "--set") {
  if (params.empty()) return;
  out << "parameters (" << flag << " name=value):\n";
  Rows rows;
  for (const ParamSpec &p : params) {
    const std::string range =
        p.kind == ParamSpec::choice ? join(p.choices, " | ") : "[" + number(p.low) + ", " + number(p.high) + "]";
    rows.push_back({"  " + p.name, "default " + p.default_text(), range,
                    unmarked(p.meaning) + (p.grid.empty() ? "" : " (--tune also tries " + grid_text(p) + ")")});
  }
  print_table(out, rows);
}

void line(std::ostream &out, const std::string &name, const std::string &value) {
  if (!value.empty()) out << wrapped(unmarked(value), name, 12) << '\n';
}

} // namespace

void print_variants(std::ostream &out, const std::vector<const Variant *> &list) {
  Rows rows{{"variant", "family", "state at 64 x 64", "inputs", "update"}}; // describe() shows more
  for (const Variant *v : list)
    rows.push_back({both_names(*v), v->family, state_text(*v), inputs_text(*v), unmarked(v->update)});
  print_table(out, rows);
}

void print_tasks(std::ostream &out, const std::vector<const Task *> &list) {
  Rows rows{{"task", "metrics", "source", "summary"}};
  for (const Task *t : list) rows.push_back({t->name, metrics_text(*t), t->source, unmarked(t->summary)});
  print_table(out, rows);
}

void print_claims(std::ostream &out, const std::vector<const Claim *> &list) {
  if (terminal_width() < 160) { // a table would have columns too narrow for whole sentences
    for (const Claim *c : list)
      out << folded(c->id + ": " + qualified(c->expected, *c) + ", " + c->source) << '\n'
          << folded("      " + unmarked(c->statement)) << '\n';
    return;
  }
  Rows rows{{"claim", "expected", "source", "statement"}}; // describe() shows more
  for (const Claim *c : list) rows.push_back({c->id, qualified(c->expected, *c), c->source, unmarked(c->statement)});
  print_table(out, rows);
}

void describe(std::ostream &out, const Variant &v) {
  line(out, "variant", v.name);
  line(out, "also called", join(v.aliases, ", "));
  line(out, "family", v.family);
  line(out, "update", v.update);
  line(out, "objective", v.objective);
  line(out, "source", v.source);
  line(out, "differs", v.differs);
  line(out, "code", "variants/" + v.name + ".cpp");
  line(out, "state", state_text(v) + " per head at Dk = Dv = 64");
  line(out, "layout", v.layout);
  if (!v.symmetric.empty())
    line(out, "gradient",
         "dstate in the symmetric " + v.symmetric + ": d_ij = d_ji, each half of the derivative in the one variable " +
             v.symmetric + "_ij = " + v.symmetric + "_ji");
  line(out, "cost", v.cost.str() + " per token");
  line(out, "forms", forms_text(v));
  line(out, "traits", traits_text(v.traits));
  out << "inputs:\n";
  Rows rows{{"  q, k", "[B,H,T,Dk]", "required", ""}, {"  v", "[B,H,T,Dv]", "required", ""}};
  for (const Input &i : v.inputs) {
    const bool alternative = std::find(v.needs_one_of.begin(), v.needs_one_of.end(), i.name) != v.needs_one_of.end();
    const std::string absent = i.required          ? "required"
                               : alternative       ? "one of these required"
                               : !i.absent.empty() ? "default " + i.absent
                               : i.name == "w"     ? "default k"
                                                   : "default 1";
    rows.push_back({"  " + i.name, i.per_step() ? "[B,H,T]" : "[B,H,T,Dk]", absent, unmarked(i.meaning)});
  }
  print_table(out, rows);
  describe_params(out, v.params);
}

void describe(std::ostream &out, const Task &t) {
  line(out, "task", t.name);
  line(out, "summary", t.summary);
  line(out, "source", t.source);
  line(out, "code", "tasks/" + t.name + ".cpp");
  line(out, "metrics", metrics_text(t));
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
  describe_params(out, c.params, "--point");
}

namespace {

using Values = std::map<std::string, std::set<std::string>>; // parameter -> its values in the plan

std::map<std::string, std::string> texts_of(const Params &params) {
  std::map<std::string, std::string> texts;
  for (const auto &[name, value] : params) texts[name] = value.text.empty() ? number(value.number) : value.text;
  return texts;
}

/// Those parameters that have several values in the plan, with their values in this case: "n=8 d=16".
std::string varying(const Params &mine, const Values &all) {
  std::vector<std::string> told;
  for (const auto &[name, text] : texts_of(mine))
    if (all.at(name).size() > 1) told.push_back(name + "=" + text);
  return join(told, " ");
}

/// A row of the plan's table: cases that differ only in their seed, together with the trials that tune their layer.
struct PlannedCell {
  const Case *reported = nullptr;
  int trials = 0, seeds = 0;
};

std::vector<PlannedCell> cells_of(const std::vector<Case> &plan) {
  std::vector<PlannedCell> cells;
  for (const Case &c : plan) {
    const auto same = [&](const PlannedCell &cell) {
      const Case &other = *cell.reported;
      return other.variant == c.variant && other.task == c.task && other.experiment == c.experiment &&
             (other.group == c.group ||
              (other.variant_params.str() == c.variant_params.str() && other.task_params.str() == c.task_params.str()));
    };
    if (cells.empty() || !same(cells.back())) cells.push_back({&c});
    PlannedCell &cell = cells.back();
    if (c.setting == Setting::trial)
      ++cell.trials;
    else
      ++cell.seeds, cell.reported = &c;
  }
  return cells;
}

void print_fixed(std::ostream &out, const std::string &owner, const Params &params) {
  if (!params.str().empty()) out << folded("  " + owner + ": " + params.str()) << '\n';
}

} // namespace

void print_plan(std::ostream &out, const std::vector<Case> &plan) {
  out << folded(size_of(plan)) << '\n';
  std::map<const Task *, Values> of_task;
  std::map<std::pair<const Task *, const Variant *>, Values> of_variant;
  const std::vector<PlannedCell> cells = cells_of(plan);
  for (const PlannedCell &cell : cells) {
    const Case &c = *cell.reported;
    for (const auto &[name, text] : texts_of(c.task_params)) of_task[c.task][name].insert(text);
    for (const auto &[name, text] : texts_of(c.variant_params)) of_variant[{c.task, c.variant}][name].insert(text);
  }
  Rows rows{{"  variant", "form", "task", "seeds", "trials", "setting"}};
  for (const PlannedCell &cell : cells) {
    const Case &c = *cell.reported;
    std::string setting = varying(c.task_params, of_task[c.task]);
    const std::string own = varying(c.variant_params, of_variant[{c.task, c.variant}]);
    if (!own.empty()) setting += (setting.empty() ? "" : " ") + own;
    rows.push_back({"  " + c.variant->name, c.form->name, c.task->name, std::to_string(cell.seeds),
                    cell.trials ? std::to_string(cell.trials) : "", setting});
  }
  print_table(out, rows);
  if (plan.empty()) return;
  out << "parameters of the first setting (" << name_of(plan[0].real) << ", chunk " << plan[0].chunk << "):\n";
  std::set<const void *> told;
  for (const PlannedCell &cell : cells) {
    if (told.insert(cell.reported->task).second)
      print_fixed(out, cell.reported->task->name, cell.reported->task_params);
    if (told.insert(cell.reported->variant).second)
      print_fixed(out, cell.reported->variant->name, cell.reported->variant_params);
  }
}

void print_record(std::ostream &out, const Case &c, const Record &record) {
  std::ostringstream said;
  said << std::left << std::setw(20) << c.task->name << ' ' << std::setw(22) << c.variant->name << ' ' << std::setw(10)
       << c.form->name << ' ';
  if (!record.reason.empty()) said << record.status << ": " << record.reason << ' ';
  for (const auto &[name, value] : record.score.metrics) said << name << '=' << brief(value) << ' ';
  if (!record.seconds.empty())
    said << '(' << brief(*std::min_element(record.seconds.begin(), record.seconds.end())) << " s)";
  out << folded(said.str()) << std::endl;
}

void print_facts(std::ostream &out, const Facts &facts) {
  for (const auto &[name, value] : facts) {
    const std::string shown = printable(name);
    out << folded(shown + std::string(shown.size() < 23 ? 24 - shown.size() : 2, ' ') + printable(value)) << '\n';
  }
}

} // namespace recollect
