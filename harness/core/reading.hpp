// SPDX-License-Identifier: Apache-2.0
// What was read in a paper before one of its statements was called refuted. The scope of the refutation follows from
// this.
#pragma once
#include <string>

namespace recollect {

/// What is refuted: the text, a stricter reading of it, its notation, or an effect of training (nothing was trained
/// here).
enum class Scope { none, paper, boundary, typo, untrained };

/// How the text makes the refuted statement:
///   asserted  the text makes it
///   stricter  the text says less, or does not decide the point
///   slip      notation, or a number or sentence that the paper has right elsewhere
///   trained   the text makes it about trained models; nothing was trained here
enum class Wording { asserted, stricter, slip, trained };
/// Whether the counter-example satisfies every condition that the text states.
enum class CounterExample { within, outside };
/// What the text says after the statement (in the next sentence, a footnote or a note): nothing that limits it, or a
/// limitation or withdrawal.
enum class Next { leaves, limits };

struct Reading {
  std::string paragraph;  // the statement in the words of the text, or close to them
  std::string conditions; // the conditions that the text states
  std::string next;       // what follows the statement, and how that limits it
  Wording wording = Wording::asserted;
  CounterExample example = CounterExample::within;
  Next does = Next::leaves;
  std::string answer; // for scope paper: what the authors could reply, in their words
};

/// paper: the text asserts the statement, the counter-example satisfies the text's conditions, and nothing that follows
/// limits the statement. boundary: one of these fails. typo: a slip. untrained: about trained models. none: empty.
Scope scope_of(const Reading &);

/// The text asserts the statement, the counter-example satisfies the text's conditions, and nothing that follows limits
/// it.
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
