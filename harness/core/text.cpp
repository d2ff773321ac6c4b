// SPDX-License-Identifier: Apache-2.0
#include "harness/core/text.hpp"
#include "harness/core/error.hpp"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fnmatch.h>
#include <sstream>

namespace recollect {

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::string join(const std::vector<std::string> &parts, const std::string &separator) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) text += (i ? separator : "") + parts[i];
  return text;
}

namespace {
/// Length in bytes of the printable UTF-8 character at text[at]; 0 if none begins there.
size_t character_length(const std::string &text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
  const unsigned first = byte(at), second = byte(at + 1);
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  for (size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  const bool overlong = first < 0xc2 || (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second >= 0xa0, too_large = first > 0xf4 || (first == 0xf4 && second >= 0x90);
  const bool control = first == 0xc2 && second < 0xa0;
  return overlong || surrogate || too_large || control ? 0 : length;
}
} // namespace

std::string unmarked(std::string text) {
  if (std::count(text.begin(), text.end(), '$') % 2 == 0)
    text.erase(std::remove(text.begin(), text.end(), '$'), text.end());
  return text;
}

std::string printable(std::string text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = character_length(text, at);
    if (!length) text[at] = '?';
    at += length ? length : 1;
  }
  return text;
}

std::string canonical(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

bool glob_match(const std::string &pattern, const std::string &name) {
  return fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
}

namespace {
size_t edit_distance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}
} // namespace

std::string suggestion(const std::string &name, const std::vector<std::string> &known) {
  if (known.empty()) return "";
  const auto distance = [&](const std::string &other) { // a prefix of a name counts as near
    const bool begun = name.size() >= 3 && canonical(other).rfind(canonical(name), 0) == 0;
    return begun ? 1 : edit_distance(canonical(name), canonical(other));
  };
  const auto nearest = std::min_element(known.begin(), known.end(),
                                        [&](const auto &a, const auto &b) { return distance(a) < distance(b); });
  if (distance(*nearest) <= std::max<size_t>(2, name.size() / 2)) return ", did you mean '" + *nearest + "'?";
  constexpr size_t most = 10; // a list of a hundred names does not help
  std::vector<std::string> near = known;
  std::stable_sort(near.begin(), near.end(), [&](const auto &a, const auto &b) { return distance(a) < distance(b); });
  if (near.size() <= most) return "; known: " + join(known, ", ");
  near.resize(most);
  return "; nearest of " + std::to_string(known.size()) + ": " + join(near, ", ");
}

std::string number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return std::string(buffer, end);
}

double parse_number(const std::string &text, const std::string &what) {
  double value = 0;
  const char *first = text.data(), *last = first + text.size();
  const auto [end, failure] = std::from_chars(first, last, value);
  if (failure != std::errc() || end != last || !std::isfinite(value))
    usage_error(what + " needs a finite number, got '" + text + "'");
  return value;
}

} // namespace recollect
