// SPDX-License-Identifier: Apache-2.0
// The catalogue of mistakes, for reading.
#include "harness/command_line/print_mistakes.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/text.hpp"
#include <ostream>

namespace recollect {

void print_mistakes(std::ostream &out) {
  for (const Mistake &mistake : all_mistakes()) out << folded(mistake.name + ": " + mistake.what) << '\n';
  out << all_mistakes().size() << " mistakes; `recollect check --list-mistakes NAME` for one\n";
}

void describe(std::ostream &out, const Mistake &mistake) {
  out << mistake.name << '\n';
  out << folded("What is wrong: " + mistake.what) << '\n';
  out << folded("Where it shows: " + mistake.shows) << '\n';
  if (!mistake.reports.empty()) out << folded("Public reports: " + join(mistake.reports, ", ")) << '\n';
}

} // namespace recollect
