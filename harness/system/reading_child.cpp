// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "harness/core/packing.hpp"
#include "harness/system/child.hpp"
#include "harness/system/confine.hpp"
#include "harness/system/memory.hpp"
#include <algorithm>
#include <fstream>
#include <new>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace recollect {
namespace {

/// Functions that pass one string in pieces: the child sends it with sending(), the parent receives it with taking().
std::function<void(const Send &)> sending(const std::function<std::string()> &work) {
  return [&work](const Send &send) { Packer(send) << work(); };
}
std::function<void(const Receive &)> taking(std::string &text) {
  return [&text](const Receive &receive) { Unpacker(receive) >> text; };
}

} // namespace

std::string in_child(const std::string &what, const std::function<std::string()> &work, unsigned seconds) {
  std::string text;
  in_child(what, sending(work), taking(text), seconds);
  return text;
}
std::string reading_in_child(const std::string &path, const std::function<std::string()> &work) {
  std::string text;
  reading_in_child(path, sending(work), taking(text));
  return text;
}

void reading_in_child(const std::string &path, const std::function<void(const Send &)> &work,
                      const std::function<void(const Receive &)> &take) {
  // One deflated byte expands to at most 1032 bytes, which the slowest machine reads in 10 us. Every 8 of these bytes
  // may become a table cell of 64 bytes. least_bytes is for the library's own memory.
  constexpr unsigned least_seconds = 10, bytes_per_second = 100'000;
  constexpr std::uint64_t bytes_a_byte = 8256, least_bytes = 256 << 20;
  struct stat s {};
  const auto bytes = stat(path.c_str(), &s) == 0 ? std::uint64_t(s.st_size) : 0;
  in_child(
      "reading " + path,
      [&](const Send &send) {
        std::uint64_t pages = 0; // pages of this process's address space
        std::ifstream("/proc/self/statm") >> pages;
        const std::uint64_t held = pages * std::uint64_t(sysconf(_SC_PAGESIZE));
        const std::uint64_t most = std::min(memory_limit(), least_bytes + saturating_product(bytes, bytes_a_byte));
        limit_resource(RLIMIT_AS, held + std::min<std::uint64_t>(most, RLIM_INFINITY - 1 - held));
        try {
          work(send);
        } catch (const std::bad_alloc &) {
          input_error("reading " + path + " needs more than --memory allows");
        }
      },
      take, unsigned(std::min<std::uint64_t>(least_seconds + bytes / bytes_per_second, 1u << 30)));
}

} // namespace recollect
