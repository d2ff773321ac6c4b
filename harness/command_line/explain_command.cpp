// SPDX-License-Identifier: Apache-2.0
// Everything about one claim, layer, task or mistake of kernels, whichever has the name.
#include "harness/command_line/flags.hpp"
#include "harness/command_line/print.hpp"
#include "harness/command_line/print_mistakes.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/core/lookup.hpp"
#include "harness/device/backend.hpp"
#include <algorithm>
#include <iostream>

namespace recollect {
namespace {

struct ExplainFlags {
  std::string name;
  std::uint64_t seed = 1;
  bool measure = true;
};

int explain(const ExplainFlags &flags) {
  if (const Claim *claim = lookup::named(all_claims(), flags.name)) {
    const bool measured = flags.measure && claim->measure;
    Protocol protocol;
    protocol.seed = flags.seed, protocol.effort = claim->suite;
    const Backend backend;
    Finding finding;
    if (measured) finding = examine(*claim, protocol);
    explain(std::cout, *claim, measured ? &finding : nullptr, provenance({"recollect", "explain"}, flags.seed));
    return measured && !finding.passed ? exit_failed : exit_ok;
  }
  if (const Variant *variant = lookup::named(all_variants(), flags.name)) {
    describe(std::cout, *variant);
    explain_claims(std::cout, *variant);
    return exit_ok;
  }
  if (const Task *task = lookup::named(all_tasks(), flags.name)) {
    describe(std::cout, *task);
    return exit_ok;
  }
  if (const Mistake *mistake = lookup::named(all_mistakes(), flags.name)) {
    describe(std::cout, *mistake);
    return exit_ok;
  }
  std::vector<std::string> known = lookup::all_names(all_claims());
  for (const auto &more :
       {lookup::all_names(all_variants()), lookup::all_names(all_tasks()), lookup::all_names(all_mistakes())})
    known.insert(known.end(), more.begin(), more.end());
  const std::string setting = lookup::as_a_setting(flags.name);
  usage_error("no claim, variant, task or mistake is called '" + flags.name + "'" +
              (setting.empty() ? suggestion(flags.name, known) : setting));
}

} // namespace

Action add_explain(CLI::App &app) {
  const auto flags = std::make_shared<ExplainFlags>();
  CLI::App &c = *app.add_subcommand(
      "explain", "explain one claim, variant, task or kernel mistake: statement, measurement, related claims");
  c.add_option("name", flags->name, "name of a claim, a variant, a task or a mistake")->required();
  c.add_option("--seed", flags->seed, "seed with which a claim is measured")->capture_default_str();
  c.add_flag("!--no-measure", flags->measure, "print a claim without measuring it");
  example(c, "recollect explain delta_net");
  return [flags](const Words &) { return explain(*flags); };
}

} // namespace recollect
