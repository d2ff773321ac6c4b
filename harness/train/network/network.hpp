// SPDX-License-Identifier: Apache-2.0
// A small language model in device memory: token embedding, blocks of x += mixer(norm x) and x += MLP(norm x), an
// output head on norm x, and cross-entropy at the positions at which an answer is asked.
#pragma once
#include "harness/device/arena.hpp"
#include "harness/device/graph.hpp"
#include "harness/train/network/batch.hpp"

namespace recollect::train {

template <class Real> class Network {
public:
  Network(const Setup &setup, const Weights &weights);
  /// Starts the passes of a batch and returns the number of answers asked. The results appear later: `sums` [3], as
  /// SumUp computes them (batch.hpp), and, unless `gradient` is empty, the gradient of the loss with respect to all
  /// parameters. The host waits only if the mixer makes it wait.
  int start(const Array<Real> &parameters, const Texts &texts, const Array<double> &sums,
            const Array<Real> &gradient = {});
  /// Like start(), but waits and returns the results.
  Judged run(const Array<Real> &parameters, const Texts &texts, const Array<Real> &gradient = {});

private:
  const Setup &setup_;
  const Weights &weights_;
  Array<Real> start_;   // initial state of one head
  Array<double> right_; // for each answer of the batch started last: 1 if right, else 0
  Arena arena_;
  DeviceGraph graph_; // the kernels of a batch's forward and backward pass
  std::shared_ptr<Arena> scratch_ = std::make_shared<Arena>();
};

} // namespace recollect::train
