// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers (Philox4x32-10 of Random123). A number is a function of seed, stream and index only. It
// does not depend on the machine, the backend, the number of threads or the order of drawing.
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
  /// Streams of one seed with different names, such as "recall/keys" and "recall/values", are independent. Names are
  /// hashed to 64 bits (FNV-1a), so two names get the same stream with probability 2^-64.
  Stream(std::uint64_t seed, std::string_view name) : Stream(seed, hash(name)) {}
  /// Stream `number` of the many streams of a name.
  Stream(std::uint64_t seed, std::string_view name, std::uint64_t number);

  std::uint64_t bits(std::uint64_t index) const;                   // 64 uniform bits
  double uniform(std::uint64_t index) const;                       // in the open interval (0, 1), 53 bits
  double normal(std::uint64_t index) const;                        // N(0, 1); Box-Muller makes 2i and 2i + 1 together
  std::uint64_t below(std::uint64_t index, std::uint64_t n) const; // uniform in 0 ... n-1; bias < n / 2^64

  std::vector<double> normals(std::size_t count, std::uint64_t first = 0) const;
  std::vector<double> uniforms(std::size_t count, double low, double high, std::uint64_t first = 0) const;
  std::vector<int> permutation(int n) const; // Fisher-Yates shuffle with the stream's numbers 0 ... n-2

private:
  Stream(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}
  std::array<std::uint32_t, 4> block(std::uint64_t counter) const { return philox(counter, stream_, seed_); }
  static std::uint64_t hash(std::string_view name);
  std::uint64_t seed_, stream_;
};

} // namespace recollect
