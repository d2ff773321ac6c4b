// SPDX-License-Identifier: Apache-2.0
// 2402.18668 Theorem 3.1: to recall N pairs, a recurrent model needs a state whose number of bits is proportional to N.
// Measured on every assignment of N signs to N keys.
#include "theory/state_bits/all_texts.hpp"
#include "theory/support/measure.hpp"

namespace recollect::theory {
namespace {
Claim recall_state_bits() {
  ClaimBuilder c("recall-state-bits", "2402.18668 Theorem 3.1 (secondary source)");
  c.says("Any recurrent model that depends causally on its input needs a state of $Omega(N)$ bits to solve multi-query "
         "associative recall of N pairs.");
  c.exactly("For values of one bit, the $2^N$ assignments of values to N keys need $2^N$ states, so at least N bits. "
            "With $N - 1$ bits at least half of the assignments are misread.");
  c.because("The theorem is stated as public notes quote it; its proof was not read. The constant comes from the "
            "counting argument.");
  c.runs({"delta_net", "linear"}), c.takes({integer_param("N", 8, 3, 10, "pairs, each of a separate key and a sign")});
  return measure(c, [](Points &points, int N) {
    const auto bits = [](const Written &w) { return std::log2(double(w.different_states())); };
    for (const char *variant : {"delta_net", "linear"}) {
      const Written all = write_all(variant, N, N);
      points.statement(std::string(variant) + ": bits of its states, at least N", at_least_point(bits(all), N, 1e-12));
      points.rounding(1);
      points.obligation(std::string(variant) + ": 1 + share of assignments misread is 1, because it recalls all",
                        1 + all.misread(N), 1);
      points
          .obligation(std::string(variant) + ": one channel lost, so half of the assignments are misread",
                      all.misread(N - 1), 0.5)
          .but_not("$1/N$, one pair of N lost", 1.0 / N);
    }
    const Written narrow = write_all("delta_net", N, N - 1);
    points.rounding(1);
    points.obligation("DeltaNet with one key channel fewer: share of assignments misread, 1/2", narrow.misread(N - 1),
                      0.5);
    points.wrong_system("DeltaNet with one key channel fewer: bits of its states, at least N",
                        at_least_point(bits(narrow), N, 1e-12));
    points.wrong_system("DeltaNet with one key channel fewer: 1 + share of assignments misread is 1",
                        1 + narrow.misread(N - 1), 1);
  });
}
} // namespace

std::vector<Claim> theorem_3_1_recall() { return {recall_state_bits()}; }
} // namespace recollect::theory
