// SPDX-License-Identifier: Apache-2.0
#include "harness/files/npy.hpp"
#include "harness/core/error.hpp"
#include "harness/core/float16.hpp"
#include "harness/core/text.hpp"
#include "harness/system/memory.hpp"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <regex>

namespace recollect {
namespace {

template <class Bits> Bits bits_at(const char *data, bool swapped) {
  Bits bits;
  std::memcpy(&bits, data, sizeof bits);
  if (swapped) std::reverse(reinterpret_cast<char *>(&bits), reinterpret_cast<char *>(&bits) + sizeof bits);
  return bits;
}
template <class Float, class Bits> double value_of(Bits bits) {
  Float value;
  std::memcpy(&value, &bits, sizeof value);
  return double(value);
}

struct Header {
  std::string descr;
  std::vector<std::uint64_t> dims;
  size_t end; // end of the header: offset of the data
};

Header parse_header(std::string_view bytes, const std::string &where) {
  if (bytes.size() < 12 || bytes.substr(0, 6) != "\x93NUMPY") input_error(where + " is not a .npy array");
  const bool longer = bytes[6] >= 2;
  const size_t begin = longer ? 12 : 10;
  const size_t length = longer ? bits_at<std::uint32_t>(&bytes[8], false) : bits_at<std::uint16_t>(&bytes[8], false);
  if (length > bytes.size() - begin || length > 65536) input_error(where + " has a damaged header");
  const std::string text(bytes.substr(begin, length));
  static const std::regex pattern(
      R"(^\s*\{\s*'descr'\s*:\s*'([^']*)'\s*,\s*'fortran_order'\s*:\s*(True|False)\s*,\s*'shape'\s*:\s*\(([0-9, ]*)\)\s*,?\s*\}\s*$)");
  std::smatch found;
  if (!std::regex_match(text, found, pattern)) input_error(where + " has a header that is not understood");
  if (found[2] == "True") input_error(where + " is in Fortran order, needs C order (numpy.ascontiguousarray)");
  Header header{found[1], {}, begin + length};
  for (const std::string &part : split(found[3], ',')) {
    const size_t first = part.find_first_not_of(' '), end = part.find_last_not_of(' ') + 1;
    if (first == std::string::npos) continue;
    std::uint64_t size = 0;
    const auto read = std::from_chars(part.data() + first, part.data() + end, size);
    if (read.ec != std::errc() || read.ptr != part.data() + end) input_error(where + " has a size of " + part);
    header.dims.push_back(size);
  }
  return header;
}

} // namespace

NumericArray parse_npy(std::string_view bytes, const std::string &where, bool whole) {
  const Header header = parse_header(bytes, where);
  const bool swapped = header.descr[0] == '>';
  const std::string kind = header.descr.find_first_of("<>|=") == 0 ? header.descr.substr(1) : header.descr;
  const bool integers = whole && (kind == "i4" || kind == "i8");
  const size_t width = integers                                             ? size_t(kind[1] - '0')
                       : kind == "f8"                                       ? 8
                       : kind == "f4"                                       ? 4
                       : kind == "f2" || kind == "V2" || kind == "bfloat16" ? 2
                                                                            : 0;
  if (!width) input_error(where + " is of type " + header.descr + ", needs floating point of 2, 4 or 8 bytes");
  std::uint64_t count = 1;
  for (std::uint64_t n : header.dims) count = saturating_product(count, n);
  if (saturating_product(count, width) > bytes.size() - header.end)
    input_error(where + " declares more than the file holds: it is truncated");
  if (saturating_product(count, sizeof(double)) > memory_limit()) input_error(where + " is more than --memory allows");
  NumericArray array{header.dims, std::vector<double>(count)};
  if (!integers) array.type = width == 8 ? "f64" : width == 4 ? "f32" : kind == "f2" ? "f16" : "bf16";
  const char *data = bytes.data() + header.end;
  for (std::uint64_t i = 0; i < count; ++i, data += width)
    array.data[i] = integers && width == 8 ? double(std::int64_t(bits_at<std::uint64_t>(data, swapped)))
                    : integers             ? double(std::int32_t(bits_at<std::uint32_t>(data, swapped)))
                    : width == 8           ? value_of<double>(bits_at<std::uint64_t>(data, swapped))
                    : width == 4           ? value_of<float>(bits_at<std::uint32_t>(data, swapped))
                    : kind == "f2"         ? double(Float16::from_bits(bits_at<std::uint16_t>(data, swapped)))
                                           : double(BFloat16::from_bits(bits_at<std::uint16_t>(data, swapped)));
  return array;
}

std::string npy_bytes(const NumericArray &array, Real real) {
  std::string shape;
  for (std::uint64_t n : array.dims) shape += std::to_string(n) + ", ";
  std::string header = std::string("{'descr': '<") + (real == Real::f64 ? "f8" : "f4") +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ').push_back('\n'); // data are aligned to 64 bytes
  const std::uint16_t length = std::uint16_t(header.size());
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes.append(reinterpret_cast<const char *>(&length), 2).append(header);
  if (real == Real::f64) return bytes.append(reinterpret_cast<const char *>(array.data.data()), array.data.size() * 8);
  const std::vector<float> narrow(array.data.begin(), array.data.end());
  return bytes.append(reinterpret_cast<const char *>(narrow.data()), narrow.size() * 4);
}

} // namespace recollect
