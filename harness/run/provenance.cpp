// SPDX-License-Identifier: Apache-2.0
#include "harness/run/provenance.hpp"
#include "build_config.hpp"
#include "git_state.hpp"
#include "harness/core/text.hpp"
#include "harness/device/backend.hpp"
#include "harness/system/ranks.hpp"
#include <ctime>
#include <unistd.h>

namespace recollect {
namespace {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

std::string relevant_environment() {
  std::vector<std::string> kept;
  for (char **entry = environ; *entry; ++entry) {
    const std::string variable = *entry;
    for (const char *prefix : {"OMP_", "KOKKOS_", "OPENBLAS_", "CUDA_", "HIP_", "ROCR_"})
      if (variable.rfind(prefix, 0) == 0) kept.push_back(variable);
  }
  return join(kept, " ");
}

} // namespace

Facts provenance(const std::vector<std::string> &command_line, std::uint64_t seed) {
  Facts facts{{"version", RECOLLECT_VERSION},
              {"git_commit", RECOLLECT_GIT_COMMIT},
              {"git_dirty", RECOLLECT_GIT_DIRTY ? "true" : "false"},
              {"command_line", join(command_line, " ")},
              {"start_utc", utc_now()},
              {"compiler", RECOLLECT_COMPILER},
              {"build_type", RECOLLECT_BUILD_TYPE},
              {"blas", RECOLLECT_BLAS},
              {"mpi", ranks::library()},
              {"ranks", std::to_string(ranks::size())},
              {"hdf5_version", RECOLLECT_HDF5_VERSION},
              {"seed", std::to_string(seed)},
              {"environment", relevant_environment()},
              {"bit_identical_to",
               "runs of this seed with the same program, execution space and device, at any concurrency and number of "
               "ranks; on a GPU in the same schedule"}};
  for (const auto &fact : backend_facts()) facts.push_back(fact);
  return facts;
}

} // namespace recollect
