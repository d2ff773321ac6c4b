// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/junit.hpp"
#include "harness/command_line/print.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/claim_version.hpp"
#include "harness/core/state_formula.hpp"
#include "harness/core/text.hpp"
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

namespace recollect {
namespace {

using json = nlohmann::ordered_json;

/// The number. Infinities and NaN, which JSON does not have, become texts, so that no number is lost.
json number_json(double x) { return std::isfinite(x) ? json(x) : json(number(x)); }

json params_json(const Params &params) {
  json object = json::object();
  for (const auto &[name, value] : params)
    object[name] = value.text.empty() ? number_json(value.number) : json(value.text);
  return object;
}

json specs_json(const std::vector<ParamSpec> &specs) {
  json list = json::array();
  for (const ParamSpec &p : specs) {
    json entry{{"name", p.name},
               {"default", p.kind == ParamSpec::choice || !p.automatic.empty() ? json(p.default_text())
                                                                               : number_json(p.fallback)}};
    entry["kind"] = p.kind == ParamSpec::integer ? "integer" : p.kind == ParamSpec::real ? "real" : "choice";
    if (p.kind == ParamSpec::choice)
      entry["choices"] = p.choices;
    else
      entry["low"] = number_json(p.low), entry["high"] = number_json(p.high);
    entry["meaning"] = p.meaning;
    if (!p.grid.empty()) entry["grid"] = p.grid;
    list.push_back(entry);
  }
  return list;
}

/// The state of one head: its shape at Dk = Dv = 64, its formula, and, if its size does not grow with T, its bytes in
/// float32 at Dk = Dv = 64 and 128.
json state_json(const Variant &v) {
  const Params params = resolve(v.params, {}, v.name);
  const StateFormula formula = state_formula(v);
  const StateShape s = v.state_shape({1, 1, 1, 64, 64}, params);
  json bytes = json::object();
  for (int d : {64, 128})
    if (s.size()) bytes[std::to_string(d)] = bytes_of(Real::f32) * v.state_shape({1, 1, 1, d, d}, params).size();
  return {{"rows", s.rows},         {"columns", s.columns}, {"at", "Dk = Dv = 64"}, {"numbers", formula.str()},
          {"fixed", formula.fixed}, {"bytes", bytes},       {"layout", v.layout},   {"symmetric", v.symmetric}};
}

json variant_json(const Variant &v) {
  json forms = json::array(), inputs = json::array();
  for (const Form &f : v.forms)
    forms.push_back({{"name", f.name},
                     {"exact", f.exact},
                     {"stable", f.stable},
                     {"backward", bool(f.vjp)},
                     {"work", f.work.str()}});
  for (const Input &i : v.inputs)
    inputs.push_back({{"name", i.name}, {"required", i.required}, {"meaning", i.meaning}});
  return {{"name", v.name},
          {"aliases", v.aliases},
          {"family", v.family},
          {"update", v.update},
          {"objective", v.objective},
          {"source", v.source},
          {"state", state_json(v)},
          {"differs", v.differs},
          {"cost", v.cost.str()},
          {"forms", forms},
          {"inputs", inputs},
          {"needs_one_of", v.needs_one_of},
          {"traits",
           {{"causal", v.traits.causal},
            {"linear_in_v", v.traits.linear_in_v},
            {"order_invariant", v.traits.order_invariant},
            {"stable", v.traits.stable},
            {"zero_step_keeps", v.traits.zero_step_keeps},
            {"zero_key_keeps", v.traits.zero_key_keeps},
            {"linear_memory", v.traits.linear_memory},
            {"repeats", name_of(v.traits.repeats)}}},
          {"parameters", specs_json(v.params)}};
}

json task_json(const Task &t) {
  json metrics = json::array();
  for (const Metric &m : t.metrics) metrics.push_back({{"name", m.name}, {"better", name_of(m.better)}});
  return {{"name", t.name},
          {"summary", t.summary},
          {"source", t.source},
          {"metrics", metrics},
          {"parameters", specs_json(t.params)}};
}

json claim_json(const Claim &c) {
  // c.source is the number of the paper, then the place in the paper: "000 Eq 7, Appendix A".
  const size_t space = c.source.find(' ');
  return {{"id", c.id},
          {"address", address_of(c)},
          {"version", version_of(c)},
          {"digest", digest_of(c)},
          {"paper", c.source.substr(0, space)},
          {"equation", space == std::string::npos ? "" : c.source.substr(space + 1)},
          {"source", c.source},
          {"file", c.file},
          {"statement", c.statement},
          {"corrected", c.exact},
          {"expected", name_of(c.expected)},
          {"scope", name_of(c.scope)},
          {"reason", name_of(c.reason)},
          {"condition", c.condition},
          {"reading",
           {{"paragraph", c.reading.paragraph},
            {"conditions", c.reading.conditions},
            {"next", c.reading.next},
            {"answer", c.reading.answer}}},
          {"system", system_of(c)},
          {"explanation", c.explanation},
          {"covers", c.covers},
          {"tasks", c.tasks},
          {"variants", c.variants},
          {"suite", c.suite == Effort::full ? "full" : "quick"},
          {"parameters", specs_json(c.params)}};
}

template <class Entry, class ToJson>
void print_list(std::ostream &out, const std::vector<const Entry *> &list, const ToJson &to_json) {
  json all = json::array();
  for (const Entry *entry : list) all.push_back(to_json(*entry));
  out << all.dump(2) << '\n';
}

json point_json(const Point &p) {
  return {{"params", params_json(p.params)},
          {"role", name_of(p.role)},
          {"label", unmarked(p.label)},
          {"measured", number_json(p.measured)},
          {"predicted", number_json(p.predicted)},
          {"relation", name_of(p.relation)},
          {"standard_error", number_json(p.standard_error)},
          {"tolerance", number_json(p.tolerance)},
          {"sensitivity", number_json(sensitivity(p))},
          {"verdict", name_of(p.verdict)}};
}

json rival_json(const Point &p) {
  json rival = point_json(p);
  rival.erase("role"), rival.erase("label");
  rival["name"] = unmarked(p.label), rival["kind"] = name_of(p.rival);
  return rival;
}

} // namespace

void print_variants_json(std::ostream &out, const std::vector<const Variant *> &list) {
  print_list(out, list, variant_json);
}
void print_tasks_json(std::ostream &out, const std::vector<const Task *> &list) { print_list(out, list, task_json); }
void print_claims_json(std::ostream &out, const std::vector<const Claim *> &list) { print_list(out, list, claim_json); }

void print_plan_json(std::ostream &out, const std::vector<Case> &plan) {
  json all = json::array();
  for (const Case &c : plan)
    all.push_back({{"case", c.index},
                   {"variant", c.variant->name},
                   {"form", c.form->name},
                   {"task", c.task->name},
                   {"real", name_of(c.real)},
                   {"chunk", c.chunk},
                   {"seed", c.seed},
                   {"variant_parameters", params_json(c.variant_params)},
                   {"task_parameters", params_json(c.task_params)}});
  out << all.dump(2) << '\n';
}

void print_facts_json(std::ostream &out, const Facts &facts) {
  json object = json::object();
  for (const auto &[name, value] : facts) object[name] = value;
  out << object.dump(2, ' ', false, json::error_handler_t::replace) << '\n'; // texts may come from files
}

std::string findings_json(const std::vector<Finding> &findings) {
  json claims = json::array();
  for (const Finding &f : findings) {
    json points = json::array(), rivals = json::array();
    for (const Point &p : f.points)
      if (p.role == Role::rival)
        rivals.push_back(rival_json(p));
      else
        points.push_back(point_json(p));
    json entry = claim_json(*f.claim);
    entry["verdict"] = name_of(f.verdict);
    entry["outcome"] = outcome_name(f);
    entry["tested"] = f.tested();
    entry["passed"] = f.passed;
    entry["points"] = points;
    entry["rivals"] = rivals;
    entry["seconds"] = f.seconds;
    claims.push_back(entry);
  }
  return json{{"schema", 2}, {"claims", claims}}.dump(2) + "\n";
}

std::string findings_junit(const std::vector<Finding> &findings) {
  JUnit suite("recollect verify", "claims");
  for (const Finding &f : findings) {
    std::string said;
    for (const Point &p : f.points)
      if (p.verdict != (p.role == Role::rival ? Verdict::refuted : Verdict::holds))
        said += std::string(name_of(p.role)) + " " + unmarked(p.label) + " " + p.params.str() + ": measured " +
                number(p.measured) + ", predicted " + number(p.predicted) + ", tolerance " + number(p.tolerance) +
                ", " + name_of(p.verdict) + "\n";
    if (!f.tested())
      suite.skipped(f.claim->id, name_of(f.claim->reason));
    else if (f.passed)
      suite.passed(f.claim->id, f.seconds, qualified(f.verdict, *f.claim));
    else
      suite.failed(f.claim->id, f.seconds,
                   std::string("verdict ") + name_of(f.verdict) + ", expected " +
                       qualified(f.claim->expected, *f.claim),
                   unmarked(f.claim->statement) + "\n" + said);
  }
  return suite.text();
}

} // namespace recollect
