// SPDX-License-Identifier: Apache-2.0
// Forward and backward passes on 16-bit arrays (Form::native), by the kernels with static extents (problem.hpp), on
// CUDA. Chunks have 64 steps, whatever the call asks for.
#pragma once
#include "harness/device/device.hpp"
#ifdef KOKKOS_ENABLE_CUDA
#include "variants/kernels/chunked/decay_tables.hpp"

namespace recollect::variants {

/// Gates of a decayed sum or, if `erases`, of a delta rule over the call's q, k and v: float32, [B,H,T]. Lambda and the
/// bonus, [B,H,T,Dk], cannot be combined with erasures and strengths. An empty array of a gate means 1; an empty bonus
/// means that there is none.
struct StoredRule {
  bool erases = false;
  Array<float> alpha = {}, erase = {}, write = {}, lambda = {}, bonus = {};
  float scale = 1;
};
/// Where to write the gates' gradients. The gradient of an empty array is not computed. Gradients of q, k, v and the
/// state go to the BackwardCall.
struct StoredGradient {
  Array<float> alpha = {}, erase = {}, write = {}, lambda = {}, bonus = {};
};

#ifdef __CUDACC__
/// CUDA's type of 16-bit numbers, and the precision of their products.
template <class Stored> struct CudaNumber {
  using type = __nv_bfloat16;
  using Op = fragments::Bf16;
};
template <> struct CudaNumber<Float16> {
  using type = __half;
  using Op = fragments::F16;
};

/// Whether the GPU has matrix instructions, and `shared` bytes of shared memory for a block.
inline bool has_memory(size_t shared) {
  const cudaDeviceProp &device = Execution().cuda_device_prop();
  return device.major >= 8 && device.sharedMemPerBlockOptin >= shared;
}
/// Whether the call has the chunks and the schedule of the kernels with static extents. Packed texts and grouped heads
/// run in these chunks, whatever the call asks for.
inline bool in_static_chunks(const Call<float> &call) {
  return call.packed() ||
         (call.schedule != Schedule::streaming && call.chunk == std::min(chunked::chunk, call.shape.T));
}
#endif

/// Whether the forward pass supports this shape: keys up to 256 wide, and a GPU with enough shared memory.
bool takes_16_bits(const Shape &shape, const Params &);
template <class Stored>
void run_16_bits(const std::string &label, const Call<float, Stored> &call, const StoredRule &rule);

/// Whether the backward pass supports this shape: keys and values up to 256 wide, and a GPU with enough shared memory.
bool takes_16_bits_back(const Shape &shape, const Params &);
template <class Stored>
void run_16_bits(const std::string &label, const BackwardCall<float, Stored> &back, const StoredRule &rule,
                 const StoredGradient &d);

} // namespace recollect::variants
#endif
