// SPDX-License-Identifier: Apache-2.0
// All parameters of a model are in one array, which is optimised, saved and differentiated as a whole. This class knows
// the named parts of the array: where they are and what their initial values are.
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
    double mean, spread; // initial values are normal with this mean and standard deviation
    bool decays;         // whether weight decay applies; it does not apply to gains, shifts and biases
  };
  bool has(const std::string &name) const { return parts_.count(name) != 0; }
  const Part &part(const std::string &name) const { return parts_.at(name); }
  const std::map<std::string, Part> &parts() const { return parts_; }
  size_t size() const { return size_; }
  /// Initial values. Matrices: N(0, spread^2 / inputs). Convolutions: N(0, 1 / taps). Gains: 1. Shifts and biases: 0,
  /// except that the bias of a decay is 3 (sigmoid(3) = .95). With gates=numbers, decays are 1 and other gates are
  /// N(0, 1).
  Numbers start(std::uint64_t seed) const;

private:
  void add(const std::string &name, int rows, int columns, double mean, double spread, bool decays);
  std::map<std::string, Part> parts_;
  size_t size_ = 0;
};

/// The name of a part of a block, such as "3.q" for the projection to q in block 3.
std::string in_block(int block, const std::string &name);

} // namespace recollect::train
