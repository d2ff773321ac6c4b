// SPDX-License-Identifier: Apache-2.0
#include "harness/pipeline/equivalence.hpp"

namespace recollect {

Equivalence equivalence(const Variant &variant, const Sequence &sequence, const Run &run) {
  const Output reference = forward(variant, sequence, {"recurrent", Real::f64, 1, run.params});
  return {deviation(forward(variant, sequence, run), reference).largest(),
          accumulated_terms(sequence.shape, run.chunk) * epsilon_of(run.real) *
              input_condition(variant, sequence, run.params)};
}

} // namespace recollect
