// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers (Philox4x32-10 of Random123). A number is a function of seed, stream and index only, and
// so does not depend on machine, backend, number of threads or order of drawing.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace recollect {

/// The four 32-bit words of Philox4x32-10 for the 128-bit counter {counter, stream} (low word first) and `key`.
std::array<std::uint32_t, 4> philox(std::uint64_t counter, std::uint64_t stream, std::uint64_t key);

class Stream {
public:
  /// Uses of one seed are independent if they have different names: "recall/keys", "recall/values", ... Two names get
  /// the same stream with probability 2^-64, because names are hashed (FNV-1a).
  Stream(std::uint64_t seed, std::string_view name) : Stream(seed, hash(name)) {}
  /// Stream `number` of a name that has many streams.
  Stream(std::uint64_t seed, std::string_view name, std::uint64_t number);

  std::uint64_t bits(std::uint64_t index) const;                   // 64 uniform bits
  double uniform(std::uint64_t index) const;                       // in the open interval (0, 1), 53 bits
  double normal(std::uint64_t index) const;                        // standard normal, Box-Muller over the pair index/2
  std::uint64_t below(std::uint64_t index, std::uint64_t n) const; // uniform in 0 ... n-1; bias < n / 2^64

  std::vector<double> normals(std::size_t count, std::uint64_t first = 0) const;
  std::vector<double> uniforms(std::size_t count, double low, double high, std::uint64_t first = 0) const;
  std::vector<int> permutation(int n) const; // Fisher-Yates over indices 0 ... n-2

private:
  Stream(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}
  std::array<std::uint32_t, 4> block(std::uint64_t counter) const { return philox(counter, stream_, seed_); }
  static std::uint64_t hash(std::string_view name);
  std::uint64_t seed_, stream_;
};

} // namespace recollect
