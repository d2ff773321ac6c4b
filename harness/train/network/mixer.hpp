// SPDX-License-Identifier: Apache-2.0
// The forward and backward pass of a block's mixer, which is any of the layers, on tensors in device memory.
#pragma once
#include "harness/device/device.hpp"

namespace recollect::train {

/// The initial state of one head of the layer; empty if it is zero. Of the shape, only the widths matter.
template <class Real> Array<Real> start_of(const Variant &variant, const Params &params, const Shape &shape);

/// The layer's inputs, including all optional ones, and its outputs, for one batch.
template <class Real> class Mixing {
public:
  /// `start` is the result of start_of().
  Mixing(const Variant &variant, const Params &params, const Shape &shape, const Array<Real> &start);
  Array<Real> &operator[](Tensor tensor) { return call_[tensor]; }

  /// Computes o, starting from the layer's own initial state: in float64 by the recurrent form, in float32 by the fast
  /// form. Temporary memory comes from `scratch`, which is reset first.
  Array<Real> forward(Arena &arena, const std::shared_ptr<Arena> &scratch);
  /// Writes the gradients with respect to all inputs to `gradient`, given the gradient d_o with respect to o. Uses the
  /// layer's backward pass on the device or, if it has none, recollect::gradient() on the host. The latter throws an
  /// input error if a number is not finite.
  void backward(Arena &arena, const Array<Real> &d_o, Mixing &gradient) const;

private:
  const Variant &variant_;
  Call<Real> call_;
  Array<Real> start_;
};

} // namespace recollect::train
