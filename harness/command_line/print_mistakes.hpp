// SPDX-License-Identifier: Apache-2.0
// Prints the catalogue of mistakes.
#pragma once
#include "harness/check/mistakes.hpp"
#include "harness/files/neighbours.hpp"
#include <iosfwd>

namespace recollect {

/// One line per mistake (of kernels and of conventions): its name and what is wrong.
void print_mistakes(std::ostream &out);
/// Describes one mistake: what is wrong, where it shows, and public reports of it.
void describe(std::ostream &out, const Mistake &mistake);
void describe(std::ostream &out, const ConventionMistake &mistake);

} // namespace recollect
