// SPDX-License-Identifier: Apache-2.0
#include "harness/system/memory.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <fstream>
#include <limits>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace recollect {
namespace {

std::uint64_t chosen = 0;

std::uint64_t machine_memory() {
  std::uint64_t bytes = std::uint64_t(sysconf(_SC_PHYS_PAGES)) * std::uint64_t(sysconf(_SC_PAGE_SIZE));
  for (const char *path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    std::uint64_t limit = 0;
    if (file >> limit && limit > 0) bytes = std::min(bytes, limit); // "max" means no limit
  }
  return bytes;
}

} // namespace

std::uint64_t memory_limit() {
  static const std::uint64_t machine = machine_memory();
  return chosen ? chosen : machine;
}
void set_memory_limit(std::uint64_t bytes) { chosen = bytes; }

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0), mallopt(M_TRIM_THRESHOLD, -1), mallopt(M_TOP_PAD, 64 << 20);
#endif
}

std::string over_memory(std::uint64_t bytes) {
  if (bytes <= memory_limit()) return "";
  return "needs " + std::to_string(bytes) + " bytes, --memory allows " + std::to_string(memory_limit());
}
void require_memory(std::uint64_t bytes) {
  const std::string why = over_memory(bytes);
  if (!why.empty()) throw OverMemory(exit_input, why);
}

std::uint64_t parse_bytes(const std::string &text, const std::string &what) {
  const size_t unit = text.find_last_not_of("KMGTkmgtiB") + 1;
  const std::string suffix = text.substr(unit);
  double factor = 1;
  if (!suffix.empty()) {
    const size_t power = std::string("KMGT").find(char(std::toupper(suffix[0])));
    if (power == std::string::npos || (suffix.size() > 1 && suffix.substr(1) != "iB" && suffix.substr(1) != "B"))
      usage_error(what + " needs bytes such as 512M, 24G or 1000000, got '" + text + "'");
    for (size_t i = 0; i <= power; ++i) factor *= 1024;
  }
  const double bytes = parse_number(text.substr(0, unit), what) * factor;
  if (!(bytes >= 1) || bytes >= 0x1p63) usage_error(what + " needs at least 1 byte, got '" + text + "'");
  return std::uint64_t(bytes);
}

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

} // namespace recollect
