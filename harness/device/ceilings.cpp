// SPDX-License-Identifier: Apache-2.0
#include "harness/device/ceilings.hpp"
#include "harness/device/launch.hpp"
#include <KokkosBlas3_gemm.hpp>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <unistd.h>
#ifdef KOKKOS_ENABLE_CUDA
#include <cublas_v2.h>
#endif

namespace recollect {
namespace {

constexpr int tries = 3;

template <class Work> double best_seconds(const Work &work) {
  double best = 1e300;
  for (int i = 0; i <= tries; ++i) {
    Kokkos::fence();
    const auto start = std::chrono::steady_clock::now();
    work();
    Kokkos::fence();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (i) best = std::min(best, seconds); // the first try is a warm-up
  }
  return best;
}

/// A number between -1 and 1 that differs for every i. Products of equal numbers would draw less power and might run
/// faster than the products in real use.
KOKKOS_INLINE_FUNCTION double scattered(size_t i) {
  std::uint64_t x = i * 0x9E3779B97F4A7C15u + 1;
  x ^= x >> 31, x *= 0xBF58476D1CE4E5B9u, x ^= x >> 29;
  return double(x >> 11) / double(std::uint64_t(1) << 52) - 1;
}

template <class Real> using Matrix = Kokkos::View<Real **, Kokkos::LayoutLeft, Execution>;
template <class Real> Matrix<Real> random_matrix(const std::string &label, int n) {
  const Matrix<Real> made(label, n, n);
  parallel_loop(
      label, size_t(n) * n, KOKKOS_LAMBDA(const size_t i) { made.data()[i] = Real(scattered(i)); });
  return made;
}

std::vector<int> gemm_sizes() { return on_host ? std::vector<int>{768, 1536} : std::vector<int>{4096, 8192}; }
std::string squared(int n) { return std::to_string(n) + " x " + std::to_string(n); }

template <class Real> void measure_gemm(const std::string &type, std::vector<Ceiling> &all) {
  for (int n : gemm_sizes()) {
    const Matrix<Real> A = random_matrix<Real>("ceilings::A", n), B = random_matrix<Real>("ceilings::B", n),
                       C("ceilings::C", n, n);
    const double seconds = best_seconds([&] { KokkosBlas::gemm("N", "N", Real(1), A, B, Real(0), C); });
    all.push_back({type, "gemm", squared(n), 2.0 * n * n * n / seconds});
  }
}

#ifdef KOKKOS_ENABLE_CUDA
/// `value` itself, or the upper half of its bits, which is a bfloat16.
template <class Stored> KOKKOS_INLINE_FUNCTION Stored stored(float value) {
  if constexpr (sizeof(Stored) == 2) {
    std::uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return Stored(bits >> 16);
  } else
    return value;
}

/// Measures cuBLAS's matrix product in a precision that Kokkos Kernels does not offer. Records nothing if cuBLAS
/// refuses.
template <class Stored>
void measure_cublas(const std::string &type, cudaDataType_t data, cublasComputeType_t compute,
                    std::vector<Ceiling> &all) {
  cublasHandle_t handle = nullptr;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return;
  cublasSetStream(handle, queue().cuda_stream());
  for (int n : gemm_sizes()) {
    const Kokkos::View<Stored *, Execution> A("ceilings::A", size_t(n) * n), B("ceilings::B", size_t(n) * n),
        C("ceilings::C", size_t(n) * n);
    parallel_loop(
        "ceilings::fill", size_t(n) * n,
        KOKKOS_LAMBDA(const size_t i) { A(i) = B(i) = stored<Stored>(float(scattered(i))); });
    const float one = 1, zero = 0;
    bool taken = true;
    const double seconds = best_seconds([&] {
      taken = taken && cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, A.data(), data, n, B.data(), data,
                                    n, &zero, C.data(), data, n, compute, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
    });
    if (taken) all.push_back({type, "gemm", squared(n), 2.0 * n * n * n / seconds});
  }
  cublasDestroy(handle);
}
#endif

/// Size in bytes of an array that exceeds every cache.
size_t beyond_caches() {
  const long cache = on_host ? sysconf(_SC_LEVEL3_CACHE_SIZE) : 0;
  return std::max<size_t>(size_t(on_host ? 64 : 512) << 20, 2 * size_t(std::max(0L, cache)));
}

using Doubles = Kokkos::View<double *, Execution>;

/// A large array that is kept until the program ends, because the first write to fresh memory is many times slower than
/// later writes.
const Doubles &large_array() {
  static Doubles kept;
  if (!kept.is_allocated()) {
    kept = Doubles("ceilings::large", beyond_caches() / sizeof(double));
    Kokkos::push_finalize_hook([] { kept = Doubles(); });
  }
  return kept;
}

struct Pair {
  double x, y;
}; // 16 bytes: the widest access of a GPU thread

/// Three loops over `count` pairs: to[i] = from[i], to[i] = from[i] + 3 other[i], and the sum of all from[i].
void copy_pairs(Pair *to, const Pair *from, size_t count) {
  parallel_loop(
      "ceilings::copy", count, KOKKOS_LAMBDA(const size_t i) { to[i] = from[i]; });
}
void triad(Pair *to, const Pair *from, const Pair *other, size_t count) {
  parallel_loop(
      "ceilings::triad", count, KOKKOS_LAMBDA(const size_t i) {
        to[i] = {from[i].x + 3 * other[i].x, from[i].y + 3 * other[i].y};
      });
}
double read_pairs(const Pair *from, size_t count) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "ceilings::read", over(count), KOKKOS_LAMBDA(const size_t i, double &part) { part += from[i].x + from[i].y; },
      sum);
  return sum;
}

