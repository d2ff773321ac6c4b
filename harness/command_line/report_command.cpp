// SPDX-License-Identifier: Apache-2.0
#include "build_config.hpp"
#include "harness/command_line/flags.hpp"
#include "harness/command_line/heartbeat.hpp"
#include "harness/command_line/print.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/core/text.hpp"
#include "harness/files/results.hpp"
#include "harness/system/subprocess.hpp"
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <sys/mman.h>
#include <unistd.h>

namespace recollect {
namespace {

struct ReportFlags {
  std::vector<std::string> results;
  std::string folder, format = "site";
  bool csv = false;
  QuietFlag quiet;
};

std::string last_line(const std::string &text) {
  const std::vector<std::string> lines = split(text, '\n');
  return lines.empty() ? "" : lines.back();
}

/// The program's description of layers and tasks, in an anonymous file in memory, which the report reads. The file
/// disappears with the processes that have it open, so that nothing remains if a signal ends them.
class Catalogue {
public:
  Catalogue() : descriptor_(memfd_create("catalogue", 0)) {
    std::ostringstream text;
    text << "{\"variants\": ";
    print_variants_json(text, select_variants({"all"}));
    text << ", \"tasks\": ";
    print_tasks_json(text, select_tasks({"all"}));
    text << "}";
    const std::string bytes = text.str();
    if (descriptor_ < 0 || ::write(descriptor_, bytes.data(), bytes.size()) != ssize_t(bytes.size()))
      input_error("cannot hold the catalogue of layers and tasks in a file in memory (no memory, or ulimit -f)");
  }
  ~Catalogue() { close(descriptor_); }
  Catalogue(const Catalogue &) = delete;
  Catalogue &operator=(const Catalogue &) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
  int descriptor_;
};

/// Path of the report's Python code: beside the installed program or, if it is not there, in the source tree.
std::string report_script() {
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  const auto installed = program.parent_path().parent_path() / "share/recollect/reports/report.py";
  return std::filesystem::exists(installed) ? installed.string() : RECOLLECT_SOURCE_DIR "/reports/report.py";
}

int report(const ReportFlags &flags) {
  for (const std::string &path : flags.results) // Python's HDF5 library only opens complete files
    if (std::filesystem::path(path).extension() != ".csv") Results::read(path);
  const std::string python = RECOLLECT_PYTHON, script = report_script();
  if (python.empty())
    input_error(
        "the report needs a python3 with h5py, matplotlib and jinja2; none was found when this program was built");
  if (!std::filesystem::exists(script)) input_error("the report's code is missing: " + script);
  const Catalogue catalogue;
  std::vector<std::string> words{python,        script,          "--output=" + flags.folder, "--format", flags.format,
                                 "--catalogue", catalogue.path()};
  if (flags.csv) words.push_back("--csv");
  const int progress =
      flags.quiet.quiet ? -1 : dup(STDERR_FILENO); // progress has its own descriptor; errors come on standard error
  if (progress >= 0) words.insert(words.end(), {"--progress", std::to_string(progress)});
  if (flags.quiet.quiet || isatty(STDERR_FILENO)) stop_heartbeat(); // on a terminal the report prints its own progress
  words.push_back("--");                                            // because names of files may begin with a dash
  words.insert(words.end(), flags.results.begin(), flags.results.end());
  std::string said;
  const int status = run_program(words, said);
  if (progress >= 0) close(progress);
  if (status == exit_ok) return exit_ok;
  const std::string prefix = "recollect report: ", last = last_line(said);
  if (status == exit_input && last.rfind(prefix, 0) == 0) input_error(last.substr(prefix.size()));
  input_error("the report's Python program failed" + (last.empty() ? "" : ": " + last));
}

} // namespace

Action add_report(CLI::App &app) {
  const auto flags = std::make_shared<ReportFlags>();
  CLI::App &c = *app.add_subcommand("report", "render result files as a site of static pages, Markdown or CSV");
  c.add_option("results", flags->results, "files written by run, verify, train and bench, and bench/results/*.csv")
      ->required();
  c.add_option("-o,--output", flags->folder, "folder for index.html, its pages and figures")->required();
  c.add_option("--format", flags->format, "site, or md: one Markdown file")
      ->check(CLI::IsMember({"site", "md"}))
      ->capture_default_str();
  c.add_flag("--csv", flags->csv, "tables as CSV: claims, points, cells");
  flags->quiet.add(c);
  example(c, "recollect report r.h5 v.h5 -o out");
  return [flags](const Words &) { return report(*flags); };
}

} // namespace recollect
