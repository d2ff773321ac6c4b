// SPDX-License-Identifier: Apache-2.0
#include "harness/core/claim_search.hpp"
#include "harness/core/papers.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <cctype>
#include <map>
#include <regex>

namespace recollect {
namespace {

/// Converts to lower case. "§" becomes the word "section" and an en dash becomes '-'. '_' becomes a space, and so does
/// '-' unless a digit follows ("5-7").
std::string normal(std::string text) {
  for (size_t at; (at = text.find("\u00a7")) != std::string::npos;) text.replace(at, 2, " section ");
  for (size_t at; (at = text.find("\u2013")) != std::string::npos;) text.replace(at, 3, "-");
  for (char &c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (size_t i = 0; i < text.size(); ++i) {
    const bool between_numbers =
        i > 0 && i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1])) && text[i] == '-';
    if (text[i] == '_' || (text[i] == '-' && !between_numbers)) text[i] = ' ';
  }
  return text;
}

/// The kind of place that a word stands for, such as "theorem" for "thms".
std::string kind_of(const std::string &word) {
  static const std::pair<const char *, const char *> begins[] = {
      {"eq", "eq"},          {"prop", "prop"},      {"cor", "corollary"}, {"lem", "lemma"},    {"th", "theorem"},
      {"fig", "fig"},        {"tab", "table"},      {"alg", "algorithm"}, {"list", "listing"}, {"sec", "section"},
      {"app", "appendix"},   {"foot", "footnote"},  {"fn", "footnote"},   {"vig", "vignette"}, {"rem", "remark"},
      {"ass", "assumption"}, {"def", "definition"}, {"line", "line"}};
  for (const auto &[begin, kind] : begins)
    if (word.rfind(begin, 0) == 0) return kind;
  return word;
}

const std::string number_pattern = R"(\(?(?:\d+(?:\.\d+)*[a-z]?|[a-z](?:\.\d+)+)(?![\w])\)?)";

const std::regex &place_pattern() {
  static const std::regex pattern(
      R"(\b(eqs?|equations?|props?|propositions?|cors?|corollar(?:y|ies)|lemmas?|thms?|theorems?|figs?|figures?|tables?|)"
      R"(tabs?|algs?|algorithms?|listings?|sections?|secs?|apps?|appendix|appendices|footnotes?|fn|vignettes?|remarks?|)"
      R"(assumptions?|definitions?|defs?|lines?)\.?\s*((?:)" +
      number_pattern + R"(|\b[a-e]\b)(?:\s*(?:,|-|and|&)\s*)" + number_pattern + ")*)");
  return pattern;
}

/// "5-7, 9" -> 5, 6, 7, 9; "6.4-6.6" -> 6.4, 6.5, 6.6.
std::vector<std::string> numbers_in(const std::string &list) {
  static const std::regex one(R"((-?)\s*\(?([a-z0-9][a-z0-9.]*)\)?)"), last(R"(^(.*?)(\d{1,9})$)");
  std::vector<std::string> all;
  for (std::sregex_iterator found(list.begin(), list.end(), one), end; found != end; ++found) {
    const std::string number = (*found)[2];
    if (number == "and") continue;
    std::smatch from, to;
    const std::string before = all.empty() ? "" : all.back();
    if ((*found)[1].length() && std::regex_match(before, from, last) && std::regex_match(number, to, last) &&
        from[1] == to[1])
      for (int i = std::stoi(from[2]) + 1, n = std::min(std::stoi(to[2]), i + 200); i < n; ++i)
        all.push_back(from[1].str() + std::to_string(i));
    all.push_back(number);
  }
  return all;
}

void add_place(std::set<Place> &places, const std::string &paper, const std::string &kind, const std::string &number) {
  // a number such as A.1 names an appendix, even without the word appendix
  const bool lettered = std::isalpha(static_cast<unsigned char>(number[0]));
  places.insert({paper, lettered ? "appendix" : kind, number});
}

/// Passes every match of `pattern` in the text to `use`, and replaces the match by a space.
template <class Use> void take(std::string &text, const std::regex &pattern, const Use &use) {
  std::smatch found;
  while (std::regex_search(text, found, pattern)) {
    use(found);
    text.replace(size_t(found.position()), size_t(found.length()), " ");
  }
}

