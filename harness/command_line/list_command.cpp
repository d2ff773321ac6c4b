// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/flags.hpp"
#include "harness/command_line/print.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/core/registry.hpp"
#include <iostream>

namespace recollect {
namespace {

struct ListFlags {
  std::string kind;
  std::vector<std::string> names;
  bool json = false;
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

int list(const ListFlags &flags) {
  const std::vector<std::string> patterns = flags.names.empty() ? std::vector<std::string>{"all"} : flags.names;
  if (flags.kind == "variants")
    return list_entries(select_variants(patterns), flags, print_variants, print_variants_json);
  if (flags.kind == "tasks") return list_entries(select_tasks(patterns), flags, print_tasks, print_tasks_json);
  return list_entries(select_claims(patterns), flags, print_claims, print_claims_json);
}

} // namespace

Action add_list(CLI::App &app) {
  const auto flags = std::make_shared<ListFlags>();
  CLI::App &c = *app.add_subcommand("list", "list variants, tasks or claims; with names, all details of each");
  c.add_option("kind", flags->kind, "variants, tasks or claims")
      ->required()
      ->check(CLI::IsMember({"variants", "tasks", "claims"}));
  c.add_option("names", flags->names, "names or globs");
  c.add_flag("--json", flags->json, "as JSON");
  example(c, "recollect list variants delta_net");
  return [flags](const Words &) { return list(*flags); };
}

} // namespace recollect
