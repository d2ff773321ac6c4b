// SPDX-License-Identifier: Apache-2.0
#include "harness/check/where.hpp"
#include "harness/check/remake.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace recollect {
namespace {

constexpr double enough =
    0.95; // a pattern fits if it holds for this fraction of bad rows and fails for this one of good

struct Row {
  size_t head, step;
  bool bad;
};
struct Pattern {
  std::string said;
  std::function<bool(const Row &)> holds;
};

bool fits(const Pattern &pattern, const std::vector<Row> &rows) {
  double bad = 0, good = 0, bad_within = 0, good_within = 0;
  for (const Row &row : rows) {
    (row.bad ? bad : good) += 1;
    if (pattern.holds(row)) (row.bad ? bad_within : good_within) += 1;
  }
  return bad > 0 && bad_within >= enough * bad && good_within <= (1 - enough) * good;
}

std::string list_of(const char *one, const char *several, const std::set<size_t> &numbers) {
  std::vector<std::string> texts;
  for (size_t number : numbers) texts.push_back(std::to_string(number));
  return (texts.size() > 1 ? several : one) + std::string(" ") + join(texts, ", ");
}

std::string steps_from(size_t begin, size_t end) { return std::to_string(begin) + " to " + std::to_string(end - 1); }

std::vector<Row> rows_of(const Part &part, const Judged &judged, const Limits &limits) {
  std::vector<Row> rows;
  const bool some = std::any_of(judged.ratios.begin(), judged.ratios.end(), [&](double r) { return r > limits.row; });
  for (size_t i = 0; i < judged.ratios.size(); ++i)
    rows.push_back({i / part.rows, i % part.rows, judged.ratios[i] > (some ? limits.row : limits.head)});
  return rows;
}

/// The pattern "only these batch entries (or heads) have bad rows"; empty if all have bad rows, or none.
std::optional<Pattern> group_pattern(const std::vector<Row> &rows, const char *one, const char *several, size_t groups,
                                     const std::function<size_t(size_t head)> &group) {
  std::set<size_t> found;
  for (const Row &row : rows)
    if (row.bad) found.insert(group(row.head));
  if (found.empty() || found.size() == groups) return std::nullopt;
  return Pattern{list_of(one, several, found),
                 [found, group](const Row &row) { return found.count(group(row.head)) > 0; }};
}

/// Patterns over steps: a single step; all steps from some step on, or before some step; all steps of the same residue
/// modulo some number.
void add_steps(std::vector<Pattern> &all, const std::vector<Row> &rows, size_t T) {
  size_t begin = T, end = 0;
  for (const Row &row : rows)
    if (row.bad) begin = std::min(begin, row.step), end = std::max(end, row.step + 1);
  const auto within = [](size_t first, size_t last) {
    return [first, last](const Row &row) { return row.step >= first && row.step < last; };
  };
  if (end == begin + 1) {
    all.push_back({begin + 1 == T ? "the last step" : "step " + std::to_string(begin), within(begin, end)});
  } else if (end == T && begin > 0) {
    std::string said = "from step " + std::to_string(begin) + " on";
    for (size_t length : {256, 128, 64, 32, 16})
      if (begin >= length && begin % length == 0) {
        said += T - begin < length ? ", the last partial chunk of " + std::to_string(length)
                : begin == length  ? ", the first boundary of chunks of " + std::to_string(length)
                                   : ", a boundary of chunks of " + std::to_string(length);
        break;
      }
    all.push_back({said, within(begin, T)});
  } else if (begin == 0 && end < T) {
    all.push_back({"before step " + std::to_string(end) + ", where the initial state still matters", within(0, end)});
  } else {
    all.push_back({"steps " + steps_from(begin, end), within(begin, end)});
  }
  for (size_t length : {2, 4, 8, 16, 32, 64, 128}) {
    if (2 * length > T) break;
    std::set<size_t> residues;
    for (const Row &row : rows)
      if (row.bad) residues.insert(row.step % length);
    if (residues.size() == 1)
      all.push_back({"t mod " + std::to_string(length) + " = " + std::to_string(*residues.begin()),
                     [length, r = *residues.begin()](const Row &row) { return row.step % length == r; }});
  }
  for (size_t length : {16, 32, 64, 128}) // every second chunk
    for (size_t odd : {0, 1})
      if (2 * length < T)
        all.push_back({"every second chunk of " + std::to_string(length),
                       [length, odd](const Row &row) { return row.step / length % 2 == odd; }});
}

void add_gates(std::vector<Pattern> &all, const std::vector<Row> &rows, const CheckCase &problem) {
  if (given_gates(problem).empty()) return;
  const size_t T = size_t(problem.given.shape.T);
  const std::string gate = name_of(given_gates(problem).back());
  const Numbers rates = decay_rates(problem);
  const auto rate = [rates, T](const Row &row) { return rates[row.head * T + row.step]; };
  all.push_back({"only where " + gate + " is exactly 1", [=](const Row &row) { return rate(row) == 0; }});
  all.push_back({"only where " + gate + " is exactly 0", [=](const Row &row) { return std::isinf(rate(row)); }});
  double least = HUGE_VAL;
  for (const Row &row : rows)
    if (row.bad) least = std::min(least, rate(row));
  if (least > 0 && std::isfinite(least))
    all.push_back({"only where " + gate + " is at most " + number(std::exp(-least)),
                   [=](const Row &row) { return rate(row) >= least; }});
  for (size_t length : {16, 32, 64, 128})
    all.push_back(
        {"in chunks of " + std::to_string(length) + " whose log gates sum to less than -88", [=](const Row &row) {
           double sum = 0;
           const size_t begin = row.step / length * length;
           for (size_t t = begin; t < std::min(begin + length, T); ++t) sum += rates[row.head * T + t];
           return sum > 88;
         }});
}

/// Names the range of columns, or of a state's rows, that are bad, such as "channels 16 to 31". "" if all or none are
/// bad, or if the bad ones are not contiguous.
std::string band(const std::string &noun, const std::vector<bool> &bad) {
  const auto first = std::find(bad.begin(), bad.end(), true);
  if (first == bad.end()) return "";
  const size_t begin = size_t(first - bad.begin()),
               end = bad.size() - size_t(std::find(bad.rbegin(), bad.rend(), true) - bad.rbegin());
  if (end - begin == bad.size() || size_t(std::count(bad.begin(), bad.end(), true)) != end - begin) return "";
  return end == begin + 1 ? noun + " " + std::to_string(begin) : noun + "s " + steps_from(begin, end);
}

std::string columns_of(const Part &part, const Numbers &candidate, const PartNoise &noise,
                       const std::vector<Row> &rows) {
  const Limits limits = limits_of(noise.precision);
  std::vector<bool> bad(part.columns);
  for (size_t j = 0; j < part.columns; ++j) {
    double squares = 0;
    size_t count = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].bad) continue;
      const double error = (candidate[i * part.columns + j] - part.values[i * part.columns + j]) / noise.rows[i];
      squares += std::isnan(error) ? HUGE_VAL : error * error, ++count;
    }
    bad[j] = count && std::sqrt(squares / double(count)) > limits.row;
  }
  return band(part.over_steps ? "channel" : "column", bad);
}

