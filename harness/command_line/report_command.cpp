// SPDX-License-Identifier: Apache-2.0
#include "build_config.hpp"
#include "harness/command_line/flags.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/core/error.hpp"
#include "harness/core/subprocess.hpp"
#include "harness/pipeline/results.hpp"
#include <filesystem>

namespace recollect {
namespace {

struct ReportFlags {
  std::vector<std::string> results;
  std::string folder;
};

int report(const ReportFlags &flags) {
  for (const std::string &path : flags.results) Results::read(path); // whole? only then is Python's HDF5 let near it
  const std::string python = RECOLLECT_PYTHON, script = RECOLLECT_SOURCE_DIR "/reports/report.py";
  if (python.empty())
    input_error("the report needs a python3 with h5py and matplotlib; none was found when this program was built");
  if (!std::filesystem::exists(script)) input_error("the report's code is missing: " + script);
  std::vector<std::string> words{python, script};
  words.insert(words.end(), flags.results.begin(), flags.results.end());
  words.insert(words.end(), {"-o", flags.folder});
  const int status = run_program(words);
  if (status != exit_ok && status != exit_usage && status != exit_input)
    input_error("the report's Python program did not run to its end");
  return status;
}

} // namespace

Action add_report(CLI::App &app) {
  const auto flags = std::make_shared<ReportFlags>();
  CLI::App &c = *app.add_subcommand("report", "render result files as one page with figures");
  c.add_option("results", flags->results, "files written by run, verify and bench")->required();
  c.add_option("-o,--output", flags->folder, "folder for index.html and the figures")->required();
  return [flags](const Words &) { return report(*flags); };
}

} // namespace recollect
