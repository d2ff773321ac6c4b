// SPDX-License-Identifier: Apache-2.0
// The layer of a block, forward and backward, on tensors in device memory.
#pragma once
#include "harness/device/device.hpp"

namespace recollect::train {

/// The initial state of a head of this layer; empty if it is zero. Depends on the widths of the shape only.
template <class Real> Array<Real> start_of(const Variant &variant, const Params &params, const Shape &shape);

/// The layer's inputs for one batch, all optional ones filled in, and its outputs.
template <class Real> class Mixing {
public:
  /// `start` is start_of() this layer.
  Mixing(const Variant &variant, const Params &params, const Shape &shape, const Array<Real> &start);
  Array<Real> &operator[](Tensor tensor) { return call_[tensor]; }

  /// o, from the layer's own initial state: in float64 by the definition, in float32 by the fast form. Temporary memory
  /// comes from `scratch`, which is reset first.
  Array<Real> forward(Arena &arena, const std::shared_ptr<Arena> &scratch);
  /// The gradients of all inputs, given that of o, by the fast form's backward pass if it has one, else by gradient().
  /// gradient() throws an input error if a number is not finite.
  void backward(Arena &arena, const Array<Real> &d_o, Mixing &gradient) const;

private:
  const Variant &variant_;
  Call<Real> call_;
  Array<Real> start_;
};

} // namespace recollect::train
