// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/table.hpp"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <ostream>
#include <regex>
#include <sys/ioctl.h>
#include <unistd.h>

namespace recollect {

namespace {

/// Number of UTF-8 characters. Continuation bytes do not count.
size_t columns_of(const std::string &text) {
  return size_t(std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xC0) != 0x80; }));
}

/// Wraps the text to `width` columns. Each line is indented like the text.
std::vector<std::string> lines_of(const std::string &text, size_t width) {
  const size_t start = std::min(text.find_first_not_of(' '), text.size());
  width -= std::min(start, width - 1);
  std::vector<std::string> lines;
  std::string line, word;
  const auto end_word = [&] {
    if (word.empty()) return;
    for (size_t bytes; columns_of(word) > width; word.erase(0, bytes)) { // cuts a word that is longer than a line
      if (!line.empty()) lines.push_back(line), line.clear();
      for (bytes = 1; columns_of(word.substr(0, bytes + 1)) <= width; ++bytes) {
      }
      lines.push_back(word.substr(0, bytes));
    }
    if (!line.empty() && columns_of(line) + 1 + columns_of(word) > width) lines.push_back(line), line.clear();
    line += (line.empty() ? "" : " ") + word;
    word.clear();
  };
  for (char c : text.substr(start)) {
    if (c == ' ')
      end_word();
    else
      word += c;
  }
  end_word();
  lines.push_back(line);
  for (std::string &one : lines) one.insert(0, start, ' ');
  return lines;
}

/// Narrows the widest columns until a row has at most `most` characters. No column becomes narrower than 8.
void fit(std::vector<size_t> &widths, size_t most) {
  const auto total = [&] { return std::accumulate(widths.begin(), widths.end(), 2 * widths.size()) - 2; };
  while (!widths.empty() && total() > most) {
    size_t &widest = *std::max_element(widths.begin(), widths.end());
    if (widest <= 8) return;
    --widest;
  }
}

std::string folded_line(const std::string &line, size_t width) {
  if (columns_of(line) <= width) return line;
  const size_t first = std::min(line.find_first_not_of(' '), line.size());
  size_t rest = line.find_first_not_of(' ', line.find("  ", first)), indent;
  if (rest != std::string::npos && columns_of(line.substr(0, rest)) <= width / 2)
    indent = columns_of(line.substr(0, rest));
  else
    rest = first, indent = first < 8 ? first + 4 : std::min(first, width / 2);
  std::string out = line.substr(0, rest);
  for (const std::string &part : lines_of(line.substr(rest), width - indent))
    out += (out.size() > rest ? "\n" + std::string(indent, ' ') : "") + part;
  return out;
}

} // namespace

size_t terminal_width(int descriptor) {
  if (const char *set = std::getenv("COLUMNS"); set && std::atoi(set) >= 40) return size_t(std::atoi(set));
  winsize size{};
  const bool terminal = isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return terminal ? std::max<size_t>(size.ws_col, 40) : size_t(1) << 30;
}

std::string wrapped(const std::string &text, const std::string &name, size_t indent) {
  std::string out = name + std::string(name.size() < indent ? indent - name.size() : 1, ' ');
  const std::vector<std::string> lines = lines_of(text, terminal_width() - indent);
  for (size_t i = 0; i < lines.size(); ++i) out += (i ? "\n" + std::string(indent, ' ') : "") + lines[i];
  return out;
}

std::string folded(const std::string &text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += folded_line(text.substr(at, end - at), terminal_width()) + (end < text.size() ? "\n" : "");
    at = end + 1;
  }
  return out;
}

void print_table(std::ostream &out, const Rows &rows) {
  std::vector<size_t> widths;
  for (const auto &row : rows)
    for (size_t c = 0; c < row.size(); ++c) {
      if (c >= widths.size()) widths.push_back(0);
      widths[c] = std::max(widths[c], columns_of(row[c]));
    }
  fit(widths, terminal_width());
  for (const auto &row : rows) {
    std::vector<std::vector<std::string>> cells;
    size_t height = 1;
    for (size_t c = 0; c < row.size(); ++c) {
      cells.push_back(lines_of(row[c], widths[c]));
      height = std::max(height, cells.back().size());
    }
    for (size_t at = 0; at < height; ++at) {
      std::string line;
      for (size_t c = 0; c < cells.size(); ++c) {
        const std::string text = at < cells[c].size() ? cells[c][at] : "";
        line += text + std::string(widths[c] > columns_of(text) ? widths[c] - columns_of(text) + 2 : 2, ' ');
      }
      out << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
    }
  }
}

std::string alarmed(const std::string &text) {
  const char *plain = std::getenv("NO_COLOR"); // no-color.org: applies if set and not empty
  if (!isatty(STDOUT_FILENO) || (plain && *plain)) return text;
  return std::regex_replace(text, std::regex("FAILED|WRONG"), "\033[1;31m$&\033[0m");
}

std::string cut(const std::string &text, size_t columns) {
  size_t end = 0, taken = 0;
  while (end < text.size()) {
    size_t next = end + 1;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80) ++next;
    if (++taken > columns) break;
    end = next;
  }
  return text.substr(0, end);
}

std::string brief(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

} // namespace recollect
