// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/junit.hpp"
#include "harness/core/text.hpp"

namespace recollect {
namespace {

std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text) switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += (static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t') ? '?' : c;
    }
  return out;
}

} // namespace

void JUnit::open(const std::string &name, double seconds) {
  ++tests_;
  cases_ += "  <testcase classname=\"" + escaped(class_) + "\" name=\"" + escaped(name) + "\" time=\"" +
            number(seconds) + "\"";
}
void JUnit::passed(const std::string &name, double seconds, const std::string &verdict) {
  open(name, seconds);
  const std::string property =
      "<properties><property name=\"verdict\" value=\"" + escaped(verdict) + "\"/></properties>";
  cases_ += verdict.empty() ? "/>\n" : ">" + property + "</testcase>\n";
}
void JUnit::skipped(const std::string &name, const std::string &why) {
  ++skipped_;
  open(name, 0);
  cases_ += "><skipped message=\"" + escaped(why) + "\"/></testcase>\n";
}
void JUnit::failed(const std::string &name, double seconds, const std::string &message, const std::string &details) {
  ++failures_;
  open(name, seconds);
  cases_ += ">\n    <failure message=\"" + escaped(message) + "\">" + escaped(details) + "</failure>\n  </testcase>\n";
}

std::string JUnit::text() const {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"" + escaped(suite_) + "\" tests=\"" +
         std::to_string(tests_) + "\" failures=\"" + std::to_string(failures_) + "\" skipped=\"" +
         std::to_string(skipped_) + "\">\n" + cases_ + "</testsuite>\n";
}

} // namespace recollect
