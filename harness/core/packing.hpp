// SPDX-License-Identifier: Apache-2.0
// Converts values to bytes and back, to pass them from one process of this program to another.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace recollect {

class Packer {
public:
  Packer() = default;
  /// A packer that passes the bytes to `send` instead of appending them to `bytes`.
  explicit Packer(std::function<void(std::string_view)> send) : send_(std::move(send)) {}

  std::string bytes;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> Packer &operator<<(T value) {
    return raw(&value, sizeof value);
  }
  Packer &operator<<(const std::string &text) {
    return *this << std::uint64_t(text.size()), raw(text.data(), text.size());
  }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Packer &operator<<(const std::vector<T> &values) {
    return *this << std::uint64_t(values.size()), raw(values.data(), values.size() * sizeof(T));
  }

private:
  Packer &raw(const void *data, size_t size) {
    const std::string_view some(static_cast<const char *>(data), size);
    if (send_)
      send_(some);
    else
      bytes += some;
    return *this;
  }
  std::function<void(std::string_view)> send_;
};

class Unpacker {
public:
  explicit Unpacker(const std::string &bytes)
      : receive_([&bytes, at = size_t(0)](void *data, size_t size) mutable {
          if (size > bytes.size() - at) throw std::logic_error("unpacking more than was packed");
          std::memcpy(data, bytes.data() + at, size);
          at += size;
        }) {}
  /// An unpacker that gets the bytes from `receive`, which must deliver what a Packer has sent.
  explicit Unpacker(std::function<void(void *, size_t)> receive) : receive_(std::move(receive)) {}

  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> Unpacker &operator>>(T &value) {
    return raw(&value, sizeof value);
  }
  Unpacker &operator>>(std::string &text) { return into(text); }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> Unpacker &operator>>(std::vector<T> &values) {
    return into(values);
  }
  template <class T> T next() {
    T value{};
    *this >> value;
    return value;
  }

private:
  Unpacker &raw(void *data, size_t size) { return receive_(data, size), *this; }
  /// Appends blocks that fit into the cache. resize() would first fill a large array with zeros.
  template <class Values> Unpacker &into(Values &values) {
    using Value = typename Values::value_type;
    Value block[(1 << 16) / sizeof(Value)];
    size_t left = size_t(next<std::uint64_t>());
    values.clear();
    values.reserve(left);
    while (left > 0) {
      const size_t n = std::min(left, std::size(block));
      raw(block, n * sizeof block[0]);
      values.insert(values.end(), block, block + n);
      left -= n;
    }
    return *this;
  }
  std::function<void(void *, size_t)> receive_;
};

} // namespace recollect
