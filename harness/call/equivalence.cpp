// SPDX-License-Identifier: Apache-2.0
#include "harness/call/equivalence.hpp"

namespace recollect {

Definition definition(const Variant &variant, const Sequence &sequence, const Params &params) {
  return {forward(variant, sequence, {"recurrent", Real::f64, 1, params}), input_condition(variant, sequence, params)};
}

Equivalence equivalence(const Variant &variant, const Sequence &sequence, const Run &run,
                        const Definition &definition) {
  return {deviation(forward(variant, sequence, run), definition.output).largest(),
          accumulated_terms(sequence.shape, run.chunk) * epsilon_of(run.real) * definition.condition};
}

} // namespace recollect
