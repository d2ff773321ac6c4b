// SPDX-License-Identifier: Apache-2.0
// One function a subcommand: from its request to the exit status.
#pragma once
#include "harness/pipeline/bench.hpp"
#include "harness/pipeline/plan.hpp"
#include "harness/pipeline/suite.hpp"

namespace recollect {

std::string version();

int command_list(const std::string &kind, const std::vector<std::string> &names, bool json);
int command_plan(const RunRequest &request, bool json);
/// Of this program, or where a path is given of a results file: schema, provenance, tables, checksums, what is missing.
int command_info(const std::string &path, bool json);

struct RunOutputs {
  std::string hdf5; // "": not wanted
  bool resume = false;
};
/// Exit 1 when a case failed.
int command_run(const RunRequest &request, const RunOutputs &outputs, const std::vector<std::string> &command_line);

struct VerifyOutputs {
  std::string hdf5, json, junit; // "": not wanted
  bool every_point = false, resume = false;
};
/// Exit 1 when a claim did not come out as expected.
int command_verify(const VerifyRequest &request, const VerifyOutputs &outputs,
                   const std::vector<std::string> &command_line);

struct ForwardRequest {
  std::string variant, input, output, form;
  Real real = Real::f64;
  int chunk = 64;
  Assignments settings;
};
int command_forward(const ForwardRequest &request, const std::vector<std::string> &command_line);

struct BenchOutputs {
  std::string hdf5, json; // "": not wanted
  bool peers = false;
};
/// Exit 1 where a form is not its definition, or failed.
int command_bench(const BenchRequest &request, const BenchOutputs &outputs,
                  const std::vector<std::string> &command_line);

int command_report(const std::vector<std::string> &results, const std::string &folder);

} // namespace recollect
