// SPDX-License-Identifier: Apache-2.0
#include "harness/core/sweep.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace recollect {
namespace {

std::vector<std::string> range(const std::string &text, const std::string &what) {
  const std::vector<std::string> parts = split(text, ':');
  const std::string step = parts.size() > 2 ? parts[2] : "+1";
  if (parts.size() > 3 || step.size() < 2 || (step[0] != '*' && step[0] != '+'))
    usage_error(what + ": a range is first:last:*factor or first:last:+step, got '" + text + "'");
  const double first = parse_number(parts[0], what), last = parse_number(parts[1], what),
               by = parse_number(step.substr(1), what);
  const bool grows = step[0] == '*' ? by > 1 && first > 0 : by > 0;
  if (!grows || last < first) usage_error(what + ": the range '" + text + "' never ends or is empty");
  std::vector<std::string> values;
  const double reach =
      last + 1e-12 * std::max(std::fabs(first), std::fabs(last)); // so that 0.1:0.3:+0.1 has three values
  for (double x = first; x <= reach; x = step[0] == '*' ? x * by : first + by * double(values.size())) {
    std::ostringstream shown; // 0.3, not 0.30000000000000004
    shown << std::setprecision(12) << x;
    values.push_back(number(std::stod(shown.str())));
    if (values.size() > 10000) usage_error(what + ": the range '" + text + "' has more than 10000 values");
  }
  return values;
}

} // namespace

std::vector<std::string> expand_values(const std::string &text, const std::string &what) {
  std::vector<std::string> values;
  for (const std::string &part : split(text, ',')) {
    if (part.empty()) usage_error(what + ": an empty value in '" + text + "'");
    if (part.find(':') == std::string::npos)
      values.push_back(part);
    else
      for (const std::string &value : range(part, what)) values.push_back(value);
  }
  if (values.empty()) usage_error(what + " needs a value");
  return values;
}

std::vector<std::map<std::string, std::string>> combinations(const std::map<std::string, std::string> &settings,
                                                             const std::string &flag,
                                                             std::vector<std::map<std::string, std::string>> start) {
  for (const auto &[name, text] : settings) {
    const std::vector<std::string> values = expand_values(text, flag + " " + name);
    if (double(start.size()) * double(values.size()) > 1e6)
      usage_error(flag + " " + name + "=" + text + ": more than 1,000,000 combinations; give fewer values");
    std::vector<std::map<std::string, std::string>> longer;
    for (const auto &known : start)
      for (const std::string &value : values) {
        longer.push_back(known);
        longer.back()[name] = value;
      }
    start = std::move(longer);
  }
  return start;
}

} // namespace recollect
