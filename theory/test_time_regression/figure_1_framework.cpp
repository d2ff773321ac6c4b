// SPDX-License-Identifier: Apache-2.0
// 003 Fig 1, and those sentences of §3-4 that only name layers or that cite rankings of layers from other papers.
#include "theory/support/measure.hpp"

namespace recollect::theory {

namespace {
Claim framework_unification() {
  ClaimBuilder c("framework-unification", "003 §3-4, Fig 1");
  c.says("Linear attention (also with feature maps or gates), state-space models, fast-weight layers, online-learning "
         "layers and softmax attention are all test-time regression layers. Three choices determine a layer: the "
         "weights of the pairs, the class of functions and the optimiser. Gating, query-key normalisation and "
         "forgetting improve models.");
  c.exactly("Each identity for which the paper gives an equation is a separate claim.");
  c.because("The paper names Mamba, HGRN, LRU, RWKV-6, Titans, Skyformer, SOFT, Performer, Hedgehog and others without "
            "giving their equations. Its statements about quality cite other papers.");
  return c.is_not_tested(Reason::not_numeric);
}
} // namespace

std::vector<Claim> figure_1_framework() { return {framework_unification()}; }
} // namespace recollect::theory
