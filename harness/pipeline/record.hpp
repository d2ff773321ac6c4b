// SPDX-License-Identifier: Apache-2.0
// HDF5 files: results.h5 (schema in README.md) and the users' own tensors. The only user of hdf5.h is record.cpp.
// Every failure (missing file, wrong shape or type, no space) is an input error, exit 3, one line naming file and
// dataset.
#pragma once
#include "harness/numerics/verdict.hpp"
#include "harness/pipeline/provenance.hpp"
#include "harness/pipeline/run.hpp"
#include <memory>

namespace recollect {

constexpr int schema_version = 1;

/// Writes to PATH.partial and renames on finish(): PATH is always absent, old, or complete. Each record is flushed, so
/// that a run that dies leaves PATH.partial with its plan and the records so far.
class ResultFile {
public:
  ResultFile(const std::string &path, const Facts &meta);
  ~ResultFile();
  void write_plan(const std::vector<Case> &plan);
  void append(const Record &record);
  void write_claims(const std::vector<Finding> &findings);
  void finish();

private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

/// q, k [B,H,T,Dk], v [B,H,T,Dv] and, where present, the variant's own `inputs` (beta, alpha [B,H,T], lambda, w
/// [B,H,T,Dk]) and state [B,H,rows,columns]. Datasets that the variant does not use are not looked at.
Sequence read_sequence(const std::string &path, const std::vector<Input> &inputs);

/// o [B,H,T,Dv] and, where the variant has one, state; in `real`. Atomic like ResultFile.
void write_output(const std::string &path, const Sequence &sequence, const Output &output, Real real,
                  const Facts &meta);

} // namespace recollect
