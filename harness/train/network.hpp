// SPDX-License-Identifier: Apache-2.0
// Small language models in device memory: token embedding, blocks of x += mixer(norm x), x += MLP(norm x), a head that
// reads the answers off norm x, and cross-entropy at the positions that are asked. Models that differ in their
// parameters alone go side by side, each as if it were alone.
#pragma once
#include "harness/device/arena.hpp"
#include "harness/train/model.hpp"

namespace recollect::train {

template <class Real> class Network {
public:
  Network(const Setup &setup, const Weights &weights) : setup_(setup), weights_(weights) {}
  /// Of as many models as there are texts, all of one shape: parameters [models,parameters], and where `gradient` has a
  /// size it becomes that of each loss in them.
  std::vector<Judged> run(const Array<Real> &parameters, const std::vector<Texts> &texts,
                          const Array<Real> &gradient = {});
  Judged run(const Array<Real> &parameters, const Texts &texts, const Array<Real> &gradient = {}) {
    return run(parameters, std::vector<Texts>{texts}, gradient)[0];
  }

private:
  void forget() { arena_ = Arena(), scratch_ = std::make_shared<Arena>(); } // what did not fit is not asked for again

  const Setup &setup_;
  const Weights &weights_;
  Arena arena_;
  std::shared_ptr<Arena> scratch_ = std::make_shared<Arena>();
};

} // namespace recollect::train
