// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/ro_crate.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace recollect {
namespace {

using json = nlohmann::ordered_json;

json reference(const std::string &id) { return {{"@id", id}}; }

/// The name of a file, encoded as a path in a URI.
std::string encoded(const std::string &name) {
  std::string out;
  for (unsigned char c : name)
    if (std::isalnum(c) || c == '.' || c == '_' || c == '-')
      out += char(c);
    else {
      char code[4];
      std::snprintf(code, sizeof code, "%%%02X", c);
      out += code;
    }
  return out;
}

std::string encoding_of(const std::string &name) {
  static const std::map<std::string, std::string> known{
      {".h5", "application/x-hdf5"}, {".jsonld", "application/ld+json"},
      {".json", "application/json"}, {".xml", "application/xml"},
      {".csv", "text/csv"},          {".md", "text/markdown"},
      {".html", "text/html"},        {".svg", "image/svg+xml"},
      {".pdf", "application/pdf"},   {".toml", "application/toml"},
      {".png", "image/png"}};
  const auto found = known.find(std::filesystem::path(name).extension());
  return found == known.end() ? "application/octet-stream" : found->second;
}

std::string program_id(const Facts &run) {
  return "#recollect-" + fact(run, "version") + "-" + fact(run, "git_commit");
}

json program(const Facts &run) {
  return {{"@id", program_id(run)},
          {"@type", "SoftwareApplication"},
          {"name", "recollect"},
          {"softwareVersion", fact(run, "version") + ", commit " + fact(run, "git_commit")}};
}

/// Adds the run that wrote a results file, with the command line and the start time of the run. Every other fact in
/// /meta becomes a PropertyValue.
void add_run(json &graph, json &runs, const CrateFile &file) {
  const std::string id = "#run-" + encoded(file.name);
  json settings = json::array(), action{{"@id", id},
                                        {"@type", "CreateAction"},
                                        {"name", fact(file.run, "command_line")},
                                        {"startTime", fact(file.run, "start_utc")},
                                        {"instrument", reference(program_id(file.run))},
                                        {"result", reference(encoded(file.name))}};
  json values = json::array();
  for (const auto &[name, value] : file.run)
    if (name != "command_line" && name != "start_utc") {
      settings.push_back(reference(id + "-" + encoded(name)));
      values.push_back(
          {{"@id", id + "-" + encoded(name)}, {"@type", "PropertyValue"}, {"name", name}, {"value", value}});
    }
  action["object"] = settings;
  runs.push_back(reference(id));
  graph.push_back(action);
  for (const json &value : values) graph.push_back(value);
  if (const json made_by = program(file.run); std::find(graph.begin(), graph.end(), made_by) == graph.end())
    graph.push_back(made_by);
}

} // namespace

bool names_file(const std::string &metadata, const std::string &file) {
  const json document = json::parse(metadata, nullptr, false);
  if (!document.is_object() || !document.contains("@graph")) return false;
  for (const json &node : document["@graph"])
    if (node.is_object() && node.value("@type", json()) == "File" && node.value("@id", json()) == encoded(file))
      return true;
  return false;
}

std::string crate_metadata(const std::string &name, const std::string &license, const std::vector<CrateFile> &files) {
  const std::string license_url = "https://spdx.org/licenses/" + license;
  json graph = json::array(), parts = json::array(), runs = json::array();
  std::string newest;
  for (const CrateFile &file : files) {
    parts.push_back(reference(encoded(file.name)));
    graph.push_back({{"@id", encoded(file.name)},
                     {"@type", "File"},
                     {"name", file.name},
                     {"contentSize", std::to_string(file.bytes)},
                     {"encodingFormat", encoding_of(file.name)}});
    if (file.run.empty()) continue;
    add_run(graph, runs, file);
    newest = std::max(newest, fact(file.run, "start_utc"));
  }
  if (newest.empty()) throw std::logic_error("a crate without results");
  const json root{{"@id", "./"},
                  {"@type", "Dataset"},
                  {"name", name},
                  {"description", "Results of recollect (associative memory in sequence models), with the runs that "
                                  "made them: command, version, commit, seed, device."},
                  {"datePublished", newest},
                  {"license", reference(license_url)},
                  {"hasPart", parts},
                  {"mentions", runs}};
  const json descriptor{{"@id", "ro-crate-metadata.json"},
                        {"@type", "CreativeWork"},
                        {"conformsTo", reference("https://w3id.org/ro/crate/1.1")},
                        {"about", reference("./")}};
  const json terms{{"@id", license_url}, {"@type", "CreativeWork"}, {"name", license}, {"url", license_url}};
  graph.insert(graph.begin(), {descriptor, root, terms});
  return json{{"@context", "https://w3id.org/ro/crate/1.1/context"}, {"@graph", graph}}.dump(
             2, ' ', false, json::error_handler_t::replace) +
         "\n"; // texts come from files
}

} // namespace recollect
