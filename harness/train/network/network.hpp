// SPDX-License-Identifier: Apache-2.0
// A small language model in device memory: token embedding, blocks of x += mixer(norm x), x += MLP(norm x), an output
// head on norm x, and cross-entropy at the positions that are asked.
#pragma once
#include "harness/device/arena.hpp"
#include "harness/device/graph.hpp"
#include "harness/train/network/batch.hpp"

namespace recollect::train {

template <class Real> class Network {
public:
  Network(const Setup &setup, const Weights &weights);
  /// Starts a batch. If `gradient` has a size, it becomes the gradient of the loss in all parameters; `sums` [3] become
  /// what judged() reads (batch.hpp). Returns how many answers were asked. The host waits only if the mixer does.
  int start(const Array<Real> &parameters, const Texts &texts, const Array<double> &sums,
            const Array<Real> &gradient = {});
  /// Like start(), but waits and returns the results.
  Judged run(const Array<Real> &parameters, const Texts &texts, const Array<Real> &gradient = {});

private:
  const Setup &setup_;
  const Weights &weights_;
  Array<Real> start_;   // one head's initial state
  Array<double> right_; // answers of the batch started last
  Arena arena_;
  DeviceGraph graph_; // graph of a batch's forward and backward pass
  std::shared_ptr<Arena> scratch_ = std::make_shared<Arena>();
};

} // namespace recollect::train
