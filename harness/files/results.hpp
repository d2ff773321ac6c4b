// SPDX-License-Identifier: Apache-2.0
// Results of `run` and `verify`, as the long tables of results.h5 (docs/result-files.md lists them). Numbers have 64
// bits, texts any length.
#pragma once
#include "harness/core/case.hpp"
#include "harness/files/hdf5_file.hpp"
#include "harness/numerics/verdict.hpp"
#include <map>
#include <set>

namespace recollect {

/// 1: first release, fixed-width texts and tiers. 2: roles and rivals. 3: texts of any length, unsigned seeds,
/// /claim_plan, headlines. 4: a digest of the contents. 5: holds_under, conditions and readings of the paper.
constexpr int schema_version = 5;

/// One claim to be measured, and how.
struct Measurement {
  const Claim *claim;
  Protocol protocol;
};

class Results {
public:
  Facts meta;

  /// Empty results of a plan, whose tables list the planned work.
  static Results planned(const std::vector<Case> &plan, Facts meta);
  /// Adds the title and purpose of an experiment of the plan.
  void describe(const std::string &experiment, const std::string &title, const std::string &printed);
  static Results planned(const std::vector<Measurement> &plan, Facts meta);
  /// Results from tables stored elsewhere.
  static Results of(std::vector<Table> tables, Facts meta);
  /// Reads a file. Input error if it is not a results file, or has a later schema.
  static Results read(const std::string &path);

  /// Merges the shards of one plan, with rows in the order of the plan. Input error naming the files if plans, seeds or
  /// versions differ, or if two files have the same case. `names` are the files' names.
  static Results merged(const std::vector<Results> &parts, const std::vector<std::string> &names);

  /// The same results as bytes, for another process of this program.
  std::string packed() const;
  static Results unpacked(const std::string &bytes);
  /// Adds those results of `other`, which has the same plan, that are missing here.
  void absorb(const Results &other);
  /// Sorts rows into the order of the plan.
  void sort();

  void add(const Record &record);
  /// `index`: position in the plan of measurements.
  void add(size_t index, const Finding &finding);
  /// Adds each table, or replaces the table of the same name.
  void add(const std::vector<Table> &tables);

  /// Whether the case or finding at this position of the plan exists.
  bool has(size_t index) const { return done_.count(index) != 0; }
  size_t missing() const;                    // number of planned items without a result
  std::vector<std::string> statuses() const; // of the recorded cases
  std::map<int, double> headlines() const;   // {index of a case: its headline}
  /// The finding of `claim` at `index`, as it was added.
  Finding finding(size_t index, const Claim &claim) const;

  const std::vector<Table> &tables() const { return tables_; }
  /// Input error if there is no table of that name.
  const Table &table(const std::string &name) const;
  /// The bytes of the HDF5 file.
  std::string image() const;
  /// Why results of `other`'s plan cannot complete these, "" if they can: the seed, the version or the plan differs.
  std::string differs_from(const Results &other) const;

private:
  void find_done();
  Table &table(const std::string &name);
  const Table *find(const std::string &name) const;
  std::vector<Table> tables_;
  std::set<size_t> done_;
};

} // namespace recollect
