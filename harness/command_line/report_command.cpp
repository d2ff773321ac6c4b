// SPDX-License-Identifier: Apache-2.0
#include "build_config.hpp"
#include "harness/command_line/flags.hpp"
#include "harness/command_line/print.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/core/subprocess.hpp"
#include "harness/core/text.hpp"
#include "harness/pipeline/results.hpp"
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <unistd.h>

namespace recollect {
namespace {

struct ReportFlags {
  std::vector<std::string> results;
  std::string folder, format = "site";
  bool csv = false;
};

std::string last_line(const std::string &text) {
  const std::vector<std::string> lines = split(text, '\n');
  return lines.empty() ? "" : lines.back();
}

int report(const ReportFlags &flags) {
  for (const std::string &path : flags.results) Results::read(path); // whole? only then is Python's HDF5 let near it
  const std::string python = RECOLLECT_PYTHON, script = report_script();
  if (python.empty())
    input_error(
        "the report needs a python3 with h5py, matplotlib and jinja2; none was found when this program was built");
  if (!std::filesystem::exists(script)) input_error("the report's code is missing: " + script);
  const Catalogue catalogue;
  std::vector<std::string> words{python, script};
  words.insert(words.end(), flags.results.begin(), flags.results.end());
  words.insert(words.end(), {"-o", flags.folder});
  std::string said;
  const int status = run_program(words, said);
  if (status == exit_ok) return exit_ok;
  const std::string prefix = "recollect report: ", last = last_line(said);
  if (status == exit_input && last.rfind(prefix, 0) == 0) input_error(last.substr(prefix.size()));
  input_error("the report's Python program failed" + (last.empty() ? "" : ": " + last));
}

} // namespace

Action add_report(CLI::App &app) {
  const auto flags = std::make_shared<ReportFlags>();
  CLI::App &c = *app.add_subcommand("report", "render result files as a site of static pages, Markdown or CSV");
  c.add_option("results", flags->results, "files written by run, verify and bench")->required();
  c.add_option("-o,--output", flags->folder, "folder for index.html, its pages and figures")->required();
  c.add_option("--format", flags->format, "site, or md: one Markdown file")
      ->check(CLI::IsMember({"site", "md"}))
      ->capture_default_str();
  c.add_flag("--csv", flags->csv, "tables as CSV: claims, points, cells");
  example(c, "recollect report r.h5 v.h5 -o out");
  return [flags](const Words &) { return report(*flags); };
}

} // namespace recollect
