// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/commands.hpp"
#include "build_config.hpp"
#include "harness/command_line/print.hpp"
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/core/text.hpp"
#include "harness/device/backend.hpp"
#include "harness/pipeline/forward.hpp"
#include "harness/pipeline/record.hpp"
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sys/wait.h>
#include <unistd.h>

namespace recollect {
namespace {

template <class Entry>
int list_entries(const std::vector<const Entry *> &entries, bool detailed, bool json,
                 void (*table)(std::ostream &, const std::vector<const Entry *> &),
                 void (*as_json)(std::ostream &, const std::vector<const Entry *> &)) {
  if (json)
    as_json(std::cout, entries);
  else if (!detailed)
    table(std::cout, entries);
  else
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i) std::cout << '\n';
      describe(std::cout, *entries[i]);
    }
  return exit_ok;
}

/// Texts are small: written beside the target, then renamed, so that a full disk leaves no half file.
void write_text(const std::string &path, const std::string &text) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) &&
      !std::filesystem::is_regular_file(path, ignored)) { // a device or a pipe
    std::ofstream out(path);
    if (!(out << text << std::flush)) input_error("cannot write " + path);
    return;
  }
  const std::string partial = path + ".partial";
  std::ofstream out(partial);
  out << text << std::flush;
  const bool written = out.good();
  out.close();
  if (!written || std::rename(partial.c_str(), path.c_str()) != 0) {
    std::remove(partial.c_str());
    input_error("cannot write " + path + ": check that its folder exists, is writable and has space");
  }
}

/// Before minutes of work: can the result be written at all?
void check_writable(const std::string &path) {
  if (path.empty()) return;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::string where = folder.empty() ? "." : folder.string();
  if (access(where.c_str(), W_OK | X_OK) != 0)
    input_error("cannot write " + path + ": the folder " + where + " is missing or not writable");
  if (std::filesystem::is_directory(path)) input_error("cannot write " + path + ": it is a folder");
}

} // namespace

std::string version() { return "recollect " RECOLLECT_VERSION; }

int command_list(const std::string &kind, const std::vector<std::string> &names, bool json) {
  const bool detailed = !names.empty();
  const std::vector<std::string> patterns = detailed ? names : std::vector<std::string>{"all"};
  if (kind == "variants")
    return list_entries(select_variants(patterns), detailed, json, print_variants, print_variants_json);
  if (kind == "tasks") return list_entries(select_tasks(patterns), detailed, json, print_tasks, print_tasks_json);
  return list_entries(select_claims(patterns), detailed, json, print_claims, print_claims_json);
}

int command_plan(const RunRequest &request, bool json) {
  const std::vector<Case> plan = make_plan(request);
  json ? print_plan_json(std::cout, plan) : print_plan(std::cout, plan);
  return exit_ok;
}

int command_info(bool json) {
  const Backend backend;
  const Facts facts = provenance({"recollect", "info"}, 0);
  json ? print_facts_json(std::cout, facts) : print_facts(std::cout, facts);
  return exit_ok;
}

int command_run(const RunRequest &request, const std::string &output, const std::vector<std::string> &command_line) {
  const std::vector<Case> plan = make_plan(request);
  check_writable(output);
  const Backend backend;
  std::unique_ptr<ResultFile> file;
  if (!output.empty()) {
    file.reset(new ResultFile(output, provenance(command_line, request.seed)));
    file->write_plan(plan);
  }
  int ok = 0, meaningless = 0, failed = 0;
  for (const Case &c : plan) {
    const Record record = run_case(c, request.warmup, request.repetitions);
    if (file) file->append(record);
    print_record(std::cout, c, record);
    (record.status == "ok" ? ok : record.status == "meaningless" ? meaningless : failed) += 1;
  }
  if (file) file->finish();
  std::cout << ok << " ok, " << meaningless << " meaningless, " << failed << " failed\n";
  return failed ? exit_failed : exit_ok;
}

int command_verify(const VerifyRequest &request, const VerifyOutputs &outputs,
                   const std::vector<std::string> &command_line) {
  for (const std::string &path : {outputs.hdf5, outputs.json, outputs.junit}) check_writable(path);
  const bool on_terminal = isatty(STDERR_FILENO);
  const Backend backend;
  const std::vector<Finding> findings = verify(request, select_claims(request.patterns()), [&](const Claim &claim) {
    if (on_terminal) std::cerr << "\r\033[K" << claim.id << std::flush;
  });
  if (on_terminal) std::cerr << "\r\033[K" << std::flush;
  if (!outputs.hdf5.empty()) {
    ResultFile file(outputs.hdf5, provenance(command_line, request.seed));
    file.write_claims(findings);
    file.finish();
  }
  if (!outputs.json.empty()) write_text(outputs.json, findings_json(findings));
  if (!outputs.junit.empty()) write_text(outputs.junit, findings_junit(findings));
  print_findings(std::cout, findings, outputs.every_point);
  bool any = false, failed = false; // nothing verified is not a pass
  for (const Finding &f : findings)
    if (f.tested()) any = true, failed = failed || !f.passed;
  return any && !failed ? exit_ok : exit_failed;
}

int command_forward(const ForwardRequest &request, const std::vector<std::string> &command_line) {
  const Variant &variant = find_variant(request.variant);
  const Form &form = find_form(variant, request.form);
  const Params params = variant_params(variant, request.settings);
  const Sequence sequence = read_sequence(request.input, variant.inputs);
  try {
    check_inputs(variant, sequence, params);
  } catch (const Error &failure) {
    throw Error(failure.code, request.input + ": " + failure.what());
  }
  check_writable(request.output);
  const Backend backend;
  const Output output = forward(variant, sequence, {form.name, request.real, request.chunk, params});
  write_output(request.output, sequence, output, request.real, provenance(command_line, 0));
  return exit_ok;
}

int command_report(const std::vector<std::string> &results, const std::string &folder) {
  for (const std::string &path : results)
    if (!std::filesystem::exists(path)) input_error("no such file: " + path);
  const std::string python = RECOLLECT_PYTHON, script = RECOLLECT_SOURCE_DIR "/reports/report.py";
  if (python.empty())
    input_error("the report needs a python3 with h5py and matplotlib; none was found when this program was built");
  if (!std::filesystem::exists(script)) input_error("the report's code is missing: " + script);
  std::vector<std::string> words{python, script};
  words.insert(words.end(), results.begin(), results.end());
  words.insert(words.end(), {"-o", folder});
  std::vector<char *> arguments;
  for (std::string &word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    execv(python.c_str(), arguments.data());
    _exit(exit_input);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
    input_error("the report's Python program did not run to its end");
  return WEXITSTATUS(status);
}

} // namespace recollect