/// Finds the papers and places that a text names, and removes them from it.
ClaimQuery parse(std::string &text) {
  static const std::regex arxiv(R"((?:arxiv\s*:?\s*)?\b(\d{4}\.\d{4,5})(?:v\d+)?\b)"), paper(R"(\b(00\d)\b)"),
      lettered(R"(\b([a-e](?:\.\d+)+)\b)");
  ClaimQuery query;
  take(text, arxiv, [&](const std::smatch &m) {
    std::string number = m[1]; // an arXiv number that is not in the table matches no claim
    for (const Paper &p : all_papers())
      if (p.arxiv == m[1]) number = p.number;
    query.papers.insert(number);
  });
  take(text, paper, [&](const std::smatch &m) { query.papers.insert(m[1]); });
  for (const Paper &p : all_papers())
    for (const std::string &name : p.names)
      take(text, std::regex("\\b" + name + "\\b"), [&](const std::smatch &) { query.papers.insert(p.number); });
  const std::string of = query.papers.size() == 1 ? *query.papers.begin() : "";
  take(text, place_pattern(), [&](const std::smatch &m) {
    for (const std::string &number : numbers_in(m[2])) add_place(query.places, of, kind_of(m[1]), number);
  });
  take(text, lettered, [&](const std::smatch &m) { add_place(query.places, of, "appendix", m[1]); });
  return query;
}

/// The papers and places that a claim's source names, for example "002 §3; 000 §2.1".
ClaimQuery parse_source(const std::string &source) {
  ClaimQuery all;
  for (std::string part : split(source, ';')) {
    part = normal(part);
    ClaimQuery one = parse(part);
    if (one.papers.empty() && all.papers.size() == 1) { // "§6.6" after "004 Table 4;" is in the same paper
      std::set<Place> places;
      for (Place place : one.places) place.paper = *all.papers.begin(), places.insert(place);
      one.places = places;
    }
    all.papers.insert(one.papers.begin(), one.papers.end());
    all.places.insert(one.places.begin(), one.places.end());
  }
  return all;
}

/// Whether the place `whole` equals or contains the place `part`: Section 2.2 contains 2.2.1, Appendix A contains A.1,
/// Fig 2 contains Fig 2b.
bool holds(const Place &whole, const Place &part) {
  if (whole.kind != part.kind || (!whole.paper.empty() && whole.paper != part.paper)) return false;
  if (part.number.rfind(whole.number, 0) != 0) return false;
  const char after = part.number.size() > whole.number.size() ? part.number[whole.number.size()] : '.';
  return after == '.' || std::isalpha(static_cast<unsigned char>(after));
}

/// The words of a text: runs of letters, digits and non-ASCII characters.
std::vector<std::string> words_of(const std::string &text) {
  std::vector<std::string> words(1);
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || std::isalnum(byte))
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string everything_of(const Claim &c) {
  return unmarked(join({c.id, c.source, c.statement, c.exact, c.explanation, c.condition, join(c.covers, " ")}, " "));
}

} // namespace

bool has_words(const std::string &text, const std::vector<std::string> &words) {
  std::string known;
  for (const std::string &word : words_of(normal(text))) known += " " + word;
  return std::all_of(words.begin(), words.end(),
                     [&](const std::string &word) { return known.find(" " + word) != std::string::npos; });
}

ClaimQuery parse_claim_query(const std::string &text) {
  static const std::set<std::string> fillers{"of", "the", "in", "a", "an", "and", "paper", "arxiv", "from", "by"};
  std::string rest = normal(text);
  ClaimQuery query = parse(rest);
  for (const std::string &word : words_of(rest))
    if (!fillers.count(word)) query.words.push_back(word);
  return query;
}

bool matches(const ClaimQuery &query, const Claim &claim) {
  const ClaimQuery source = parse_source(claim.source);
  const auto of_paper = [&](const std::string &paper) { return source.papers.count(paper) != 0; };
  if (!query.papers.empty() && std::none_of(query.papers.begin(), query.papers.end(), of_paper)) return false;
  const auto cited = [&](const Place &wanted) {
    return std::any_of(source.places.begin(), source.places.end(),
                       [&](const Place &place) { return holds(wanted, place); });
  };
  return std::all_of(query.places.begin(), query.places.end(), cited) && has_words(everything_of(claim), query.words);
}

std::vector<const Claim *> search_claims(const std::vector<Claim> &claims, const ClaimQuery &query) {
  std::vector<const Claim *> found;
  for (const Claim &claim : claims)
    if (matches(query, claim)) found.push_back(&claim);
  // Claims that were derived from a statement come after claims that a paper states.
  const auto distance = [&](const Claim *c) {
    const bool derived = c->source.find("(derived)") != std::string::npos;
    return (has_words(c->id, query.words) ? 0 : has_words(c->statement, query.words) ? 1 : 2) + (derived ? 3 : 0);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const Claim *a, const Claim *b) { return distance(a) < distance(b); });
  return found;
}

} // namespace recollect
