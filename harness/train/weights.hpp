// SPDX-License-Identifier: Apache-2.0
// All parameters of a model in one array, with names: optimised, saved and differentiated as a whole.
#pragma once
#include "harness/train/settings.hpp"
#include <cstdint>
#include <vector>

namespace recollect::train {

using Numbers = std::vector<double>;

class Weights {
public:
  explicit Weights(const Setup &setup);

  struct Part {
    size_t offset, size;
    double mean, spread; // at the start: normal about the mean
    bool decays;         // whether weight decay applies: to matrices, not to gains and biases
  };
  bool has(const std::string &name) const { return parts_.count(name) != 0; }
  const Part &part(const std::string &name) const { return parts_.at(name); }
  const std::map<std::string, Part> &parts() const { return parts_; }
  size_t size() const { return size_; }
  /// Initial values: matrices N(0, spread^2 / inputs), convolutions N(0, 1 / taps), gains 1, shifts and biases 0 except
  /// those of decays, sigmoid(3) = .95. Gates that are learned numbers start at 1 if they are decays, else as N(0, 1).
  Numbers start(std::uint64_t seed) const;

private:
  void add(const std::string &name, int rows, int columns, double mean, double spread, bool decays);
  std::map<std::string, Part> parts_;
  size_t size_ = 0;
};

/// "3.q" for q's projection in block 3.
std::string in_block(int block, const std::string &name);

} // namespace recollect::train
