// SPDX-License-Identifier: Apache-2.0
// What was read in a paper before a statement of it was called refuted. The scope of the refutation follows from it.
#pragma once
#include <string>

namespace recollect {

/// What a refutation says: of the text, of a stricter reading than the text, of its notation,
/// of the effect without training.
enum class Scope { none, paper, boundary, typo, untrained };

/// The refuted statement in the text:
///   asserted  the text makes it
///   stricter  the text says less, or does not decide the point
///   slip      notation, or a number or sentence that the paper itself has right elsewhere
///   trained   the text makes it of trained models; here nothing was trained
enum class Wording { asserted, stricter, slip, trained };
/// Whether the counter-example meets every condition that the text states.
enum class CounterExample { within, outside };
/// What the next sentence, a footnote or a note does: nothing to the statement, or it limits or withdraws it.
enum class Next { leaves, limits };

struct Reading {
  std::string paragraph;  // where it stands, in the words of the text or near to them
  std::string conditions; // that it states
  std::string next;       // what the next sentence, a footnote or a note does to them
  Wording wording = Wording::asserted;
  CounterExample example = CounterExample::within;
  Next does = Next::leaves;
  std::string answer; // of scope paper: what the authors could answer, written as they would
};

/// paper: asserted, within the conditions, and not limited by what follows. boundary: one of the three fails.
/// typo: a slip. untrained: said of trained models. none: nothing was read.
Scope scope_of(const Reading &);

/// The text asserts it, the counter-example meets its conditions and nothing that follows limits it.
Reading asserted(std::string paragraph, std::string conditions, std::string next, std::string answer);
/// The text says less than what is refuted.
Reading stricter(std::string paragraph, std::string conditions, std::string next);
/// The text asserts it; the counter-example lies outside a condition that it states.
Reading outside(std::string paragraph, std::string conditions, std::string next);
/// The text asserts it and limits or withdraws it in what follows.
Reading limited(std::string paragraph, std::string conditions, std::string next);
/// A slip of notation or of the pen.
Reading slip(std::string paragraph, std::string conditions, std::string next);
/// Said of trained models.
Reading of_trained(std::string paragraph, std::string conditions, std::string next);

} // namespace recollect
