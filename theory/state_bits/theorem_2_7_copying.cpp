// SPDX-License-Identifier: Apache-2.0
// 2402.01032 Theorem 2.7 and Corollary 2.8: a state of b bits copies at most b / log2 |V| tokens. Measured on every text
// of L signs.
#include "harness/core/error.hpp"
#include "theory/state_bits/all_texts.hpp"

namespace recollect::theory {
namespace {

const std::vector<ParamSpec> text{integer_param("d", 6, 2, 8, "channels of the state, a bit each"),
                                  integer_param("more", 2, 2, 4, "tokens beyond d, at most d")};

std::vector<Point> copying(const Protocol &protocol) {
  const Params p = point_of(protocol, text);
  const int d = p.integer("d"), more = p.integer("more"), L = d + more;
  if (more > d) usage_error("at most d tokens beyond d");
  const Written delta = write_all("delta_net", L, d), wider = write_all("delta_net", L, d + 1),
                one_more = write_all("delta_net", d + 1, d), fits = write_all("delta_net", d, d),
                sums = write_all("linear", L, d);
  const double bound = 1 - power_of_two(d - L), misread = delta.misread(d);
  const auto best = [](const Written &w) { return 1 - double(w.different_states()) / double(w.texts()); };
  const double three_fourths = std::pow(0.75, more);
  return {
      as_statement(at_least_point(misread, bound, 0), p, "error of DeltaNet's reads, a state of d bits"),
      as_statement(at_least_point(misread, 0.5, 0), p, "more than half, for fewer than L - 1 bits"),
      as_obligation(exact_point(misread, bound, 1), p, "1 - 2^d / 2^L, the bound, is reached"),
      as_obligation(exact_point(double(delta.different_states()), power_of_two(d), 1), p, "states of DeltaNet: 2^d"),
      as_obligation(exact_point(one_more.misread(d), 0.5, 1), p, "L - 1 bits: half of the texts"),
      as_obligation(exact_point(1 + fits.misread(d), 1, 1), p, "L bits: every text is copied, 1 + error"),
      as_obligation(exact_point(best(sums), 1 - three_fourths, 4), p,
                    "linear attention, best decoder: 1 - (3/4)^(L - d), from the sums -2, 0, 2"),
      rival_law(exact_point(misread, bound, 1), "1 - d / L, a share of tokens", 1 - double(d) / L),
      rival_law(exact_point(misread, bound, 1), "1 - 2^(d-1) / 2^L", 1 - power_of_two(d - 1 - L)),
      rival_system(at_least_point(wider.misread(d + 1), bound, 0), p, "a state of d + 1 bits"),
      rival_system(exact_point(1 + delta.misread(d), 1, 1), p, "every text is copied, with fewer than L bits")};
}

Claim copying_state_bound() {
  return explained(
      at_parameters(
          running(ledger_row(
                      "copying-state-bound", "2402.01032 Theorem 2.7, Corollary 2.8 (secondary source)",
                      "A model with a fixed set S of states copies texts of L tokens, uniform over a vocabulary of D, "
                      "with an error of at least $1 - |S| / D^L$; with fewer than $L log2(D) - 1$ bits of state its "
                      "error is more than 1/2.",
                      "Each state is decoded to one text at most. DeltaNet with d orthonormal keys and sign values has "
                      "$2^d$ states and reaches the bound.",
                      copying),
                  {"delta_net", "linear"}),
          text),
      "The theorem's text was not at hand; it is stated as quoted in public notes, with > where the bound, being "
      "reached, is >=. "
      "All $2^L$ texts are written, so that the errors are exact.");
}

} // namespace

std::vector<Claim> theorem_2_7_copying() { return {copying_state_bound()}; }

} // namespace recollect::theory
