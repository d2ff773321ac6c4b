// SPDX-License-Identifier: Apache-2.0
// The layer of a block, forward and backward on tensors that lie in device memory.
#pragma once
#include "harness/device/device.hpp"

namespace recollect::train {

/// The state that a head of this layer starts from; empty where that is zeros. Of the shape only the widths count.
template <class Real> Array<Real> start_of(const Variant &variant, const Params &params, const Shape &shape);

/// The layer's inputs of one batch, every optional one given, and its outputs.
template <class Real> class Mixing {
public:
  /// `start`: start_of() it.
  Mixing(const Variant &variant, const Params &params, const Shape &shape, const Array<Real> &start);
  Array<Real> &operator[](Tensor tensor) { return call_[tensor]; }

  /// o, from the layer's own initial state: in float64 by the definition, in float32 by the fast form. What the form
  /// needs besides comes from `scratch`, which starts anew.
  Array<Real> forward(Arena &arena, const std::shared_ptr<Arena> &scratch);
  /// The gradient of every input, from that of o: by the fast form's backward pass where it has one, else by gradient(), which
  /// has an input error where a number is not finite.
  void backward(Arena &arena, const Array<Real> &d_o, Mixing &gradient) const;

private:
  const Variant &variant_;
  Call<Real> call_;
  Array<Real> start_;
};

} // namespace recollect::train
