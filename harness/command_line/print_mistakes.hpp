// SPDX-License-Identifier: Apache-2.0
// The catalogue of mistakes, for reading.
#pragma once
#include "harness/check/mistakes.hpp"
#include "harness/files/neighbours.hpp"
#include <iosfwd>

namespace recollect {

/// One line per mistake (of kernels and of conventions): its name and what is wrong.
void print_mistakes(std::ostream &out);
/// One mistake: what is wrong, its symptoms, and reports of it.
void describe(std::ostream &out, const Mistake &mistake);
void describe(std::ostream &out, const ConventionMistake &mistake);

} // namespace recollect
