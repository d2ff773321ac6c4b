// SPDX-License-Identifier: Apache-2.0
#include "harness/device/backend.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <set>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(backend)

BOOST_AUTO_TEST_CASE(what_the_device_has_free_bounds_what_goes_there) {
  BOOST_TEST(over_device_memory(100, 100) == "");
  BOOST_TEST(over_device_memory(101, 100) == "needs 101 bytes on the device, which has 100 free");
  BOOST_TEST(over_device_memory(~std::uint64_t(0), std::nullopt) == ""); // host memory, which --memory limits
  const std::optional<std::uint64_t> free = device_memory_free();
  BOOST_TEST(bool(free) != counts_work()); // true where kernels run on the CPU
  BOOST_TEST(over_device_memory(~std::uint64_t(0)).empty() == !free);
}

BOOST_AUTO_TEST_CASE(names_what_it_runs_on) {
  std::set<std::string> names;
  for (const auto &[name, value] : backend_facts()) {
    BOOST_TEST(!value.empty(), name);
    BOOST_TEST(names.insert(name).second, name);
  }
  for (const char *name : {"execution_space", "device", "concurrency", "kokkos_version"}) BOOST_TEST(names.count(name));
}

/// OpenMP threads are bound to cores. The program starts itself again (let_idle_threads_sleep). In an earlier version
/// the new process kept only the core to which the main thread had been bound.
BOOST_AUTO_TEST_CASE(bound_threads_are_as_many_as_others) {
  if (!counts_work()) return; // concurrency is a GPU's
  const std::string line = " info | grep '^concurrency'", unset = "-u OMP_WAIT_POLICY -u OMP_NUM_THREADS ";
  const auto concurrency = [&](const std::string &settings) {
    return run_program(unset + settings + " '" RECOLLECT_PROGRAM "'" + line, "/usr/bin/env").out;
  };
  const std::string free = concurrency("OMP_PROC_BIND=false");
  BOOST_TEST(!free.empty());
  for (const char *bound : {"OMP_PROC_BIND=close OMP_PLACES=cores", "OMP_PROC_BIND=spread OMP_PLACES=threads"})
    BOOST_TEST(concurrency(bound) == free, bound);
}

BOOST_AUTO_TEST_CASE(peak_bytes_count_what_is_held_at_one_time) {
  BOOST_TEST(peak_bytes([] {}) == 0);
  const Variant &linear = find_variant("linear");
  const auto bytes = [&](int T) {
    const Sequence s = random_sequence({1, 1, T, 8, 8}, 1);
    return peak_bytes([&] { forward(linear, s, {"recurrent", Real::f64, 1, {}}); });
  };
  bytes(64); // scratch memory of the first use
  // q, k, v and o have at least 8 doubles per step each. The peak is that of one pass, not the sum over both passes.
  BOOST_TEST(bytes(4096) >= 4 * 4096 * 8 * 8);
  const Sequence s = random_sequence({1, 1, 4096, 8, 8}, 1);
  const auto pass = [&] { forward(linear, s, {"recurrent", Real::f64, 1, {}}); };
  BOOST_TEST(peak_bytes([&] { pass(), pass(); }) == peak_bytes(pass));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
