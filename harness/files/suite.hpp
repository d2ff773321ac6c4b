// SPDX-License-Identifier: Apache-2.0
// A suite: which claims to verify, with how much effort, and at which points of the user. "quick" and "full" are built
// in; any other name is the path of a TOML file:
//
//   claims = ["snr_*", "swap-theorem"]   # ids or globs
//   effort = "quick"                     # or "full"
//   seed = 1
//   [[point]]                            # measures that claim at these parameters, in place of the suite's own points
//   claim = "snr_linear"
//   d = 48                               # or as text "8:64:*2" or "8,48": every combination is measured
//   [[run]]                              # what `run --suite` runs
//   name = "capacity"                    # of the experiment, in the file's plan and over its figures
//   title = "Pairs recalled against n / d"
//   printed = "002 §3: n = d at most"    # what a paper prints, shown next to what is found
//   variants = ["linear", "delta_net"]   # names or globs; all where absent
//   tasks = ["recall"]
//   set = { d = 16, n = "4:64:*2" }      # values as for --set
//   seeds = 5
//   tune = true
//   form = "fast"
//   dtype = "f64"
//
//   [[train]]                            # what `train --suite` trains; also title and printed
//   name = "mqar"
//   set = { mixer = ["softmax", "vla"], steps = 500 }
//   seeds = 5
//
//   [[statement]]                        # a paper's assertion about these models, judged after training
//   row = "vla-mqar-capacity-curve"      # of the ledger
//   paper = "004 Table 9: VLA 1.000, softmax .081"
//   experiment = "mqar"
//   where = { pairs = 24 }               # selects models on both sides, if the experiment has several values
//   above = { mixer = "vla" }            # a comparison: the settings that choose either side's models
//   below = { mixer = "softmax" }        # a side may name another `experiment`
//                                        # a list of values, or of experiments, makes one statement each
//   # or a number: of = { mixer = "vla" } with between = [0.99, 1], at_least = 0.99 or at_most = 0.1
//   measure = "accuracy"                 # on held-out texts; "loss", "length" (longest word), "diverged" (share)
//   undecided = "texts"                  # why these models cannot decide it: how they differ from the paper's
//   step = 200                           # judge the training curve up to this step, not the held-out texts
//
// `verify` takes the claims of a file, `run` its runs, `train` its trainings and statements.
#pragma once
#include "harness/files/results.hpp"
#include <cmath>

namespace recollect {

/// One [[run]] or [[train]].
struct Experiment {
  RunRequest request; // request.experiment is the name
  std::string title, printed;
};

/// One [[statement]] (harness/train/statements.hpp).
struct Statement {
  std::string row, paper, experiment, measure = "accuracy";
  std::string undecided;            // why the models cannot decide the statement; "" if they can
  Assignments where, first, second; // `first`: the keys above or of; `second`: the key below
  bool compares = false;            // true: two sides are compared; false: a number is tested
  double least = -HUGE_VAL, most = HUGE_VAL;
  int step = 0; // 0: held-out texts
};

struct Suite {
  std::string path; // path of its file; "" if it is built in
  std::vector<std::string> claims{"all"};
  Effort effort = Effort::quick;
  std::optional<std::uint64_t> seed;
  struct UserPoint {
    std::string claim;
    Assignments parameters;
  };
  std::vector<UserPoint> points;
  std::vector<Experiment> experiments, trainings; // a training's request only has settings and seeds
  std::vector<Statement> statements;
};

/// Usage error naming line and key for an unknown key, a value of the wrong type, or an impossible number. Input error
/// for a file that is missing or not TOML. Names of layers, tasks, claims and their parameters are checked when they
/// are used.
Suite load_suite(const std::string &name);

struct VerifyRequest {
  Suite suite;
  std::vector<std::string> claims; // replaces the suite's list unless empty
  const std::vector<std::string> &patterns() const { return claims.empty() ? suite.claims : claims; }
  std::uint64_t seed = 1;
  std::vector<Assignments> points; // --point, each applied to every selected claim
};

/// How each selected claim is to be measured, once per point. A quick suite omits claims of the full suite unless they
/// were named. Usage error for a bad value at a point, and for a point of a claim that the suite does not select.
std::vector<Measurement> measurements(const VerifyRequest &request, std::vector<const Claim *> selected);

/// Rough relative time of a claim: longest for claims of the full suite only, then claims that run many layers on
/// tasks, then those that run layers on their own sequences, then algebra.
double work_of(const Claim &claim);

} // namespace recollect
