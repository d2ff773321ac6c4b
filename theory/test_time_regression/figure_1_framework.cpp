// SPDX-License-Identifier: Apache-2.0
// 003 Fig 1, and the sentences of §3-4 that name layers without an equation or rank them by other papers.
#include "theory/support/measure.hpp"

namespace recollect::theory {

namespace {
Claim framework_unification() {
  ClaimBuilder c("framework-unification", "003 §3-4, Fig 1");
  c.says("Linear attention and its feature-mapped and gated variants, state-space, fast-weight and online-learning "
         "layers and softmax attention are all test-time regression layers, set by weights, function class and "
         "optimiser; gating, query-key normalisation and forgetting improve models.");
  c.exactly("Each identity that is given by an equation is a separate row.");
  c.because("Named without an equation: Mamba, HGRN, LRU, RWKV-6, Titans, Skyformer, SOFT, Performer, Hedgehog and "
            "others; the statements about quality cite other papers.");
  return c.is_not_tested(Reason::not_numeric);
}
} // namespace

std::vector<Claim> figure_1_framework() { return {framework_unification()}; }
} // namespace recollect::theory
