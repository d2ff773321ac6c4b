// SPDX-License-Identifier: Apache-2.0
// A suite says which claims to verify, with how much effort, and at which further points; which runs and trainings to
// make; and which statements to judge by the trained models. The suites "quick" and "full" are built in. Any other name
// is the path of a TOML file:
//
//   claims = ["snr_*", "swap-theorem"]   # ids or globs
//   effort = "quick"                     # or "full"
//   seed = 1
//   [[point]]                            # measures `claim` at these parameters instead of at the suite's own points
//   claim = "snr_linear"
//   d = 48                               # or as text "8:64:*2" or "8,48": every combination is measured
//   [[run]]                              # what `run --suite` runs
//   name = "capacity"                    # name of the experiment in the plan of the results file
//   title = "Pairs recalled against n / d"
//   printed = "002 §3: n = d at most"    # what a paper prints, shown next to the result
//   variants = ["linear", "delta_net"]   # names or globs; all variants if absent
//   tasks = ["recall"]
//   set = { d = 16, n = "4:64:*2" }      # values as for --set
//   seeds = 5
//   tune = true
//   form = "fast"
//   dtype = "f64"
//
//   [[train]]                            # what `train --suite` trains; title and printed as in [[run]]
//   name = "mqar"
//   set = { mixer = ["softmax", "vla"], steps = 500 }
//   seeds = 5
//
//   [[statement]]                        # a paper's assertion about the trained models, judged after training
//   row = "vla-mqar-capacity-curve"      # row of the ledger
//   paper = "004 Table 9: VLA 1.000, softmax .081"
//   experiment = "mqar"
//   where = { pairs = 24 }               # restricts the models of both sides to these settings
//   above = { mixer = "vla" }            # a comparison: settings of the models that should have the larger measure
//   below = { mixer = "softmax" }        # settings of the other side's models; a side may name another `experiment`
//                                        # a list of values or of experiments makes one statement for each value
//   # instead of a comparison, a number: of = { mixer = "vla" } with between = [0.99, 1], at_least = 0.99 or
//   # at_most = 0.1
//   measure = "accuracy"                 # on held-out texts; or "loss", "length" (of words solved), "diverged" (share)
//   undecided = "texts"                  # if the models cannot decide the statement: how they differ from the paper's
//   step = 200                           # judges by the training curve up to this step, not by held-out texts
//
// From a file, `verify` uses the claims, `run` the runs, and `train` the trainings and statements.
#pragma once
#include "harness/files/results.hpp"
#include <cmath>

namespace recollect {

/// A [[run]] or a [[train]] of a suite.
struct Experiment {
  RunRequest request; // request.experiment is the experiment's name
  std::string title, printed;
};

/// A [[statement]] of a suite (harness/train/statements.hpp).
struct Statement {
  std::string row, paper, experiment, measure = "accuracy";
  std::string undecided;            // why the models cannot decide the statement; "" if they can
  Assignments where, first, second; // `first`: the settings `above` or `of` of the file; `second`: `below`
  bool compares = false;            // true: two sides are compared; false: a number is tested
  double least = -HUGE_VAL, most = HUGE_VAL;
  int step = 0; // the last step of the training curve by which to judge; 0: judge by held-out texts
};

struct Suite {
  std::string path; // path of the suite's file; "" if the suite is built in
  std::vector<std::string> claims{"all"};
  Effort effort = Effort::quick;
  std::optional<std::uint64_t> seed;
  struct UserPoint {
    std::string claim;
    Assignments parameters;
  };
  std::vector<UserPoint> points;
  std::vector<Experiment> experiments, trainings; // [[run]] and [[train]]; a [[train]] sets only settings and seeds
  std::vector<Statement> statements;
};

/// An unknown key, a value of the wrong type, or an impossible number is a usage error that names line and key. A file
/// that is missing or not TOML is an input error. Names of layers, tasks, claims and their parameters are checked only
/// when they are used.
Suite load_suite(const std::string &name);

struct VerifyRequest {
  Suite suite;
  std::vector<std::string> claims; // unless empty, replaces the suite's list of claims
  const std::vector<std::string> &patterns() const { return claims.empty() ? suite.claims : claims; }
  std::uint64_t seed = 1;
  std::vector<Assignments> points; // the points of --point; every selected claim is measured at each
};

/// The measurements of the selected claims, one per point. A suite of quick effort omits claims that belong to the full
/// suite only, unless they were named. Usage error for a bad value at a point, and for a point of a claim that the
/// suite does not select.
std::vector<Measurement> measurements(const VerifyRequest &request, std::vector<const Claim *> selected);

/// A rough relative duration of a claim's measurement. The order from long to short is: claims of the full suite only,
/// claims that run many layers on tasks, claims that run layers on their own sequences, claims about algebra.
double work_of(const Claim &claim);

} // namespace recollect
