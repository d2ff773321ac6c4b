// SPDX-License-Identifier: Apache-2.0
// The forward kernels that are compiled. Each is a precision of products, a type of arrays and a rule: decayed sums,
// decayed sums with one decay per channel, or delta rules. Each has the extents of with_extent(), 32, 64, 96, 128, 192
// and 256 keys, and blocks of 32 or 64 values (states) or 64 or 128 values (outputs). Each line is compiled separately
// (cmake/instances.cmake).
#pragma once
#include "variants/kernels/chunked/chunk_local.hpp"
#include "variants/kernels/chunked/chunk_output.hpp"
#include "variants/kernels/chunked/state_passing.hpp"
#include "variants/kernels/chunked/step.hpp"
#include "variants/kernels/chunked/sum_outputs.hpp"
#ifdef __CUDACC__

#define RECOLLECT_CHUNKED_STAGES(extern_or_not, Op, Stored, erases, by_channel)                                        \
  extern_or_not template void pass_states<Op, erases, by_channel>(                                                     \
      const Inputs<Stored> &, const Element<Op> *, const Element<Op> *, Element<Op> *, Element<Op> *, float *,         \
      cudaStream_t, Segments, const Channels<Op> &);                                                                   \
  extern_or_not template void output_chunks<Op, erases, by_channel>(                                                   \
      const Inputs<Stored> &, const Element<Op> *, const Element<Op> *, Stored *, cudaStream_t, const Channels<Op> &);
#define RECOLLECT_GATED_RECURRENCE_STAGES(extern_or_not, Op, Stored)                                                   \
  RECOLLECT_CHUNKED_STAGES(extern_or_not, Op, Stored, false, false)
#define RECOLLECT_SUM_OUTPUTS(extern_or_not, Op)                                                                       \
  extern_or_not template void sum_outputs<Op>(const Inputs<Element<Op>> &, Element<Op> *, float *, cudaStream_t,       \
                                              Segments);
#define RECOLLECT_CHANNEL_STAGES(extern_or_not, Op, Stored)                                                            \
  RECOLLECT_CHUNKED_STAGES(extern_or_not, Op, Stored, false, true)                                                     \
  extern_or_not template void channel_local<Op>(const Inputs<Stored> &, const Channels<Op> &, cudaStream_t);
#define RECOLLECT_DELTA_RULE_STAGES(extern_or_not, Op, Stored)                                                         \
  RECOLLECT_CHUNKED_STAGES(extern_or_not, Op, Stored, true, false)                                                     \
  extern_or_not template void chunk_local<Op>(const Inputs<Stored> &, Element<Op> *, Element<Op> *, Element<Op> *,     \
                                              cudaStream_t);

#define RECOLLECT_STEPS(extern_or_not, Stored)                                                                         \
  extern_or_not template void run_steps(const Inputs<Stored> &, StepRule, const float *, const float *, Stored *,      \
                                        float *, cudaStream_t);

namespace recollect::chunked {

RECOLLECT_STEPS(extern, float)
RECOLLECT_STEPS(extern, __nv_bfloat16)
RECOLLECT_STEPS(extern, __half)
RECOLLECT_GATED_RECURRENCE_STAGES(extern, fragments::Exact, float)
RECOLLECT_GATED_RECURRENCE_STAGES(extern, fragments::Tf32, float)
RECOLLECT_GATED_RECURRENCE_STAGES(extern, fragments::Bf16, float)
RECOLLECT_CHANNEL_STAGES(extern, fragments::Exact, float)
RECOLLECT_CHANNEL_STAGES(extern, fragments::Tf32, float)
RECOLLECT_CHANNEL_STAGES(extern, fragments::Bf16, float)
RECOLLECT_DELTA_RULE_STAGES(extern, fragments::Exact, float)
RECOLLECT_DELTA_RULE_STAGES(extern, fragments::Tf32, float)
RECOLLECT_DELTA_RULE_STAGES(extern, fragments::Bf16, float)
RECOLLECT_GATED_RECURRENCE_STAGES(extern, fragments::Bf16, __nv_bfloat16)
RECOLLECT_GATED_RECURRENCE_STAGES(extern, fragments::F16, __half)
RECOLLECT_SUM_OUTPUTS(extern, fragments::Bf16)
RECOLLECT_SUM_OUTPUTS(extern, fragments::F16)
RECOLLECT_CHANNEL_STAGES(extern, fragments::Bf16, __nv_bfloat16)
RECOLLECT_CHANNEL_STAGES(extern, fragments::F16, __half)
RECOLLECT_DELTA_RULE_STAGES(extern, fragments::Bf16, __nv_bfloat16)
RECOLLECT_DELTA_RULE_STAGES(extern, fragments::F16, __half)

} // namespace recollect::chunked
#endif
