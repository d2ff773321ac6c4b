// SPDX-License-Identifier: Apache-2.0
// Test results in JUnit's XML format, which CI systems read.
#pragma once
#include <string>

namespace recollect {

class JUnit {
public:
  JUnit(std::string suite, std::string class_name) : suite_(std::move(suite)), class_(std::move(class_name)) {}
  void passed(const std::string &name, double seconds, const std::string &verdict = "");
  void skipped(const std::string &name, const std::string &why);
  void failed(const std::string &name, double seconds, const std::string &message, const std::string &details);
  std::string text() const;

private:
  void open(const std::string &name, double seconds);
  std::string suite_, class_, cases_;
  int tests_ = 0, failures_ = 0, skipped_ = 0;
};

} // namespace recollect
