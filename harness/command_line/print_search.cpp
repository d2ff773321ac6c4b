// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print_search.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/papers.hpp"
#include "harness/core/text.hpp"
#include <map>
#include <ostream>

namespace recollect {
namespace {

constexpr size_t most_listed = 10;

template <class Entry, class Text>
std::vector<const Entry *> having(const std::vector<Entry> &entries, const std::vector<std::string> &words,
                                  const Text &text) {
  std::vector<const Entry *> found;
  for (const Entry &entry : entries)
    if (has_words(text(entry), words)) found.push_back(&entry);
  return found;
}

/// One line, cut at the terminal's width.
std::string one_line(const std::string &text) {
  const size_t width = terminal_width();
  return text.size() <= width ? text : cut(text, width - 4) + " ...";
}

void print_claim(std::ostream &out, const Claim &c) {
  out << one_line("  " + c.id + ": " + qualified(c.expected, c) + ", " + c.source) << '\n'
      << one_line("      " + unmarked(c.statement)) << '\n';
}

void print_entry(std::ostream &out, const std::string &name, const std::string &text) {
  out << one_line("  " + name + ": " + text) << '\n';
}

/// Prints a heading, calls print(entry) for the first entries, and says how many are left.
template <class Entry, class Print>
void print_some(std::ostream &out, const std::string &kind, const std::vector<const Entry *> &entries,
                const Print &print) {
  if (entries.empty()) return;
  out << entries.size() << ' ' << kind << (entries.size() == 1 ? "" : "s") << ":\n";
  for (size_t i = 0; i < std::min(entries.size(), most_listed); ++i) print(*entries[i]);
  if (entries.size() > most_listed) out << "  ... and " << entries.size() - most_listed << " more\n";
}

void print_paper(std::ostream &out, const Paper &paper, const std::vector<const Claim *> &claims) {
  out << folded(paper.number + "  " + paper.title + (paper.arxiv.empty() ? "" : ", arXiv:" + paper.arxiv)) << '\n'
      << folded("read: " + paper.read) << '\n';
  std::map<std::string, int> outcomes;
  for (const Claim *c : claims)
    ++outcomes[c->scope == Scope::none ? name_of(c->expected)
                                       : name_of(c->expected) + std::string(" (") + name_of(c->scope) + ")"];
  Rows rows;
  for (const auto &[outcome, count] : outcomes) rows.push_back({"  " + std::to_string(count), outcome});
  out << claims.size() << (claims.size() == 1 ? " claim:\n" : " claims:\n");
  print_table(out, rows);
  out << folded("`recollect list claims --paper " + paper.number +
                "` lists them; --verdict, --scope and --search choose\n");
}

} // namespace

bool names_a_paper(const ClaimQuery &query) {
  return query.papers.size() == 1 && query.places.empty() && query.words.empty();
}

SearchResult search(const ClaimQuery &query) {
  SearchResult found;
  const bool cites = !query.papers.empty() || !query.places.empty();
  if (!cites && query.words.empty()) return found;
  found.claims = search_claims(all_claims(), query);
  if (cites) return found;
  found.variants = having(all_variants(), query.words, [](const Variant &v) {
    return join({v.name, join(v.aliases, " "), v.family, v.source, unmarked(v.differs)}, " ");
  });
  found.tasks = having(all_tasks(), query.words, [](const Task &t) {
    return join({t.name, unmarked(t.summary), t.source}, " ");
  });
  found.mistakes = having(all_mistakes(), query.words, [](const Mistake &m) {
    return join({m.name, m.what, m.shows}, " ");
  });
  return found;
}

void print_search(std::ostream &out, const std::string &text, const ClaimQuery &query, const SearchResult &found) {
  if (names_a_paper(query)) return print_paper(out, find_paper(*query.papers.begin()), found.claims);
  print_some(out, "claim", found.claims, [&](const Claim &c) { print_claim(out, c); });
  print_some(out, "layer", found.variants,
             [&](const Variant &v) { print_entry(out, v.name, v.family + ", " + unmarked(v.update)); });
  print_some(out, "task", found.tasks, [&](const Task &t) { print_entry(out, t.name, unmarked(t.summary)); });
  print_some(out, "kernel mistake", found.mistakes, [&](const Mistake &m) { print_entry(out, m.name, m.what); });
  out << folded("`recollect explain NAME` tells everything about one") << '\n';
  if (found.claims.size() > most_listed)
    out << folded("`recollect list claims --search '" + text + "'` lists all claims that match") << '\n';
}

} // namespace recollect
