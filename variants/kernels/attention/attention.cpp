// SPDX-License-Identifier: Apache-2.0
#include "variants/kernels/attention/attention.hpp"

namespace recollect::variants {

Variant attention_variant() {
  Variant v;
  v.family = "nonparametric";
  v.cost = {2 * cost::t * (cost::Dk + cost::Dv), cost::t};
  v.layout = "";
  v.state_shape = [](const Shape &, const Params &) { return StateShape{}; };
  v.traits.order_invariant = true;
  return v;
}

} // namespace recollect::variants