std::string describe(const Reference &reference, const Part &part, const Part &candidate, const Judged &judged,
                     const PartNoise &noise) {
  std::vector<std::string> said;
  std::vector<Row> rows = rows_of(part, judged, limits_of(noise.precision));
  const std::string columns = columns_of(part, candidate.values, noise, rows);
  const size_t H = reference.heads_in(part);
  const auto keep = [&](const std::optional<Pattern> &pattern) {
    if (!pattern) return;
    said.push_back(pattern->said);
    rows.erase(std::remove_if(rows.begin(), rows.end(), [&](const Row &row) { return !pattern->holds(row); }),
               rows.end());
  };
  keep(group_pattern(rows, "batch entry", "batch entries", part.heads / H, [H](size_t head) { return head / H; }));
  keep(group_pattern(rows, "head", "heads", H, [H](size_t head) { return head % H; }));
  const bool all_bad = fits({"", [](const Row &) { return true; }}, rows) &&
                       double(std::count_if(rows.begin(), rows.end(), [](const Row &r) { return r.bad; })) >=
                           enough * double(rows.size());
  std::vector<Pattern> patterns;
  if (part.over_steps && !all_bad) add_steps(patterns, rows, part.rows);
  const bool own_heads = part.heads == reference.problem().given.shape.heads();
  if (part.over_steps && !all_bad && own_heads) add_gates(patterns, rows, reference.problem());
  for (const Pattern &pattern : patterns)
    if (fits(pattern, rows)) {
      said.push_back(pattern.said);
      break;
    }
  if (!part.over_steps && !all_bad) {
    std::vector<bool> bad(part.rows, false);
    for (const Row &row : rows) bad[row.step] = bad[row.step] || row.bad;
    if (const std::string found = band("row", bad); !found.empty()) said.push_back(found);
  }
  if (!columns.empty()) said.push_back(columns);
  if (!judged.finite) said.push_back("not finite");
  return join(said, ", ");
}

} // namespace

std::string where_wrong(const Reference &reference, const PartList &candidate, const std::vector<Judged> &judged,
                        const Noise &noise, const PartNames &names) {
  std::vector<std::string> wrong, right;
  std::vector<std::pair<std::string, std::vector<std::string>>> places; // place -> the parts with errors at this place
  for (const Judged &one : judged) {
    const std::string name = called(one.name, names);
    (one.judgement == Judgement::wrong ? wrong : right).push_back(name);
    if (one.judgement != Judgement::wrong) continue;
    const Part &part = *find_part(reference.results(), one.name);
    const PartNoise &unit =
        *std::find_if(noise.begin(), noise.end(), [&](const PartNoise &n) { return n.name == one.name; });
    const std::string place = describe(reference, part, *find_part(candidate, one.name), one, unit);
    if (place.empty()) continue;
    const auto same =
        std::find_if(places.begin(), places.end(), [&](const auto &known) { return known.first == place; });
    if (same == places.end())
      places.push_back({place, {name}});
    else
      same->second.push_back(name);
  }
  std::vector<std::string> said;
  if (!wrong.empty() && !right.empty())
    said.push_back(join(wrong, ", ") + (wrong.size() > 1 ? " are" : " is") + " wrong, " + join(right, ", ") +
                   (right.size() > 1 ? " are" : " is") + " right");
  for (const auto &[place, parts] : places) said.push_back(join(parts, ", ") + ": " + place);
  return join(said, "; ");
}

} // namespace recollect
