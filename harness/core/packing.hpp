// SPDX-License-Identifier: Apache-2.0
// Serialises values to bytes and back, between two processes of one program.
#pragma once
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace recollect {

class Packer {
public:
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
    bytes.append(static_cast<const char *>(data), size);
    return *this;
  }
};

class Unpacker {
public:
  explicit Unpacker(const std::string &bytes) : bytes_(bytes) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> Unpacker &operator>>(T &value) {
    return raw(&value, sizeof value);
  }
  Unpacker &operator>>(std::string &text) { return text.resize(size()), raw(text.data(), text.size()); }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> Unpacker &operator>>(std::vector<T> &values) {
    return values.resize(size()), raw(values.data(), values.size() * sizeof(T));
  }
  template <class T> T next() {
    T value{};
    *this >> value;
    return value;
  }

private:
  size_t size() { return size_t(next<std::uint64_t>()); }
  Unpacker &raw(void *data, size_t size) {
    if (size > bytes_.size() - at_) throw std::logic_error("unpacking more than was packed");
    std::memcpy(data, bytes_.data() + at_, size);
    at_ += size;
    return *this;
  }
  const std::string &bytes_;
  size_t at_ = 0;
};

} // namespace recollect
