// SPDX-License-Identifier: Apache-2.0
// Prints the catalogue of mistakes.
#include "harness/command_line/print_mistakes.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/text.hpp"
#include <ostream>

namespace recollect {

void print_mistakes(std::ostream &out) {
  for (const Mistake &mistake : all_mistakes()) out << folded(mistake.name + ": " + mistake.what) << '\n';
  out << all_mistakes().size() << " mistakes of kernels\n";
  for (const ConventionMistake &mistake : convention_mistakes())
    out << folded(mistake.name + ": " + mistake.what) << '\n';
  out << convention_mistakes().size()
      << " mistakes of conventions; `recollect check --list-mistakes NAME` describes a mistake\n";
}

namespace {

template <class Entry> void page(std::ostream &out, const Entry &mistake) {
  out << mistake.name << '\n';
  out << folded("What is wrong: " + mistake.what) << '\n';
  out << folded("Where it shows: " + mistake.shows) << '\n';
  if (!mistake.reports.empty()) out << folded("Public reports: " + join(mistake.reports, ", ")) << '\n';
}

} // namespace

void describe(std::ostream &out, const Mistake &mistake) { page(out, mistake); }
void describe(std::ostream &out, const ConventionMistake &mistake) { page(out, mistake); }

} // namespace recollect
