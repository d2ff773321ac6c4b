// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/commands.hpp"
#include "build_config.hpp"
#include "harness/command_line/print.hpp"
#include "harness/command_line/progress.hpp"
#include "harness/core/error.hpp"
#include "harness/core/files.hpp"
#include "harness/core/registry.hpp"
#include "harness/core/subprocess.hpp"
#include "harness/core/text.hpp"
#include "harness/device/backend.hpp"
#include "harness/pipeline/forward.hpp"
#include "harness/pipeline/peers.hpp"
#include "harness/pipeline/recorder.hpp"
#include "harness/pipeline/tensors.hpp"
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <sys/prctl.h>
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

namespace {

/// Reads every table of a results file, checksums included. Exit 1 where planned work is missing.
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

} // namespace

int command_info(const std::string &path, bool json) {
  if (!path.empty()) return inspect(path, json);
  const Backend backend;
  const Facts facts = provenance({"recollect", "info"}, 0);
  json ? print_facts_json(std::cout, facts) : print_facts(std::cout, facts);
  return exit_ok;
}

int command_run(const RunRequest &request, const RunOutputs &outputs, const std::vector<std::string> &command_line) {
  const std::vector<Case> plan = make_plan(request);
  if (!outputs.hdf5.empty()) OutputFile{outputs.hdf5}; // before minutes of work: can the result be written at all?
  const Backend backend;
  Recorder recorder(outputs.hdf5, Results::planned(plan, provenance(command_line, request.seed)), outputs.resume);
  std::map<std::string, int> counts;
  for (const Case &c : plan) {
    if (recorder.results().has(size_t(c.index))) continue;
    const Record record = run_case(c, request.warmup, request.repetitions);
    recorder.add([=] { print_record(std::cout, c, record); }, record);
  }
  recorder.finish();
  for (const std::string &status : recorder.results().statuses()) ++counts[status];
  std::cout << counts["ok"] << " ok, " << counts["meaningless"] << " meaningless, " << counts["failed"] << " failed\n";
  return counts["failed"] ? exit_failed : exit_ok;
}

int command_verify(const VerifyRequest &request, const VerifyOutputs &outputs,
                   const std::vector<std::string> &command_line) {
  refuse_overlap({outputs.hdf5, outputs.json, outputs.junit}, {request.suite.path});
  if (!outputs.hdf5.empty()) OutputFile{outputs.hdf5};
  const std::vector<Measurement> plan = measurements(request, select_claims(request.patterns()));
  const Backend backend;
  Recorder recorder(outputs.hdf5, Results::planned(plan, provenance(command_line, request.seed)), outputs.resume);
  Progress progress(plan.size());
  std::vector<Finding> findings;
  for (size_t i = 0; i < plan.size(); ++i) {
    progress.next(plan[i].claim->id);
    if (recorder.results().has(i)) {
      findings.push_back(recorder.results().finding(i, *plan[i].claim));
      continue;
    }
    findings.push_back(examine(*plan[i].claim, plan[i].protocol));
    recorder.add([] {}, i, findings.back());
  }
  recorder.finish();
  progress.done();
  if (!outputs.json.empty()) write_file(outputs.json, findings_json(findings));
  if (!outputs.junit.empty()) write_file(outputs.junit, findings_junit(findings));
  print_findings(std::cout, findings, outputs.every_point);
  bool any = false, failed = false; // nothing verified is not a pass
  for (const Finding &f : findings)
    if (f.tested()) any = true, failed = failed || !f.passed;
  return any && !failed ? exit_ok : exit_failed;
}

int command_forward(const ForwardRequest &request, const std::vector<std::string> &command_line) {
  refuse_overlap({request.output}, {request.input});
  const Variant &variant = find_variant(request.variant);
  const Form &form = find_form(variant, request.form);
  const Params params = variant_params(variant, request.settings);
  OutputFile{request.output};
  const Sequence sequence = read_sequence(request.input, variant.inputs);
  try {
    check_inputs(variant, sequence, params);
  } catch (const Error &failure) {
    throw Error(failure.code, request.input + ": " + failure.what());
  }
  const Backend backend;
  const Output output = forward(variant, sequence, {form.name, request.real, request.chunk, params});
  write_output(request.output, sequence, output, request.real, provenance(command_line, 0));
  return exit_ok;
}

int command_report(const std::vector<std::string> &results, const std::string &folder) {
  for (const std::string &path : results) require_regular_file(path);
  const std::string python = RECOLLECT_PYTHON, script = RECOLLECT_SOURCE_DIR "/reports/report.py";
  if (python.empty())
    input_error("the report needs a python3 with h5py and matplotlib; none was found when this program was built");
  if (!std::filesystem::exists(script)) input_error("the report's code is missing: " + script);
  std::vector<std::string> words{python, script};
  words.insert(words.end(), results.begin(), results.end());
  words.insert(words.end(), {"-o", folder});
  const int status = run_program(words);
  if (status < 0) input_error("the report's Python program did not run to its end");
  return status;
}

int command_bench(const BenchRequest &request, const BenchOutputs &outputs,
                  const std::vector<std::string> &command_line) {
  refuse_overlap({outputs.hdf5, outputs.json}, {});
  const std::vector<BenchCase> plan = bench_plan(request);
  std::unique_ptr<OutputFile> file;
  if (!outputs.hdf5.empty()) file.reset(new OutputFile(outputs.hdf5));
  const Backend backend;
  const Facts meta = provenance(command_line, request.seed);
  const Ceilings ceilings = measure_ceilings();
  print_ceilings(std::cout, ceilings);
  std::vector<BenchResult> results;
  Progress progress(plan.size());
  const auto keep = [&](BenchResult result) {
    results.push_back(std::move(result));
    if (file) file->checkpoint(bench_image(results, ceilings, meta));
    progress.done();
    print_bench(std::cout, results.back(), ceilings);
  };
  for (const BenchCase &c : plan) {
    progress.next(name_of(c));
    keep(bench(c, request.min_seconds));
  }
  if (outputs.peers)
    for (BenchResult &peer : bench_peers(plan, request.min_seconds)) keep(std::move(peer));
  progress.done();
  print_growth(std::cout, growth(results));
  if (file) file->publish(bench_image(results, ceilings, meta));
  if (!outputs.json.empty()) write_file(outputs.json, bench_json(results, meta));
  const auto bad = [](const BenchResult &r) { return r.status == "wrong" || r.status == "failed"; };
  return std::any_of(results.begin(), results.end(), bad) ? exit_failed : exit_ok;
}

} // namespace recollect
