// SPDX-License-Identifier: Apache-2.0 The command `explain`: prints everything about one claim, layer, task or kernel
// mistake, which is found by its name, by a citation or by words.
#include "harness/command_line/flags.hpp"
#include "harness/command_line/print.hpp"
#include "harness/command_line/print_mistakes.hpp"
#include "harness/command_line/print_search.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/core/claim_search.hpp"
#include "harness/core/lookup.hpp"
#include "harness/core/papers.hpp"
#include "harness/device/backend.hpp"
#include <algorithm>
#include <iostream>

namespace recollect {
namespace {

struct ExplainFlags {
  Words name; // a name, or words to search for
  std::uint64_t seed = 1;
  bool measure = true;
};

int explain(const ExplainFlags &flags, const Claim &claim) {
  const bool measured = flags.measure && claim.measure;
  Protocol protocol;
  protocol.seed = flags.seed, protocol.effort = claim.suite;
  const Backend backend;
  Finding finding;
  if (measured) finding = examine(claim, protocol);
  explain(std::cout, claim, measured ? &finding : nullptr, provenance({"recollect", "explain"}, flags.seed));
  return measured && !finding.passed ? exit_failed : exit_ok;
}

int explain(const Variant &variant) {
  describe(std::cout, variant);
  explain_claims(std::cout, variant);
  return exit_ok;
}

template <class Entry> int describe_one(const Entry &entry) {
  describe(std::cout, entry);
  return exit_ok;
}

[[noreturn]] void refuse(const std::string &name, const ClaimQuery &query) {
  if (!query.places.empty() || !query.papers.empty())
    usage_error("no claim cites '" + name +
                "'; `recollect list claims --paper 004` lists a paper's claims with their sources");
  std::vector<std::string> known = lookup::all_names(all_claims());
  for (const auto &more : {lookup::all_names(all_variants()), lookup::all_names(all_tasks()),
                           lookup::all_names(all_mistakes()), lookup::all_names(convention_mistakes())})
    known.insert(known.end(), more.begin(), more.end());
  const std::string setting = lookup::as_a_setting(name);
  usage_error("no claim, variant, task or mistake is called '" + name + "'" +
              (setting.empty() ? suggestion(name, known) : setting));
}

int explain(const ExplainFlags &flags) {
  const std::string name = join(flags.name, " ");
  if (const Claim *claim = lookup::named(all_claims(), name)) return explain(flags, *claim);
  if (const Variant *variant = lookup::named(all_variants(), name)) return explain(*variant);
  if (const Task *task = lookup::named(all_tasks(), name)) return describe_one(*task);
  if (const Mistake *mistake = lookup::named(all_mistakes(), name)) return describe_one(*mistake);
  if (const ConventionMistake *mistake = lookup::named(convention_mistakes(), name)) return describe_one(*mistake);
  const ClaimQuery query = parse_claim_query(name);
  const SearchResult found = lookup::as_a_setting(name).empty() ? search(query) : SearchResult{};
  if (found.size() == 0) refuse(name, query);
  if (found.size() > 1 || names_a_paper(query)) {
    print_search(std::cout, name, query, found);
    return exit_ok;
  }
  if (!found.claims.empty()) return explain(flags, *found.claims[0]);
  if (!found.variants.empty()) return explain(*found.variants[0]);
  return found.tasks.empty() ? describe_one(*found.mistakes[0]) : describe_one(*found.tasks[0]);
}

} // namespace

Action add_explain(CLI::App &app) {
  const auto flags = std::make_shared<ExplainFlags>();
  CLI::App &c = *app.add_subcommand(
      "explain", "explain one claim, variant, task or kernel mistake: statement, measurement, related claims");
  c.add_option(
       "name", flags->name,
       "a name, a citation (\"Proposition 2\", \"004 Eq 17\", an arXiv number) or words; if several entries match, "
       "they are listed")
      ->required();
  c.add_option("--seed", flags->seed, "seed with which a claim is measured")->capture_default_str();
  c.add_flag("!--no-measure", flags->measure, "print a claim without measuring it");
  example(c, "recollect explain VLA Prop 2");
  return [flags](const Words &) { return explain(*flags); };
}

} // namespace recollect
