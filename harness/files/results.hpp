// SPDX-License-Identifier: Apache-2.0
// What `run` and `verify` find, as the long tables of results.h5 (docs/result-files.md lists them). Numbers have 64 bits,
// texts any length.
#pragma once
#include "harness/core/case.hpp"
#include "harness/files/hdf5_file.hpp"
#include "harness/numerics/verdict.hpp"
#include <map>
#include <set>

namespace recollect {

/// 1: first release, fixed-width texts and tiers. 2: roles and rivals. 3: texts of any length,
/// unsigned seeds, /claim_plan, headlines. 4: a digest of the contents. 5: holds_under, conditions and what was read.
constexpr int schema_version = 5;

/// One claim to be measured, and how.
struct Measurement {
  const Claim *claim;
  Protocol protocol;
};

class Results {
public:
  Facts meta;

  /// Empty results of a plan. The plan tables say what there is to be done.
  static Results planned(const std::vector<Case> &plan, Facts meta);
  /// Says of an experiment of the plan what it is for.
  void describe(const std::string &experiment, const std::string &title, const std::string &printed);
  static Results planned(const std::vector<Measurement> &plan, Facts meta);
  /// Of tables that others keep.
  static Results of(std::vector<Table> tables, Facts meta);
  /// Those in a file; input error where it is no results file, or of a later schema.
  static Results read(const std::string &path);

  /// The shards of one plan as one: rows in the order of the plan. Input error naming the files where plans, seeds or
  /// versions differ, or two files have the same case. `names` are the files'.
  static Results merged(const std::vector<Results> &parts, const std::vector<std::string> &names);

  /// The same results as bytes, for another process of this program.
  std::string packed() const;
  static Results unpacked(const std::string &bytes);
  /// Takes over what these results lack of another's of the same plan.
  void absorb(const Results &other);
  /// Rows into the order of the plan, whatever order they were added in.
  void sort();

  void add(const Record &record);
  /// `index` into the plan of measurements.
  void add(size_t index, const Finding &finding);
  /// Each takes the place of the table of its name.
  void add(const std::vector<Table> &tables);

  bool has(size_t index) const { return done_.count(index) != 0; } // the case or finding at this place of the plan
  size_t missing() const;                                          // planned, not there
  std::vector<std::string> statuses() const;                       // of the cases recorded
  std::map<int, double> headlines() const;                         // of the cases that have one, by index
  /// The finding of `claim` at `index`, as it was added.
  Finding finding(size_t index, const Claim &claim) const;

  const std::vector<Table> &tables() const { return tables_; }
  /// Input error if nothing has that name.
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
