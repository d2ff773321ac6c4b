// SPDX-License-Identifier: Apache-2.0
#include "harness/core/reading.hpp"

namespace recollect {
namespace {

Reading read(std::string paragraph, std::string conditions, std::string next, Wording wording,
             CounterExample example = CounterExample::within, Next does = Next::leaves) {
  return {std::move(paragraph), std::move(conditions), std::move(next), wording, example, does, ""};
}

} // namespace

Scope scope_of(const Reading &r) {
  if (r.paragraph.empty()) return Scope::none;
  if (r.wording == Wording::slip) return Scope::typo;
  if (r.wording == Wording::trained) return Scope::untrained;
  const bool as_asserted =
      r.wording == Wording::asserted && r.example == CounterExample::within && r.does == Next::leaves;
  return as_asserted ? Scope::paper : Scope::boundary;
}

Reading asserted(std::string paragraph, std::string conditions, std::string next, std::string answer) {
  Reading r = read(std::move(paragraph), std::move(conditions), std::move(next), Wording::asserted);
  r.answer = std::move(answer);
  return r;
}
Reading stricter(std::string paragraph, std::string conditions, std::string next) {
  return read(std::move(paragraph), std::move(conditions), std::move(next), Wording::stricter);
}
Reading outside(std::string paragraph, std::string conditions, std::string next) {
  return read(std::move(paragraph), std::move(conditions), std::move(next), Wording::asserted, CounterExample::outside);
}
Reading limited(std::string paragraph, std::string conditions, std::string next) {
  return read(std::move(paragraph), std::move(conditions), std::move(next), Wording::asserted, CounterExample::within,
              Next::limits);
}
Reading slip(std::string paragraph, std::string conditions, std::string next) {
  return read(std::move(paragraph), std::move(conditions), std::move(next), Wording::slip);
}
Reading of_trained(std::string paragraph, std::string conditions, std::string next) {
  return read(std::move(paragraph), std::move(conditions), std::move(next), Wording::trained);
}

} // namespace recollect
