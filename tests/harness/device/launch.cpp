// SPDX-License-Identifier: Apache-2.0
// Kokkos's tools see every kernel of a pass under its name, including kernels that Kokkos does not launch.
#include "harness/call/forward.hpp"
#include "tests/testing.hpp"
#include <Kokkos_Core.hpp>
#include <set>

namespace recollect {
namespace {

std::multiset<std::string> begun; // Kokkos's callbacks have no user data
std::set<std::uint64_t> open;
bool nested_or_unknown = false;

/// While it lives, notes kernels that begin and end.
struct Watching {
  Watching() {
    begun.clear(), open.clear(), nested_or_unknown = false;
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
        [](const char *label, std::uint32_t, std::uint64_t *kernel) {
          begun.insert(label);
          nested_or_unknown = nested_or_unknown || !open.empty();
          open.insert(*kernel = 1000 + begun.size());
        });
    Kokkos::Tools::Experimental::set_end_parallel_for_callback(
        [](std::uint64_t kernel) { nested_or_unknown = nested_or_unknown || open.erase(kernel) != 1; });
  }
  ~Watching() {
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
    Kokkos::Tools::Experimental::set_end_parallel_for_callback(nullptr);
  }
  Watching(const Watching &) = delete;
  Watching &operator=(const Watching &) = delete;
};

void run_delta_net(Schedule schedule, int H) {
  Run run{"chunked", Real::f64, 8, variant_params(find_variant("delta_net"))};
  run.schedule = schedule;
  const Job job = prepare(find_variant("delta_net"), random_sequence({1, H, 40, 8, 4}, 1), run);
  const Watching watching;
  job.launch();
}

} // namespace

BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(launches)

BOOST_AUTO_TEST_CASE(tools_see_every_phase_by_name) {
  for (int H : {1, 3}) { // with one unit per phase, and with several
    run_delta_net(Schedule::three_phase, H);
    for (const char *phase : {"load", "chunk_local", "state_passing", "chunk_output", "store"})
      BOOST_TEST(begun.count(std::string("delta_net::chunked::") + phase) == 1u, phase << " of " << H << " heads");
    BOOST_TEST((open.empty() && !nested_or_unknown));
  }
}

BOOST_AUTO_TEST_CASE(tools_see_a_stream_as_one_kernel) {
  for (int H : {1, 3}) {
    run_delta_net(Schedule::streaming, H);
    BOOST_TEST(begun.count("delta_net::chunked") == 1u, H << " heads");
    BOOST_TEST((open.empty() && !nested_or_unknown));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