void measure_bytes(std::vector<Ceiling> &all) {
  const Doubles &from = large_array(), to("ceilings::to", from.size()), other("ceilings::other", from.size());
  const auto pairs = [](const Doubles &array) { return reinterpret_cast<Pair *>(array.data()); };
  for (const size_t share : {2, 1}) {
    const size_t count = from.size() / share, bytes = count * sizeof(double);
    const std::string size = std::to_string(bytes >> 20) + " MiB";
    const auto range = std::make_pair(size_t(0), count);
    const auto source = Kokkos::subview(from, range), target = Kokkos::subview(to, range);
    const auto add = [&](const char *kernel, int arrays, double seconds) {
      all.push_back({"bytes", kernel, size, double(arrays) * double(bytes) / seconds});
    };
    add("copy", 2, best_seconds([&] { Kokkos::deep_copy(target, source); }));
    add("copy by 16 bytes", 2, best_seconds([&] { copy_pairs(pairs(to), pairs(from), count / 2); }));
    add("triad", 3, best_seconds([&] { triad(pairs(to), pairs(from), pairs(other), count / 2); }));
    add("read", 1, best_seconds([&] { read_pairs(pairs(from), count / 2); }));
  }
}

} // namespace

Ceiling Ceilings::best(const std::string &of) const {
  Ceiling found{of, "", "", 0};
  for (const Ceiling &c : all)
    if (c.of == of && c.per_second > found.per_second) found = c;
  return found;
}

double Ceilings::flops_per_second(Real real, Math math) const {
  if (real == Real::f64) return best("f64").per_second;
  if (math != Math::exact) return best(name_of(math)).per_second;
  if (bytes_of(real) == 2 && best("bf16").per_second > 0) return best("bf16").per_second;
  return std::max(best("f32").per_second, best("tf32").per_second / 3);
}

void Ceilings::improve(const Ceilings &others) {
  for (const Ceiling &other : others.all) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const Ceiling &mine) {
      return mine.of == other.of && mine.kernel == other.kernel && mine.size == other.size;
    });
    if (same == all.end())
      all.push_back(other);
    else
      same->per_second = std::max(same->per_second, other.per_second);
  }
}

Ceilings measure_ceilings() {
  Ceilings c;
  measure_bytes(c.all);
  measure_gemm<float>("f32", c.all);
  measure_gemm<double>("f64", c.all);
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (on_cuda) {
    measure_cublas<float>("tf32", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, c.all);
    measure_cublas<std::uint16_t>("bf16", CUDA_R_16BF, CUBLAS_COMPUTE_32F, c.all);
  }
#endif
  return c;
}

void flush_caches() {
  Kokkos::deep_copy(large_array(), 0.0); // evicts everything else from the caches
  Kokkos::fence();
}

} // namespace recollect
