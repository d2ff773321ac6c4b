// SPDX-License-Identifier: Apache-2.0
#include "harness/device/backend.hpp"
#include "harness/device/device.hpp"
#include "harness/system/processors.hpp"
#include <KokkosKernels_config.h>
#include <cstdlib>
#include <unistd.h>

namespace recollect {
namespace {
std::string kokkos_version(int v) {
  return std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." + std::to_string(v % 100);
}

std::int64_t held = 0, most = 0; // bytes, for peak_bytes; global because Kokkos's callbacks have no user data

/// While an object of this type exists, the bytes of all arrays are counted.
struct Counting {
  Counting() {
    held = most = 0;
    caching::paused = true;
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](Kokkos_Profiling_SpaceHandle, const char *, const void *, std::uint64_t size) {
          held += std::int64_t(size);
          if (held > most) most = held;
        });
    Kokkos::Tools::Experimental::set_deallocate_data_callback([](Kokkos_Profiling_SpaceHandle, const char *,
                                                                 const void *,
                                                                 std::uint64_t size) { held -= std::int64_t(size); });
  }
  ~Counting() {
    caching::paused = false;
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
    Kokkos::Tools::Experimental::set_deallocate_data_callback(nullptr);
  }
  Counting(const Counting &) = delete;
  Counting &operator=(const Counting &) = delete;
};

std::string device_name() {
#ifdef KOKKOS_ENABLE_CUDA
  return Kokkos::Cuda().cuda_device_prop().name;
#else
  return on_host ? "host" : Execution::name();
#endif
}

std::string kernels_version() {
#ifdef KOKKOSKERNELS_VERSION
  return kokkos_version(KOKKOSKERNELS_VERSION);
#else
  return kokkos_version(KOKKOS_VERSION); // before 3.7 Kokkos Kernels had no version macro and was released with Kokkos
#endif
}
} // namespace

void let_idle_threads_sleep(char **argv) {
  if (std::getenv("OMP_WAIT_POLICY")) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  run_on_any_processor(); // OMP_PROC_BIND bound this thread to a processor, which the new program would inherit
  execv("/proc/self/exe", argv);
}

Backend::Backend() : first_(!Kokkos::is_initialized()) {
  if (!first_) return;
#if KOKKOS_VERSION < 30700 // Kokkos would print advice on thread binding between our error lines
  Kokkos::InitArguments settings;
  settings.disable_warnings = true;
  Kokkos::initialize(settings);
#else
  Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true));
#endif
}
Backend::~Backend() {
  if (first_) Kokkos::finalize();
}

std::vector<std::pair<std::string, std::string>> backend_facts() {
  return {{"kokkos_version", kokkos_version(KOKKOS_VERSION)},
          {"kokkos_kernels_version", kernels_version()},
          {"execution_space", Execution::name()},
          {"device", device_name()},
          {"concurrency", std::to_string(Execution().concurrency())}};
}

bool has_math(Math math) {
  if (math == Math::exact) return true;
#ifdef KOKKOS_ENABLE_CUDA
  if (on_cuda) return Kokkos::Cuda().cuda_device_prop().major >= 8;
#endif
  return false;
}

std::optional<std::uint64_t> device_memory_free() {
#if defined(KOKKOS_ENABLE_CUDA)
  size_t free = 0, all = 0;
  if (!on_host && cudaMemGetInfo(&free, &all) == cudaSuccess) return free;
#elif defined(KOKKOS_ENABLE_HIP)
  size_t free = 0, all = 0;
  if (!on_host && hipMemGetInfo(&free, &all) == hipSuccess) return free;
#endif
  return std::nullopt;
}

std::string over_device_memory(std::uint64_t bytes, std::optional<std::uint64_t> free) {
  if (!free || bytes <= *free) return "";
  return "needs " + std::to_string(bytes) + " bytes on the device, which has " + std::to_string(*free) + " free";
}

std::int64_t peak_bytes(const std::function<void()> &work) {
  const Counting counting;
  work();
  return most;
}

} // namespace recollect
