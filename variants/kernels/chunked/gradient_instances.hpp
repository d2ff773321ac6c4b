// SPDX-License-Identifier: Apache-2.0
// The backward passes that are compiled. Each is a precision of products, a type of arrays and a rule: decayed sums,
// decayed sums with one decay per channel, or delta rules. Each has the extents of with_extent(), 32, 64, 96, 128, 192
// and 256, for the wider of keys and values (for keys, if channels decay). Each line is compiled separately
// (cmake/instances.cmake).
#pragma once
#include "variants/kernels/chunked/channel_chunk_gradient.hpp"
#include "variants/kernels/chunked/recurrence_gradients.hpp"
#ifdef __CUDACC__

#define RECOLLECT_GRADIENTS(extern_or_not, Op, Stored, erases)                                                         \
  extern_or_not template void recurrence_gradients<Op, erases>(const Gradients<Stored> &, Element<Op> *, cudaStream_t, \
                                                               Segments);
#define RECOLLECT_CHANNEL_GRADIENTS(extern_or_not, Op, Stored)                                                         \
  extern_or_not template void channel_gradients(ChannelAdjoint<Op, Stored>, Element<Op> *, float *, cudaStream_t,      \
                                                Segments);

namespace recollect::chunked {

RECOLLECT_CHANNEL_GRADIENTS(extern, fragments::Exact, float)
RECOLLECT_CHANNEL_GRADIENTS(extern, fragments::Tf32, float)
RECOLLECT_CHANNEL_GRADIENTS(extern, fragments::Bf16, float)
RECOLLECT_CHANNEL_GRADIENTS(extern, fragments::Bf16, __nv_bfloat16)
RECOLLECT_CHANNEL_GRADIENTS(extern, fragments::F16, __half)
RECOLLECT_GRADIENTS(extern, fragments::Exact, float, false)
RECOLLECT_GRADIENTS(extern, fragments::Tf32, float, false)
RECOLLECT_GRADIENTS(extern, fragments::Bf16, float, false)
RECOLLECT_GRADIENTS(extern, fragments::Exact, float, true)
RECOLLECT_GRADIENTS(extern, fragments::Tf32, float, true)
RECOLLECT_GRADIENTS(extern, fragments::Bf16, float, true)
RECOLLECT_GRADIENTS(extern, fragments::Bf16, __nv_bfloat16, false)
RECOLLECT_GRADIENTS(extern, fragments::F16, __half, false)
RECOLLECT_GRADIENTS(extern, fragments::Bf16, __nv_bfloat16, true)
RECOLLECT_GRADIENTS(extern, fragments::F16, __half, true)

} // namespace recollect::chunked
#endif
