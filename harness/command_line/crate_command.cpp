// SPDX-License-Identifier: Apache-2.0
// The command `crate`: copies results files to one folder and adds machine-readable metadata, for an archive.
#include "harness/command_line/flags.hpp"
#include "harness/command_line/ro_crate.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/system/files.hpp"
#include <filesystem>
#include <iostream>
#include <set>

namespace recollect {
namespace {

const char *const metadata = "ro-crate-metadata.json";

struct CrateFlags {
  std::vector<std::string> files;
  std::string output, license, name;
};

/// The crate's entry for a file. Input error if a file that ends in .h5 contains no results.
CrateFile described(const std::string &path) {
  require_regular_file(path);
  const std::filesystem::path file(path);
  CrateFile entry{file.filename(), std::filesystem::file_size(file), {}};
  if (file.extension() == ".h5") entry.run = Results::read(path).meta;
  return entry;
}

int crate(const CrateFlags &flags) {
  std::vector<CrateFile> entries;
  std::set<std::string> names{metadata};
  bool results = false;
  for (const std::string &path : flags.files) {
    entries.push_back(described(path));
    results = results || !entries.back().run.empty();
    if (!names.insert(entries.back().name).second)
      usage_error("a crate holds one file called " + entries.back().name + "; rename " + path);
  }
  if (!results) usage_error("none of the files is a results file (.h5); a crate needs at least one");
  const std::filesystem::path folder(flags.output);
  std::vector<std::string> outputs{folder / metadata};
  for (const CrateFile &entry : entries) outputs.push_back(folder / entry.name);
  refuse_overlap(outputs, flags.files);
  OutputFolder crate(flags.output, metadata, names_file);
  const std::string name = flags.name.empty() ? "recollect: " + entries[0].name : flags.name;
  crate.write(metadata, crate_metadata(name, flags.license, entries));
  for (size_t i = 0; i < entries.size(); ++i) crate.write(entries[i].name, read_regular_file(flags.files[i]));
  crate.publish();
  std::cout << (folder / metadata).string() << ": " << entries.size() << " files\n";
  return exit_ok;
}

} // namespace

Action add_crate(CLI::App &app) {
  const auto flags = std::make_shared<CrateFlags>();
  CLI::App &c = *app.add_subcommand("crate", "pack results files as an RO-Crate, a folder that archives can read");
  c.add_option("files", flags->files, "results files (.h5), and other files to include")->required();
  c.add_option("-o,--output", flags->output, "folder of the crate")->required();
  c.add_option("--license", flags->license, "licence of the crate by its SPDX id, such as CC-BY-4.0")->required();
  c.add_option("--name", flags->name, "title of the crate");
  example(c, "recollect crate r.h5 -o crate --license CC-BY-4.0");
  return [flags](const Words &) { return crate(*flags); };
}

} // namespace recollect
