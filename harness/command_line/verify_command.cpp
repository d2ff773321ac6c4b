// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/flags.hpp"
#include "harness/command_line/json_ld.hpp"
#include "harness/command_line/print.hpp"
#include "harness/command_line/progress.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/core/registry.hpp"
#include "harness/core/sweep.hpp"
#include "harness/device/backend.hpp"
#include "harness/files/recorder.hpp"
#include "harness/files/suite.hpp"
#include "harness/run/plan.hpp"
#include "harness/system/ranks.hpp"
#include <iostream>

namespace recollect {
namespace {

struct VerifyFlags {
  std::vector<std::string> claims, points;
  std::string suite = "quick", json, json_ld, junit;
  std::uint64_t seed = 1;
  CLI::Option *seed_option = nullptr;
  OutputFlags output;
  Shard shard;
  bool every_point = false;
  QuietFlag quiet;

  VerifyRequest request() const {
    VerifyRequest r;
    r.suite = load_suite(suite);
    r.claims = claims;
    r.seed = seed_option->count() ? seed : r.suite.seed.value_or(seed);
    for (const std::string &text : points) // a comma separates parameters, so it cannot separate values
      for (const Assignments &point : combinations(assignments(split(text, ',')), "--point")) r.points.push_back(point);
    if (!r.points.empty() && r.claims.empty()) usage_error("--point needs the id of the claim that it is for");
    return r;
  }
};

int verify(VerifyFlags &flags, const Words &command_line) {
  flags.output.check();
  flags.shard.parse();
  ranks::join();
  const VerifyRequest request = flags.request();
  refuse_overlap({flags.output.path, flags.json, flags.json_ld, flags.junit}, {request.suite.path});
  if (!flags.output.path.empty()) OutputFile{flags.output.path};
  for (const auto &point : request.suite.points) select_claims({point.claim}); // fails for misspelt names
  const std::vector<Measurement> plan = measurements(request, select_claims(request.patterns()));
  const Backend backend;
  Recorder recorder(flags.output.path, Results::planned(plan, provenance(command_line, request.seed)),
                    flags.output.resume);
  Progress progress(plan.size(), flags.quiet.quiet || ranks::rank() != 0);
  std::vector<double> work; // all 0 in a single process, which then works in the plan's order
  for (const Measurement &m : plan) work.push_back(ranks::size() > 1 ? work_of(*m.claim) : 0);
  const std::vector<size_t> order = longest_first(work);
  ranks::Counters counter;
  for (size_t drawn = counter.next(); drawn < plan.size(); drawn = counter.next()) {
    const size_t i = order[drawn];
    progress.next(plan[i].claim->id);
    if (!flags.shard.has(i) || recorder.before().has(i)) continue;
    Finding found;
    recorder.during([&] { found = examine(*plan[i].claim, plan[i].protocol); });
    recorder.add([] {}, i, found);
  }
  recorder.finish();
  progress.done();
  if (ranks::rank() != 0) return exit_ok;
  std::vector<Finding> findings;
  std::vector<Reviewed> reviewed;
  for (size_t i = 0; i < plan.size(); ++i) {
    if (!recorder.results().has(i)) continue;
    findings.push_back(recorder.results().finding(i, *plan[i].claim));
    reviewed.push_back({findings.back(), plan[i].protocol});
  }
  if (!flags.json.empty()) write_file(flags.json, findings_json(findings));
  if (!flags.json_ld.empty()) write_file(flags.json_ld, findings_json_ld(reviewed, recorder.results().meta));
  if (!flags.junit.empty()) write_file(flags.junit, findings_junit(findings));
  const bool sweeps = !flags.points.empty() && !flags.every_point && !flags.quiet.quiet;
  if (sweeps) print_sweep(std::cout, findings);
  print_findings(std::cout, findings, flags.every_point, flags.quiet.quiet || sweeps);
  bool any = false, failed = false; // the command fails if no claim was tested
  for (const Finding &f : findings)
    if (f.tested()) any = true, failed = failed || !f.passed;
  return any && !failed ? exit_ok : exit_failed;
}

} // namespace

Action add_verify(CLI::App &app) {
  const auto flags = std::make_shared<VerifyFlags>();
  CLI::App &c =
      *app.add_subcommand("verify", "compare claims with measurements; exit 1 if a verdict is not the expected one");
  c.add_option("claims", flags->claims, "ids or globs; default: all claims of the suite");
  c.add_option("--suite", flags->suite, "quick, full, or the path of a TOML suite")->capture_default_str();
  flags->seed_option = c.add_option("--seed", flags->seed, "seed of every random input")->capture_default_str();
  c.add_option("--point", flags->points,
               "measure at name=value,name=value,... and print measured and predicted values; if a value is a range, "
               "as in n=8:32:*2, every combination is measured (repeatable)")
      ->expected(1)
      ->take_all();
  flags->shard.add(c);
  flags->output.add(c);
  c.add_option("--json", flags->json, "write findings as JSON");
  c.add_option("--json-ld", flags->json_ld, "write findings as linked data: schema.org Claim and ClaimReview");
  c.add_option("--junit", flags->junit, "write findings as JUnit XML");
  c.add_flag("--points", flags->every_point, "print every point instead of one row per claim");
  flags->quiet.add(c);
  example(c, "recollect verify snr_exp --point d=48,n=100,tau=7");
  return [flags](const Words &command_line) { return verify(*flags, command_line); };
}

} // namespace recollect
