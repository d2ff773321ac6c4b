// SPDX-License-Identifier: Apache-2.0
// 003 Fig 1 and the sentences of §3-4 that name layers without an equation or rank them by other papers' results.
#include "theory/support/claims.hpp"

namespace recollect::theory {

std::vector<Claim> figure_1_framework() {
  return {explained(
      untested_row(
          "framework-unification", Reason::not_numeric, "003 §3-4, Fig 1",
          "Linear attention and its feature-mapped and gated variants, state-space, fast-weight and online-learning "
          "layers and softmax attention are all test-time regression layers, set by weights, function class and "
          "optimiser; gating, query-key normalisation and forgetting improve models.",
          "Each identity that is given by an equation is a row of its own."),
      "Named without an equation: Mamba, HGRN, LRU, RWKV-6, Titans, Skyformer, SOFT, Performer, Hedgehog and others; "
      "the "
      "statements about quality cite other papers.")};
}

} // namespace recollect::theory
