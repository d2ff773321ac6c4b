// SPDX-License-Identifier: Apache-2.0
// 2402.18668 Theorem 3.1: recall of N pairs by a recurrent model takes a state of a number of bits proportional to N.
// Measured on every assignment of N signs to N keys.
#include "theory/state_bits/all_texts.hpp"

namespace recollect::theory {
namespace {

const std::vector<ParamSpec> pairs{integer_param("N", 8, 3, 10, "pairs, each of an own key and a sign")};

std::vector<Point> recall(const Protocol &protocol) {
  const Params p = point_of(protocol, pairs);
  const int N = p.integer("N");
  std::vector<Point> points;
  const auto bits = [](const Written &w) { return std::log2(double(w.different_states())); };
  for (const char *variant : {"delta_net", "linear"}) {
    const Written all = write_all(variant, N, N);
    points.push_back(
        as_statement(at_least_point(bits(all), N, 1e-12), p, std::string(variant) + ": bits of its states"));
    points.push_back(
        as_obligation(exact_point(1 + all.misread(N), 1, 1), p, std::string(variant) + ": it recalls all, 1 + error"));
    points.push_back(as_obligation(exact_point(all.misread(N - 1), 0.5, 1), p,
                                   std::string(variant) + ": one channel lost, half of the assignments"));
    points.push_back(rival_law(exact_point(all.misread(N - 1), 0.5, 1), "one pair of N lost", 1.0 / N));
  }
  const Written narrow = write_all("delta_net", N, N - 1);
  points.push_back(as_obligation(exact_point(narrow.misread(N - 1), 0.5, 1), p, "a key channel fewer: error"));
  points.push_back(rival_system(at_least_point(bits(narrow), N, 1e-12), p, "a key channel fewer: bits of its states"));
  points.push_back(
      rival_system(exact_point(1 + narrow.misread(N - 1), 1, 1), p, "a key channel fewer: it recalls all"));
  return points;
}

Claim recall_state_bits() {
  return explained(
      at_parameters(
          running(ledger_row("recall-state-bits", "2402.18668 Theorem 3.1 (secondary source)",
                             "Any recurrent model that depends causally on its input needs a state of $Omega(N)$ "
                             "bits to solve multi-query associative recall of N pairs.",
                             "For values of one bit: the $2^N$ assignments to N keys need as many states, so N bits "
                             "at least; with one bit fewer at least half of the assignments are misread.",
                             recall),
                  {"delta_net", "linear"}),
          pairs),
      "The theorem as quoted in public notes; its proof was not read. The constant is that of the counting argument.");
}

} // namespace

std::vector<Claim> theorem_3_1_recall() { return {recall_state_bits()}; }

} // namespace recollect::theory
