// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/flags.hpp"
#include "harness/command_line/print.hpp"
#include "harness/command_line/print_conventions.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/core/claim_search.hpp"
#include "harness/core/lookup.hpp"
#include "harness/core/papers.hpp"
#include <iostream>

namespace recollect {
namespace {

struct ListFlags {
  std::string kind;
  std::vector<std::string> names;
  std::string paper, verdict, scope, search;
  bool json = false;
  bool filters() const { return !paper.empty() || !verdict.empty() || !scope.empty() || !search.empty(); }
};

template <class Entry>
int list_entries(const std::vector<const Entry *> &entries, const ListFlags &flags,
                 void (*table)(std::ostream &, const std::vector<const Entry *> &),
                 void (*as_json)(std::ostream &, const std::vector<const Entry *> &)) {
  if (flags.json)
    as_json(std::cout, entries);
  else if (flags.names.empty())
    table(std::cout, entries);
  else
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i) std::cout << '\n';
      describe(std::cout, *entries[i]);
    }
  return exit_ok;
}

/// The value of the enumeration whose name is `text`. `last` is the last value of the enumeration.
template <class Enum> Enum named(const std::string &text, Enum last, const std::string &flag) {
  std::vector<std::string> known;
  for (int i = 0; i <= int(last); ++i) {
    known.push_back(name_of(Enum(i)));
    if (!known.back().empty() && lookup::same(known.back(), text)) return Enum(i);
    if (known.back().empty()) known.pop_back();
  }
  usage_error(flag + " is one of " + join(known, ", ") + "; got '" + text + "'");
}

/// The claims that pass every filter. Usage error if none does, so that a misspelt filter is noticed.
std::vector<const Claim *> filtered(const std::vector<const Claim *> &claims, const ListFlags &flags) {
  ClaimQuery query = parse_claim_query(flags.search);
  if (!flags.paper.empty()) {
    const std::string paper = find_paper(flags.paper).number;
    if (!query.papers.empty() && !query.papers.count(paper)) query.words.push_back(*query.papers.begin());
    query.papers = {paper};
  }
  const Verdict verdict =
      flags.verdict.empty() ? Verdict::holds : named(flags.verdict, Verdict::holds_under, "--verdict");
  const Scope scope = flags.scope.empty() ? Scope::none : named(flags.scope, Scope::untrained, "--scope");
  std::vector<const Claim *> passing;
  for (const Claim *c : claims)
    if ((flags.verdict.empty() || c->expected == verdict) && (flags.scope.empty() || c->scope == scope) &&
        matches(query, *c))
      passing.push_back(c);
  if (passing.empty() && !flags.json) usage_error("no claim passes all of these filters; leave one out");
  return passing;
}

int list(const ListFlags &flags) {
  if (flags.kind == "conventions") {
    (flags.json ? print_conventions_json : print_conventions)(std::cout, flags.names);
    return exit_ok;
  }
  const std::vector<std::string> patterns = flags.names.empty() ? std::vector<std::string>{"all"} : flags.names;
  if (flags.kind != "claims" && flags.filters())
    usage_error("--paper, --verdict, --scope and --search choose claims; got 'list " + flags.kind + "'");
  if (flags.kind == "variants")
    return list_entries(select_variants(patterns), flags, print_variants, print_variants_json);
  if (flags.kind == "tasks") return list_entries(select_tasks(patterns), flags, print_tasks, print_tasks_json);
  const std::vector<const Claim *> claims = select_claims(patterns);
  return list_entries(flags.filters() ? filtered(claims, flags) : claims, flags, print_claims, print_claims_json);
}

} // namespace

Action add_list(CLI::App &app) {
  const auto flags = std::make_shared<ListFlags>();
  CLI::App &c =
      *app.add_subcommand("list", "list variants, tasks, claims or conventions; with names, all details of each");
  c.add_option("kind", flags->kind, "variants, tasks, claims or conventions (of users' arrays)")
      ->required()
      ->check(CLI::IsMember({"variants", "tasks", "claims", "conventions"}));
  c.add_option("names", flags->names, "names or globs");
  c.add_option("--paper", flags->paper,
               "claims of this paper: 000, 002, 003, 004, an arXiv number, or a name such as VLA");
  c.add_option("--verdict", flags->verdict,
               "claims with this expected verdict: holds, holds_under, holds_asymptotically, refuted, not_tested");
  c.add_option(
      "--scope", flags->scope,
      "refutations of this scope: paper (the paper asserts it), boundary (only a stricter reading fails), typo, "
      "untrained (an effect of training is absent without it)");
  c.add_option("--search", flags->search, "claims with these words (\"delta rule\") or of this place (\"Eq 17\")");
  c.add_flag("--json", flags->json, "as JSON");
  example(c, "recollect list claims --paper 003 --verdict refuted --search \"delta rule\"");
  return [flags](const Words &) { return list(*flags); };
}

} // namespace recollect
