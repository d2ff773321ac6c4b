// SPDX-License-Identifier: Apache-2.0
// What was read in a paper before one of its statements was called refuted. The scope of the refutation follows from
// the reading.
#pragma once
#include <string>

namespace recollect {

/// What a refutation refutes:
///   paper      what the text says
///   boundary   a stricter reading of the text, or the statement outside the limits that the text gives
///   typo       notation, a number or a sentence that the paper has right elsewhere
///   untrained  a statement about trained models; the claim trains none
enum class Scope { none, paper, boundary, typo, untrained };

/// How the text makes the refuted statement:
///   asserted  the text asserts the statement
///   stricter  the text says less than the statement, or does not decide it
///   slip      the statement is notation, or a number or sentence that the paper has right elsewhere
///   trained   the text makes the statement about trained models; the claim trains none
enum class Wording { asserted, stricter, slip, trained };
/// Whether the counter-example satisfies every condition that the text states.
enum class CounterExample { within, outside };
/// Whether the text that follows the statement (the next sentence, a footnote or a note) leaves the statement as it is,
/// or limits or withdraws it.
enum class Next { leaves, limits };

struct Reading {
  std::string paragraph;  // the statement in the words of the text, or close to them
  std::string conditions; // the conditions that the text states
  std::string next;       // what follows the statement in the text, and how this limits the statement
  Wording wording = Wording::asserted;
  CounterExample example = CounterExample::within;
  Next does = Next::leaves;
  std::string answer; // if the scope is `paper`: what the authors could reply, in their words
};

/// `typo` for a slip, `untrained` for a statement about trained models, `none` for an empty reading. Otherwise `paper`
/// if the text asserts the statement, the counter-example satisfies the text's conditions and nothing that follows
/// limits the statement; `boundary` if one of these three is not so.
Scope scope_of(const Reading &);

// Each of the following functions makes a reading of one kind.

/// The text asserts the statement, the counter-example satisfies the text's conditions, and nothing that follows limits
/// the statement.
Reading asserted(std::string paragraph, std::string conditions, std::string next, std::string answer);
/// The text says less than what is refuted.
Reading stricter(std::string paragraph, std::string conditions, std::string next);
/// The text asserts the statement; the counter-example lies outside a condition that the text states.
Reading outside(std::string paragraph, std::string conditions, std::string next);
/// The text asserts the statement, then limits or withdraws it.
Reading limited(std::string paragraph, std::string conditions, std::string next);
/// A slip of notation, or a misprint.
Reading slip(std::string paragraph, std::string conditions, std::string next);
/// The statement is about trained models.
Reading of_trained(std::string paragraph, std::string conditions, std::string next);

} // namespace recollect
