// SPDX-License-Identifier: Apache-2.0
// Results of `run` and `verify` as the long tables of results.h5, which docs/result-files.md lists. Numbers have 64
// bits; texts may have any length.
#pragma once
#include "harness/core/case.hpp"
#include "harness/files/hdf5_file.hpp"
#include "harness/numerics/verdict.hpp"
#include <map>
#include <set>

namespace recollect {

/// What each version added. 1: the first release, with texts of fixed width and with tiers instead of roles. 2: roles
/// and rivals of points. 3: texts of any length, unsigned seeds, the table claim_plan, headlines. 4: a digest of the
/// contents. 5: the verdict holds_under, conditions, and readings of the paper.
constexpr int schema_version = 5;

/// A claim to be measured, and how it is measured.
struct Measurement {
  const Claim *claim;
  Protocol protocol;
};

class Results {
public:
  Facts meta;

  /// The plan without any result.
  static Results planned(const std::vector<Case> &plan, Facts meta);
  /// Adds an experiment's title, and what a paper prints about it.
  void describe(const std::string &experiment, const std::string &title, const std::string &printed);
  static Results planned(const std::vector<Measurement> &plan, Facts meta);
  /// Results from tables stored elsewhere.
  static Results of(std::vector<Table> tables, Facts meta);
  /// Reads a file. Input error if it is not a results file, or if its schema is newer than this program's.
  static Results read(const std::string &path);

  /// Merges files that each hold a part of one plan's results, with rows in the order of the plan. Input error that
  /// names the files if plans, seeds or versions differ, or if two files have the same case. `names` are the files'
  /// names.
  static Results merged(const std::vector<Results> &parts, const std::vector<std::string> &names);

  /// Replaces the tables of the plan by the fact plan_digest, from which differs_from() tells whether plans are equal.
  void leave_out_plan();
  /// These results without the plan, as bytes that another process of this program can unpack.
  std::string packed() const;
  static Results unpacked(const std::string &bytes);
  /// Adds those results of `other` that are missing here. Both must have the same plan.
  void absorb(const Results &other);
  /// Sorts rows into the order of the plan.
  void sort();

  void add(const Record &record);
  /// `index` is the position of the measurement in the plan.
  void add(size_t index, const Finding &finding);
  /// Adds each table, or replaces the table of the same name.
  void add(const std::vector<Table> &tables);

  /// Whether the case or claim at this position of the plan has a result.
  bool has(size_t index) const { return done_.count(index) != 0; }
  size_t missing() const;                    // number of planned items without a result
  std::vector<std::string> statuses() const; // status of every recorded case
  /// Index of a case of `plan` -> the value of its headline metric.
  std::map<int, double> headlines(const std::vector<Case> &plan) const;
  /// The finding that add(index, finding) added for `claim`.
  Finding finding(size_t index, const Claim &claim) const;

  const std::vector<Table> &tables() const { return tables_; }
  /// Null if there is no table with this name.
  const Table *find(const std::string &name) const;
  /// Input error if there is no table with this name.
  const Table &table(const std::string &name) const;
  /// The bytes of the HDF5 file.
  std::string image() const;
  /// Says which of seed, version, commit and plan differs from `other`; "" if none does. If one differs, neither file
  /// can complete the other.
  std::string differs_from(const Results &other) const;

private:
  std::string plan_digest() const;
  void find_done();
  Table &table(const std::string &name);
  std::vector<Table> tables_;
  std::set<size_t> done_;
};

} // namespace recollect
