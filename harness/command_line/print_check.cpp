// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print_check.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>

namespace recollect {
namespace {

using json = nlohmann::ordered_json;

/// The number with three digits, which are enough to compare it with a limit.
std::string rough(double x) {
  std::ostringstream text;
  text << std::setprecision(3) << x;
  return text.str();
}

json finite_or_null(double x) { return std::isfinite(x) ? json(x) : json(nullptr); }

std::string axes_of(const Part &part) { return part.over_steps ? "[b,h,t,channel]" : "[b,h,row,column]"; }

std::string place(const std::vector<long> &index) {
  std::vector<std::string> parts;
  for (long i : index) parts.push_back(std::to_string(i));
  return "[" + join(parts, ",") + "]";
}

void print_part(std::ostream &out, const Part &part, const Judged &found, const Limits &limits,
                const std::string &name) {
  std::ostringstream line;
  line << name << ": " << verdict_of(found.judgement) << "; worst row " << rough(found.row) << " (limit "
       << rough(limits.row) << "), worst head " << rough(found.head) << " (limit " << rough(limits.head_of(part.rows))
       << "); relative error: largest " << rough(found.worst) << ", RMS " << rough(found.rms);
  if (!found.finite) line << "; not finite";
  if (!found.first_bad.empty()) line << "; first wrong at " << axes_of(part) << " " << place(found.first_bad);
  if (!found.bad_heads.empty()) line << "; " << found.bad_heads.size() << " of " << part.heads << " heads";
  if (!found.without_power.empty())
    line << "; rounding is as large as the values in " << found.without_power.size() << " of " << part.heads
         << " heads";
  out << folded(line.str()) << '\n';
}

json part_json(const Part &part, const Judged &found, const Limits &limits) {
  return {{"checked", true},
          {"verdict", verdict_of(found.judgement)},
          {"finite", found.finite && std::isfinite(found.worst)},
          {"row", finite_or_null(found.row)},
          {"head", finite_or_null(found.head)},
          {"limits", {{"row", limits.row}, {"head", limits.head_of(part.rows)}}},
          {"worst", finite_or_null(found.worst)},
          {"rms", finite_or_null(found.rms)},
          {"first_bad", found.first_bad.empty() ? json(nullptr) : json(found.first_bad)},
          {"bad_heads", found.bad_heads},
          {"without_power", found.without_power}};
}

/// The user's name of a part.
std::string users_name(const std::string &part, const PartNames &names) {
  const auto found = names.find(part);
  return found == names.end() ? part : found->second;
}

std::vector<std::string> all_called(const std::vector<std::string> &parts, const PartNames &names) {
  std::vector<std::string> said;
  for (const std::string &part : parts) said.push_back(called(part, names));
  return said;
}

/// The names of arrays with their types, such as "q (bf16)".
std::vector<std::string> typed(const std::vector<std::string> &arrays, const std::vector<TypedArray> &types) {
  std::vector<std::string> said;
  for (const std::string &name : arrays) {
    const auto own = std::find_if(types.begin(), types.end(), [&](const TypedArray &one) { return one.name == name; });
    said.push_back(own == types.end() ? name : name + " (" + name_of(own->type) + ")");
  }
  return said;
}

/// Each packed text: its half-open range of steps and its verdict, which is null if the candidate has no result of the
/// text.
json texts_json(const CheckReport &report) {
  json texts = json::array();
  for (size_t i = 0; i < report.texts.size(); ++i) {
    const std::string label = "[" + std::to_string(i) + "]";
    json verdict = nullptr;
    for (const Judgement judgement : {Judgement::right, Judgement::undecided, Judgement::wrong}) // the worst is last
      for (const Judged &part : report.checked.parts) {
        const bool own = part.name.size() > label.size() &&
                         part.name.compare(part.name.size() - label.size(), label.size(), label) == 0;
        if (own && part.judgement == judgement) verdict = verdict_of(judgement);
      }
    texts.push_back({{"from", report.texts[i].begin}, {"to", report.texts[i].end}, {"verdict", verdict}});
  }
  return texts;
}

} // namespace

const char *verdict_of(Judgement judgement) {
  return judgement == Judgement::right ? "right" : judgement == Judgement::wrong ? "WRONG" : "cannot decide";
}

std::string in_short(const Checked &checked) {
  if (checked.right()) return "";
  if (checked.judgement == Judgement::undecided) return "cannot decide: " + checked.reason;
  if (!checked.diagnosis.empty()) return join(checked.diagnosis, "; or: ");
  std::vector<std::string> wrong;
  for (const Judged &part : checked.parts)
    if (part.judgement == Judgement::wrong) wrong.push_back(called(part.name, checked.names));
  const std::string named = "errors beyond rounding in " + join(wrong, ", ");
  return checked.where.empty() ? named : named + "; " + checked.where;
}

std::string ratios_of(const Checked &checked) {
  double row = 0, head = 0;
  for (const Judged &part : checked.parts) row = std::max(row, part.row), head = std::max(head, part.head);
  return "worst row " + rough(row) + ", head " + rough(head);
}

void print_checked(std::ostream &out, const CheckReport &report) {
  const Checked &c = report.checked;
  out << report.layer << ": " << alarmed(verdict_of(c.judgement)) << '\n';
  if (c.judgement == Judgement::undecided) out << folded("reason: " + c.reason) << '\n';
  out << "errors of rows and heads in units of rounding noise in " << name_of(report.precision) << ":\n";
  for (const Judged &part : c.parts)
    print_part(out, *find_part(report.reference, part.name), part, limits_of(report.precision),
               called(part.name, c.names));
  for (const auto &[first, last, worst] : c.by_step) {
    const std::string steps =
        last - first == 1 ? "step " + brief(first) : "steps " + brief(first) + " to " + brief(last - 1);
    out << "  " << steps << ": largest error " << rough(worst) << '\n';
  }
  if (!c.not_checked.empty()) out << folded("not checked: " + join(all_called(c.not_checked, c.names), ", ")) << '\n';
  if (!c.inexact.empty())
    out << folded("note: these arrays hold numbers that their types cannot represent: " +
                  join(typed(c.inexact, report.types), ", ") + "; `recollect sample --dtype` writes representable ones")
        << '\n';
  if (!c.where.empty()) out << folded("where: " + c.where) << '\n';
  for (const std::string &mistake : c.diagnosis) out << folded("diagnosis: " + mistake) << '\n';
  if (c.judgement == Judgement::wrong && c.diagnosis.empty())
    out << "diagnosis: none of the known mistakes gives these numbers\n";
  out << report.command << '\n'; // not wrapped, so that it can be copied
}

json checked_json(const CheckReport &report) {
  const Checked &c = report.checked;
  const Shape &n = report.shape;
  json parts = json::object(), curve = json::array(), types = json::object();
  for (const TypedArray &one : report.types) types[one.name] = name_of(one.type);
  for (const Part &part : report.reference) {
    const auto found =
        std::find_if(c.parts.begin(), c.parts.end(), [&](const Judged &one) { return one.name == part.name; });
    json one = found == c.parts.end() ? json{{"checked", false}} : part_json(part, *found, limits_of(report.precision));
    if (c.names.count(part.name)) one["definition"] = part.name;
    parts[users_name(part.name, c.names)] = std::move(one);
  }
  std::vector<std::string> not_checked;
  for (const std::string &part : c.not_checked) {
    not_checked.push_back(users_name(part, c.names));
    if (!parts.contains(not_checked.back())) parts[not_checked.back()] = {{"checked", false}};
  }
  for (const auto &[first, last, worst] : c.by_step)
    curve.push_back(
        {{"from", first}, {"to", last}, {"finite", bool(std::isfinite(worst))}, {"worst", finite_or_null(worst)}});
  return {{"variant", report.layer},
          {"dtype", name_of(report.precision)},
          {"types", types},
          {"shape", {{"B", n.B}, {"H", n.H}, {"T", n.T}, {"Dk", n.Dk}, {"Dv", n.Dv}}},
          {"texts", texts_json(report)},
          {"seed", report.seed.empty() ? json(nullptr) : json(report.seed)},
          {"verdict", verdict_of(c.judgement)},
          {"right", c.right()},
          {"reason", c.reason},
          {"parts", parts},
          {"by_step", curve},
          {"not_checked", not_checked},
          {"inexact_inputs", c.inexact},
          {"where", c.where},
          {"diagnosis", c.diagnosis},
          {"command", report.command}};
}

void add_case(JUnit &suite, const std::string &name, double seconds, const Checked &checked,
              const std::string &command) {
  if (checked.right())
    suite.passed(name, seconds);
  else
    suite.failed(name, seconds, in_short(checked), command);
}

} // namespace recollect
