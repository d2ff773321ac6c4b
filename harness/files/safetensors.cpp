// SPDX-License-Identifier: Apache-2.0
#include "harness/files/safetensors.hpp"
#include "harness/core/error.hpp"
#include "harness/core/float16.hpp"
#include "harness/core/text.hpp"
#include "harness/files/npy.hpp"
#include "harness/system/memory.hpp"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

namespace recollect {
namespace {

using nlohmann::json;

constexpr std::uint64_t prefix = 8; // bytes of the header's length
constexpr const char *meta_name = "__metadata__";

std::uint64_t width_of(const std::string &type) {
  static const std::map<std::string, std::uint64_t> widths{
      {"BOOL", 1}, {"U8", 1},   {"I8", 1},  {"F8_E4M3", 1}, {"I16", 2}, {"F8_E5M2", 1}, {"F8_E8M0", 1}, {"U16", 2},
      {"F16", 2},  {"BF16", 2}, {"I32", 4}, {"U32", 4},     {"F32", 4}, {"I64", 8},     {"U64", 8},     {"F64", 8}};
  const auto found = widths.find(type);
  return found == widths.end() ? 0 : found->second;
}

template <class Value> Value value_at(const char *data) {
  Value value;
  std::memcpy(&value, data, sizeof value); // the format and every machine we run on are little-endian
  return value;
}

/// A function that reads one number of the type; empty for unsupported types.
std::function<double(const char *)> reader_of(const std::string &type) {
  if (type == "F64") return [](const char *p) { return value_at<double>(p); };
  if (type == "F32") return [](const char *p) { return double(value_at<float>(p)); };
  if (type == "F16") return [](const char *p) { return double(Float16::from_bits(value_at<std::uint16_t>(p))); };
  if (type == "BF16" || type == "U16")
    return [](const char *p) { return double(BFloat16::from_bits(value_at<std::uint16_t>(p))); };
  if (type == "I32") return [](const char *p) { return double(value_at<std::int32_t>(p)); };
  if (type == "I64") return [](const char *p) { return double(value_at<std::int64_t>(p)); };
  return {};
}

bool all_unsigned(const json &list) {
  return list.is_array() && std::all_of(list.begin(), list.end(), [](const json &n) { return n.is_number_unsigned(); });
}

} // namespace

Safetensors::Safetensors(std::string bytes, std::string where) : bytes_(std::move(bytes)), where_(std::move(where)) {
  if (bytes_.size() < prefix) input_error(where_ + " is not a safetensors file: it has no header");
  const auto length = value_at<std::uint64_t>(bytes_.data());
  if (length > bytes_.size() - prefix)
    input_error(where_ + " is not a safetensors file, or truncated: its header ends past its end");
  const char *text = bytes_.data() + prefix;
  const json header = json::parse(text, text + length, nullptr, false);
  if (!header.is_object()) input_error(where_ + " is not a safetensors file: its header is not a JSON object");
  for (const auto &[name, entry] : header.items()) {
    if (name == meta_name) {
      for (const auto &[key, value] : entry.items())
        if (value.is_string()) meta_.emplace_back(key, value.get<std::string>());
      continue;
    }
    const bool whole = entry.is_object() && entry.contains("dtype") && entry["dtype"].is_string() &&
                       entry.contains("shape") && all_unsigned(entry["shape"]) && entry.contains("data_offsets") &&
                       all_unsigned(entry["data_offsets"]) && entry["data_offsets"].size() == 2;
    if (!whole) input_error(where_ + ": tensor " + printable(name) + " lacks a dtype, a shape or two data_offsets");
    const std::uint64_t data = prefix + length, room = ~std::uint64_t(0) - data;
    const auto begin = entry["data_offsets"][0].get<std::uint64_t>(),
               end = entry["data_offsets"][1].get<std::uint64_t>();
    add(name, {entry["dtype"].get<std::string>(), entry["shape"].get<std::vector<std::uint64_t>>(),
               data + std::min(begin, room), data + std::min(end, room)});
  }
  check_ranges();
}

void Safetensors::add(const std::string &name, Entry entry) {
  const std::string tensor = where_ + ": tensor " + printable(name);
  const std::uint64_t width = width_of(entry.type);
  if (!width) input_error(tensor + " is of the unknown type " + printable(entry.type));
  if (entry.end > bytes_.size() || entry.begin > entry.end)
    input_error(tensor + " ends past the end of the file: it is truncated");
  std::uint64_t count = width;
  for (std::uint64_t n : entry.dims) count = saturating_product(count, n);
  if (count != entry.end - entry.begin)
    input_error(tensor + " has " + std::to_string(entry.end - entry.begin) + " bytes, its shape and type need " +
                std::to_string(count));
  entries_.emplace(name, std::move(entry));
}

void Safetensors::check_ranges() const {
  std::vector<const Entry *> entries;
  for (const auto &[name, entry] : entries_) entries.push_back(&entry);
  const auto range = [](const Entry *e) { return std::pair(e->begin, e->end); };
  std::sort(entries.begin(), entries.end(), [&](auto *a, auto *b) { return range(a) < range(b); });
  std::uint64_t at = prefix + value_at<std::uint64_t>(bytes_.data());
  for (const Entry *entry : entries) {
    if (entry->begin < at) input_error(where_ + ": the data of two tensors overlap");
    if (entry->begin > at) input_error(where_ + ": bytes between two tensors belong to none");
    at = entry->end;
  }
  if (at != bytes_.size()) input_error(where_ + ": the last bytes belong to no tensor");
}

std::vector<std::string> Safetensors::names() const {
  std::vector<std::string> all;
  for (const auto &[name, entry] : entries_) all.push_back(name);
  return all;
}

NumericArray Safetensors::array(const std::string &name) const {
  const Entry &entry = entries_.at(name);
  const std::string tensor = where_ + ": tensor " + printable(name);
  const auto number_at = reader_of(entry.type);
  if (!number_at)
    input_error(tensor + " is of type " + entry.type + ", needs F16, BF16 (or its bits as U16), F32, F64, I32 or I64");
  const std::uint64_t width = width_of(entry.type), count = (entry.end - entry.begin) / width;
  if (saturating_product(count, sizeof(double)) > memory_limit()) input_error(tensor + " is more than --memory allows");
  NumericArray array{entry.dims, std::vector<double>(count)};
  const bool integers = entry.type[0] == 'I';
  if (!integers) array.type = width == 8 ? "f64" : width == 4 ? "f32" : entry.type == "F16" ? "f16" : "bf16";
  for (std::uint64_t i = 0; i < count; ++i) array.data[i] = number_at(bytes_.data() + entry.begin + i * width);
  constexpr double largest_integer = 9007199254740992; // 2^53: every integer up to it is a double
  if (entry.type == "I64" &&
      std::any_of(array.data.begin(), array.data.end(), [](double x) { return std::fabs(x) > largest_integer; }))
    input_error(tensor + " has integers beyond 2^53");
  return array;
}

namespace {

const char *type_name(Real real) {
  const char *const names[] = {"F32", "F64", "BF16", "F16"};
  return names[int(real)];
}

template <class Number> void append(std::string &bytes, const std::vector<double> &data) {
  std::vector<Number> cast;
  cast.reserve(data.size());
  for (double x : data) cast.push_back(static_cast<Number>(x));
  bytes.append(reinterpret_cast<const char *>(cast.data()), cast.size() * sizeof(Number));
}
void append(std::string &bytes, const std::vector<double> &data, Real type) {
  switch (type) {
  case Real::f32:
    return append<float>(bytes, data);
  case Real::f64:
    return append<double>(bytes, data);
  case Real::bf16:
    return append<BFloat16>(bytes, data);
  case Real::f16:
    return append<Float16>(bytes, data);
  }
}

} // namespace

std::string safetensors_bytes(const std::map<std::string, NumericArray> &arrays, Real real, const Facts &meta) {
  const auto type_of = [real](const NumericArray &array) {
    const Real *const own = real_named(array.type);
    return own ? *own : real;
  };
  json header = json::object();
  for (const auto &[name, value] : meta) header[meta_name][name] = value;
  std::uint64_t at = 0;
  for (const auto &[name, array] : arrays) {
    const std::uint64_t end = at + array.data.size() * bytes_of(type_of(array));
    header[name] = {{"dtype", type_name(type_of(array))}, {"shape", array.dims}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump(-1, ' ', true, json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' '); // data are aligned to 8 bytes
  const std::uint64_t length = text.size();
  std::string bytes(reinterpret_cast<const char *>(&length), prefix);
  bytes.append(text);
  for (const auto &[name, array] : arrays) append(bytes, array.data, type_of(array));
  return bytes;
}

} // namespace recollect
