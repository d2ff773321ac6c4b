// SPDX-License-Identifier: Apache-2.0
// The commands on results files: info, merge and diff.
#include "harness/command_line/flags.hpp"
#include "harness/command_line/print.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/registry.hpp"
#include "harness/core/text.hpp"
#include "harness/device/backend.hpp"
#include "harness/files/diff.hpp"
#include "harness/files/results.hpp"
#include "harness/system/files.hpp"
#include <iostream>

namespace recollect {
namespace {

/// Reads every table of a results file and verifies checksums. Exit 1 if planned work is missing.
int inspect(const std::string &path, bool json) {
  const Results results = Results::read(path);
  Facts facts = results.meta;
  facts.insert(facts.begin(), {"file", path});
  for (const Table &table : results.tables())
    facts.emplace_back("rows of /" + table.name, std::to_string(table.rows.size()));
  const size_t missing = results.missing();
  facts.emplace_back("missing", missing ? std::to_string(missing) + " planned, not recorded" : "nothing");
  json ? print_facts_json(std::cout, facts) : print_facts(std::cout, facts);
  return missing ? exit_failed : exit_ok;
}

/// The forms whose kernels read and write bf16 and f16 arrays directly: "linear/chunked with backward, ...".
std::string native_16_bit_forms() {
  std::vector<std::string> all;
  for (const Variant &variant : all_variants())
    for (const Form &form : variant.forms) {
      const bool forward = bool(form.native.bf16), backward = bool(form.vjp.native.bf16);
      if (forward || backward)
        all.push_back(variant.name + "/" + form.name + (backward ? forward ? " with backward" : " backward" : ""));
    }
  return all.empty() ? "none: arrays are converted to float32 and back" : join(all, ", ");
}

int describe_program(bool json) {
  const Backend backend;
  Facts facts = provenance({"recollect", "info"}, 0);
  facts.emplace_back("native_16_bit_forms", native_16_bit_forms());
  json ? print_facts_json(std::cout, facts) : print_facts(std::cout, facts);
  return exit_ok;
}

struct MergeFlags {
  std::vector<std::string> parts;
  std::string output;
  bool partial = false;
};

int merge(const MergeFlags &flags) {
  refuse_overlap({flags.output}, flags.parts);
  std::vector<Results> parts;
  for (const std::string &path : flags.parts) parts.push_back(Results::read(path));
  const Results whole = Results::merged(parts, flags.parts);
  if (whole.missing() && !flags.partial)
    input_error(std::to_string(whole.missing()) +
                " planned cases are in none of the files: add the missing shards, or " +
                "--partial to merge without them");
  OutputFile(flags.output).publish(whole.image());
  std::cout << flags.output << ": " << parts.size() << " files, " << whole.missing() << " missing\n";
  return exit_ok;
}

struct DiffFlags {
  std::string old_path, new_path, format = "text";
  bool gate = false;
  double resolution = 1e-6;
};

int run_diff(const DiffFlags &flags) {
  const Difference d = diff(Results::read(flags.old_path), Results::read(flags.new_path), flags.resolution);
  std::cout << (flags.format == "md" ? as_markdown(d) : folded(as_text(d)));
  return flags.gate && d.worse() ? exit_failed : exit_ok;
}

} // namespace

Action add_info(CLI::App &app) {
  struct Flags {
    std::string path;
    bool json = false;
  };
  const auto flags = std::make_shared<Flags>();
  CLI::App &c =
      *app.add_subcommand("info", "version, build and backend; with a file, what it holds and whether it is complete");
  c.add_option("file", flags->path, "a results file");
  c.add_flag("--json", flags->json, "as JSON");
  example(c, "recollect info r.h5");
  return [flags](const Words &) {
    return flags->path.empty() ? describe_program(flags->json) : inspect(flags->path, flags->json);
  };
}

Action add_merge(CLI::App &app) {
  const auto flags = std::make_shared<MergeFlags>();
  CLI::App &c = *app.add_subcommand("merge", "join the shards of one plan into one results file");
  c.add_option("parts", flags->parts, "files written by run --shard or verify --shard")->required();
  c.add_option("-o,--output", flags->output, "results file (HDF5)")->required();
  c.add_flag("--partial", flags->partial, "join the files even if shards are missing");
  example(c, "recollect merge 1.h5 2.h5 -o all.h5");
  return [flags](const Words &) { return merge(*flags); };
}

Action add_diff(CLI::App &app) {
  const auto flags = std::make_shared<DiffFlags>();
  CLI::App &c = *app.add_subcommand(
      "diff", "compare two results files: verdicts, failures, and metrics and times that differ beyond their errors");
  c.add_option("old", flags->old_path, "results file")->required();
  c.add_option("new", flags->new_path, "results file")->required();
  c.add_option("--format", flags->format, "text or md")->check(CLI::IsMember({"text", "md"}))->capture_default_str();
  c.add_option("--resolution", flags->resolution,
               "largest relative change of a metric that counts as a difference in rounding between machines")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  c.add_flag("--gate", flags->gate, "exit 1 if something became worse");
  example(c, "recollect diff old.h5 new.h5 --gate");
  return [flags](const Words &) { return run_diff(*flags); };
}

} // namespace recollect
