// SPDX-License-Identifier: Apache-2.0
#include "harness/pipeline/suite.hpp"
#include "harness/core/error.hpp"
#include "harness/core/files.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

// A damaged file breaks some of the parser's assertions ("[~"); compiled out, they would be promises to the optimiser.
struct BrokenAssertion : std::exception {};
[[noreturn]] static void break_off() { throw BrokenAssertion(); }
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>((expression) || (break_off(), false))
#include <toml++/toml.h>

namespace recollect {
namespace {

std::string scalar_text(const toml::node &value, const std::string &where) {
  if (const auto text = value.value_exact<std::string>()) return *text;
  if (const auto number = value.value<double>()) return recollect::number(*number);
  usage_error(where + " needs a number or a text");
}

Effort effort_of(const std::string &text, const std::string &where) {
  if (text == "quick") return Effort::quick;
  if (text == "full") return Effort::full;
  usage_error(where + ": effort is 'quick' or 'full', got '" + text + "'");
}

std::vector<std::string> texts(const toml::node &value, const std::string &where) {
  if (!value.is_array()) return {scalar_text(value, where)};
  std::vector<std::string> all;
  for (const auto &item : *value.as_array()) all.push_back(scalar_text(item, where));
  return all;
}

/// `kind` is run or train; the latter has no layers and tasks beside its settings.
Experiment experiment_from(const toml::table &table, const std::string &where, const std::string &kind) {
  std::vector<std::string> known{"name", "title", "printed", "seeds", "set"};
  if (kind == "run") known.insert(known.end(), {"variants", "tasks", "form", "dtype", "chunk", "tune"});
  Experiment e;
  RunRequest &r = e.request;
  r.seeds = 5;
  for (const auto &[key_node, value] : table) {
    const std::string key(key_node.str()), here = where + ": " + key;
    const auto count = [&, &node = value] { // C++17: a structured binding is captured by another name only
      const double given = parse_number(scalar_text(node, here), here);
      if (!(given >= 1 && given <= 1e6) || given != std::floor(given)) usage_error(here + " needs a whole number");
      return int(given);
    };
    const auto refuse = [&] {
      usage_error(here + ": not a key of [[" + kind + "]], or of the wrong type" + suggestion(key, known));
    };
    if (std::find(known.begin(), known.end(), key) == known.end()) refuse();
    if (key == "name")
      r.experiment = scalar_text(value, here);
    else if (key == "title")
      e.title = scalar_text(value, here);
    else if (key == "printed")
      e.printed = scalar_text(value, here);
    else if (key == "variants")
      r.variants = texts(value, here);
    else if (key == "tasks")
      r.tasks = texts(value, here);
    else if (key == "form")
      r.form = scalar_text(value, here);
    else if (key == "dtype")
      r.real = scalar_text(value, here) == "f32" ? Real::f32 : Real::f64;
    else if (key == "chunk")
      r.chunk = count();
    else if (key == "seeds")
      r.seeds = count();
    else if (key == "tune" && value.is_boolean())
      r.tune = value.as_boolean()->get();
    else if (key == "set" && value.is_table())
      for (const auto &[name, given] : *value.as_table())
        r.settings[std::string(name.str())] = join(texts(given, here), ",");
    else
      refuse();
  }
  if (r.experiment.empty()) usage_error(where + ": every [[" + kind + "]] has a name");
  return e;
}

Suite from_table(const toml::table &table, const std::string &path) {
  Suite suite;
  suite.path = path;
  for (const auto &[key_node, value] : table) {
    const std::string key(key_node.str()), where = path + ": " + key;
    if (key == "claims" && value.is_array()) {
      suite.claims.clear();
      for (const auto &item : *value.as_array()) suite.claims.push_back(scalar_text(item, where));
    } else if (key == "effort") {
      suite.effort = effort_of(scalar_text(value, where), path);
    } else if (key == "seed" && value.is_integer()) {
      suite.seed = std::uint64_t(value.as_integer()->get());
    } else if ((key == "run" || key == "train") && value.is_array_of_tables()) {
      for (const auto &entry : *value.as_array())
        (key == "run" ? suite.experiments : suite.trainings).push_back(experiment_from(*entry.as_table(), where, key));
    } else if (key == "point" && value.is_array_of_tables()) {
      for (const auto &entry : *value.as_array()) {
        Suite::UserPoint point;
        for (const auto &[name, given] : *entry.as_table()) {
          const std::string text = scalar_text(given, where);
          if (name.str() == "claim")
            point.claim = text;
          else
            point.parameters[std::string(name.str())] = text;
        }
        if (point.claim.empty()) usage_error(where + ": every [[point]] names its claim");
        suite.points.push_back(point);
      }
    } else {
      usage_error(path + ": '" + key + "' is not a suite key, or has the wrong type" +
                  suggestion(key, {"claims", "effort", "seed", "point", "run", "train"}));
    }
  }
  return suite;
}

} // namespace

Suite load_suite(const std::string &name) {
  Suite suite;
  if (name == "quick") return suite;
  if (name == "full") {
    suite.effort = Effort::full;
    return suite;
  }
  if (!std::filesystem::exists(name)) {
    if (name.find('.') == std::string::npos && name.find('/') == std::string::npos)
      usage_error("unknown suite '" + name + "'" + suggestion(name, {"quick", "full"}) +
                  " (or the path of a TOML file)");
    input_error("no such suite file: " + name);
  }
  try {
    return from_table(toml::parse(read_regular_file(name), name), name);
  } catch (const toml::parse_error &failure) {
    std::ostringstream line;
    line << name << ":" << failure.source().begin.line << ": not valid TOML: " << failure.description();
    input_error(line.str());
  } catch (const BrokenAssertion &) {
    input_error(name + ": not valid TOML");
  }
}

std::vector<Measurement> measurements(const VerifyRequest &request, std::vector<const Claim *> selected) {
  if (request.suite.effort == Effort::quick && request.claims.empty())
    selected.erase(
        std::remove_if(selected.begin(), selected.end(), [](const Claim *c) { return c->suite == Effort::full; }),
        selected.end());
  Protocol base;
  base.effort = request.suite.effort, base.seed = request.seed;
  std::vector<Measurement> all;
  for (const Claim *claim : selected) {
    std::vector<Assignments> points = request.points;
    for (const auto &own : request.suite.points)
      if (canonical(own.claim) == canonical(claim->id)) points.push_back(own.parameters);
    if (points.empty()) all.push_back({claim, base});
    for (const Assignments &point : points) {
      Protocol protocol = base;
      protocol.point = resolve(claim->params, point, claim->id);
      all.push_back({claim, protocol});
    }
  }
  return all;
}

} // namespace recollect
