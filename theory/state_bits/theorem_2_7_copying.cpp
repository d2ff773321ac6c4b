// SPDX-License-Identifier: Apache-2.0
// 2402.01032 Theorem 2.7 and Corollary 2.8: a state of b bits copies at most b / log2 |V| tokens. Measured on all texts
// of L signs.
#include "theory/state_bits/all_texts.hpp"
#include "theory/support/measure.hpp"

namespace recollect::theory {
namespace {
Claim copying_state_bound() {
  ClaimBuilder c("copying-state-bound", "2402.01032 Theorem 2.7, Corollary 2.8 (secondary source)");
  c.says("A model with a fixed set S of states copies texts of L tokens that are drawn uniformly from a vocabulary of "
         "D tokens. Its error, the share of texts with a mistake, is at least $1 - |S| / D^L$. If the state has fewer "
         "than $L log2(D) - 1$ bits, the error is more than 1/2.");
  c.exactly("Each state can be decoded to only one text. DeltaNet with d orthonormal keys and sign values has $2^d$ "
            "states and reaches the bound.");
  c.because("We did not have the paper; the theorem is stated as public notes quote it. The notes say that the error "
            "is > the bound; it must be >= because the bound is reached. All $2^L$ texts of $D = 2$ tokens are "
            "written, so the errors are exact.");
  c.runs({"delta_net", "linear"}), c.takes({integer_param("d", 6, 2, 8, "channels of the state, one bit each"),
                                            integer_param("more", 2, 2, 4, "tokens of a text beyond d, at most d")});
  return measure(c, [](Points &points, int d, int more) {
    const int L = d + more;
    if (more > d) usage_error("take more <= d");
    const Written delta = write_all("delta_net", L, d), wider = write_all("delta_net", L, d + 1),
                  one_more = write_all("delta_net", d + 1, d), fits = write_all("delta_net", d, d),
                  sums = write_all("linear", L, d);
    const double bound = 1 - power_of_two(d - L), misread = delta.misread(d);
    const auto best = [](const Written &w) { return 1 - double(w.different_states()) / double(w.texts()); };
    const double three_fourths = std::pow(0.75, more);
    points.statement("error of DeltaNet with a state of d bits: at least $1 - 2^d / 2^L$",
                     at_least_point(misread, bound, 0));
    points.statement("error of DeltaNet with a state of fewer than $L - 1$ bits: more than 1/2",
                     at_least_point(misread, 0.5, 0));
    points.rounding(1);
    points.obligation("error of DeltaNet with a state of d bits: $1 - 2^d / 2^L$, the bound", misread, bound)
        .but_not("$1 - d / L$, a share of tokens", 1 - double(d) / L)
        .but_not("$1 - 2^(d-1) / 2^L$", 1 - power_of_two(d - 1 - L));
    points.obligation("number of different states of DeltaNet: $2^d$", double(delta.different_states()),
                      power_of_two(d));
    points.obligation("a state of $L - 1$ bits: half of the texts are misread", one_more.misread(d), 0.5);
    points.obligation("a state of L bits: every text is copied, so 1 + error is 1", 1 + fits.misread(d), 1);
    points.rounding(4);
    points.obligation(
        "linear attention, best decoder: $1 - (3/4)^(L - d)$, as two tokens of one key add up to -2, 0 or 2",
        best(sums), 1 - three_fourths);
    points.wrong_system("a state of $d + 1$ bits: error at least $1 - 2^d / 2^L$",
                        at_least_point(wider.misread(d + 1), bound, 0));
    points.rounding(1);
    points.wrong_system("a state of fewer than L bits: every text is copied, so 1 + error is 1", 1 + delta.misread(d),
                        1);
  });
}
} // namespace

std::vector<Claim> theorem_2_7_copying() { return {copying_state_bound()}; }
} // namespace recollect::theory
