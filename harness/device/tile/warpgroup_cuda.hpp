// SPDX-License-Identifier: Apache-2.0
// Hopper's matrix instructions of a warpgroup (four warps): wgmma of PTX, for GPUs of compute capability 9.0 and code
// compiled for sm_90a. The tensor memory accelerator (TMA) copies whole tiles to shared memory as their operands.
//
// Operands lie in shared memory as panels of 64 columns of 16-bit numbers. The rows of a panel have 128 bytes, whose
// 16-byte vectors are permuted by the "128-byte swizzle" (PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory
// Layout"). Panels start at multiples of 1024 bytes. TMA writes this layout, with zeros outside the array. Results of
// 64 rows are distributed among threads as by mma (fragments_cuda.hpp): warp w of the four has the rows 16 w ... 16 w +
// 15.
#pragma once
#ifdef RECOLLECT_WARPGROUPS
#include "harness/core/error.hpp"
#include "harness/device/tile/fragments_cuda.hpp"
#include <cuda.h>

namespace recollect::warpgroup {

constexpr int panel = 64;         // number of columns
constexpr int panel_align = 1024; // bytes

/// The driver's function that fills tensor maps. It is looked up at run time, so that programs need not be linked with
/// a library of the driver.
inline decltype(&cuTensorMapEncodeTiled) tensor_map_encoder() {
  void *found = nullptr;
  cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
#else
  cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
#endif
  if (!found) input_error("the GPU's driver is older than CUDA 12: update it");
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
}

/// Describes an array [heads, count, width] of 16-bit numbers to TMA, for copies of `rows` x 64 numbers. The rows of
/// the array must be aligned to 16 bytes.
template <class E> CUtensorMap tensor_map(const E *data, int heads, int count, int width, int rows) {
  static const auto encode = tensor_map_encoder();
  CUtensorMap map;
  const cuuint64_t extents[3] = {cuuint64_t(width), cuuint64_t(count), cuuint64_t(heads)},
                   strides[2] = {width * sizeof(E), size_t(count) * width * sizeof(E)};
  const cuuint32_t box[3] = {panel, cuuint32_t(rows), 1}, every[3] = {1, 1, 1};
  const CUresult status =
      encode(&map, std::is_same<E, __half>::value ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
             3, const_cast<E *>(data), extents, strides, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS)
    input_error("the GPU's driver refuses a tensor map: CUresult " + std::to_string(int(status)));
  return map;
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ __forceinline__ std::uint32_t address(const void *shared) {
  return std::uint32_t(__cvta_generic_to_shared(shared));
}

/// A barrier in shared memory that waits for arrivals and for the bytes of copies (mbarrier of PTX). Its phases have
/// parity 0 and 1 in turn, starting with 0.
struct Barrier {
  std::uint64_t bits;

  __device__ __forceinline__ void start(int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(this)), "r"(arrivals) : "memory");
  }
  __device__ __forceinline__ void end() {
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(address(this)) : "memory");
  }
  __device__ __forceinline__ void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(this)) : "memory");
  }
  /// Arrives once for all lanes of the warp.
  __device__ __forceinline__ void arrive_as_warp() {
    if (threadIdx.x % 32 == 0) arrive();
  }
  __device__ __forceinline__ void arrive_and_expect(int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(this)), "r"(bytes) : "memory");
  }
  /// If the current phase has this parity, waits until the phase has ended.
  __device__ __forceinline__ void wait(int parity) {
    asm volatile("{\n"
                 ".reg .pred ended;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
                 "@!ended bra again;\n"
                 "}" ::"r"(address(this)),
                 "r"(parity)
                 : "memory");
  }
};
/// Makes the initialised barriers visible to asynchronous copies.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
}

/// Copies rows x columns of a head to panels in shared memory; `landed` waits for the bytes. Only one thread calls it.
template <int rows, int columns, class E>
__device__ __forceinline__ void copy_tile(const CUtensorMap &from, size_t head, int row, E *to, Barrier &landed) {
  landed.arrive_and_expect(rows * columns * int(sizeof(E)));
#pragma unroll
  for (int c = 0; c < columns; c += panel)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::
            "r"(address(to + c * rows)),
        "l"(&from), "r"(address(&landed)), "r"(c), "r"(row), "r"(int(head))
        : "memory");
}

/// The descriptor of an operand: panels of `rows` rows, read from the row at `tile` on. The index of this row in its
/// panel must be a multiple of 8. The terms of the sum are the rows if `across`, otherwise the columns.
template <int rows, bool across> __device__ __forceinline__ std::uint64_t describe(const void *tile) {
  constexpr std::uint64_t swizzle_128 = std::uint64_t(1) << 62, eight_rows = std::uint64_t(1024 >> 4) << 32,
                          next_panel = std::uint64_t(across ? rows * 128 >> 4 : 1) << 16;
  return swizzle_128 | eight_rows | next_panel | ((address(tile) & 0x3ffff) >> 4);
}

/// Sets the number of registers per thread of the warpgroup: give_registers() lowers it, take_registers() raises it.
/// Registers that one warpgroup gives up are free for another.
template <int registers> __device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers> __device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

/// Must be called before products that use registers, as results or operands, which were written since the last
/// products.
__device__ __forceinline__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Waits until at most `left` of the committed groups of products have not ended.
template <int left> __device__ __forceinline__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}

/// Products of 64 rows, 16 terms and 64, 128 or 256 columns. They are asynchronous: begin_products() comes before them,
/// commit_products() and wait_for_products() after them.
///   multiply:     sums = a b, or sums += a b if `add`; both operands are in shared memory, with terms along the rows
///   multiply_add: sums += a b; a is in registers, b in shared memory, with terms down its columns
template <class Op> struct Products;
#define RECOLLECT_4(s, j) "+f"(s[j].x[0]), "+f"(s[j].x[1]), "+f"(s[j].x[2]), "+f"(s[j].x[3])
#define RECOLLECT_16(s, j) RECOLLECT_4(s, j), RECOLLECT_4(s, j + 1), RECOLLECT_4(s, j + 2), RECOLLECT_4(s, j + 3)
#define RECOLLECT_32(s, j) RECOLLECT_16(s, j), RECOLLECT_16(s, j + 4)
#define RECOLLECT_64(s, j) RECOLLECT_32(s, j), RECOLLECT_32(s, j + 8)
#define RECOLLECT_128(s) RECOLLECT_64(s, 0), RECOLLECT_64(s, 16)
#define RECOLLECT_NAMES_32                                                                                             \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30," \
  "%31"
#define RECOLLECT_NAMES_64                                                                                             \
  RECOLLECT_NAMES_32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,"   \
                     "%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define RECOLLECT_NAMES_128                                                                                            \
  RECOLLECT_NAMES_64                                                                                                   \
  ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,"                          \
  "%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,"                   \
  "%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define RECOLLECT_PRODUCTS(type, columns, names, sums_of, i0, i1, i2, i3, i4, i5)                                      \
  __device__ __forceinline__ static void multiply(std::uint64_t a, std::uint64_t b, bool add,                          \
                                                  fragments::Sum(&sums)[columns / 8]) {                                \
    asm volatile("{.reg .pred add; setp.ne.b32 add, " i2 ", 0;\n"                                                      \
                 "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." type "." type " {" names "}, " i0 ", " i1     \
                 ", add, 1, 1, 0, 0;}"                                                                                 \
                 : sums_of                                                                                             \
                 : "l"(a), "l"(b), "r"(int(add)));                                                                     \
  }                                                                                                                    \
  template <class A>                                                                                                   \
  __device__ __forceinline__ static void multiply_add(const A &a, std::uint64_t b,                                     \
                                                      fragments::Sum(&sums)[columns / 8]) {                            \
    asm volatile("{.reg .pred add; setp.ne.b32 add, " i5 ", 0;\n"                                                      \
                 "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." type "." type " {" names "}, {" i0 ", " i1    \
                 ", " i2 ", " i3 "}, " i4 ", add, 1, 1, 1;}"                                                           \
                 : sums_of                                                                                             \
                 : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "l"(b), "r"(1));                                \
  }
#define RECOLLECT_PRODUCTS_OF(Op, type)                                                                                \
  template <> struct Products<fragments::Op> {                                                                         \
    RECOLLECT_PRODUCTS(type, 64, RECOLLECT_NAMES_32, RECOLLECT_32(sums, 0), "%32", "%33", "%34", "%35", "%36", "%37")  \
    RECOLLECT_PRODUCTS(type, 128, RECOLLECT_NAMES_64, RECOLLECT_64(sums, 0), "%64", "%65", "%66", "%67", "%68", "%69") \
    RECOLLECT_PRODUCTS(type, 256, RECOLLECT_NAMES_128, RECOLLECT_128(sums), "%128", "%129", "%130", "%131", "%132",    \
                       "%133")                                                                                         \
  };
RECOLLECT_PRODUCTS_OF(Bf16, "bf16")
RECOLLECT_PRODUCTS_OF(F16, "f16")
#undef RECOLLECT_PRODUCTS_OF
#undef RECOLLECT_PRODUCTS
#undef RECOLLECT_NAMES_128
#undef RECOLLECT_NAMES_64
#undef RECOLLECT_NAMES_32
#undef RECOLLECT_128
#undef RECOLLECT_64
#undef RECOLLECT_32
#undef RECOLLECT_16
#undef RECOLLECT_4

/// results = a b^T for 64 rows of a. In shared memory, a's tile has rows x width numbers, b's tile columns x width.
template <class Op, int rows, int width, int columns, class E>
__device__ __forceinline__ void multiply_rows(const E *a_rows, const E *b_rows,
                                              fragments::Sum (&results)[columns / 8]) {
  const std::uint64_t a = describe<rows, false>(a_rows), b = describe<columns, false>(b_rows);
  begin_products();
#pragma unroll
  for (int c = 0; c < width; c += 16) { // addresses in units of 16 bytes
    const int of_a = (c / panel * rows * panel + c % panel) / 8, of_b = (c / panel * columns * panel + c % panel) / 8;
    Products<Op>::multiply(a + of_a, b + of_b, c > 0, results);
  }
  commit_products();
}
/// sums += a b. The tile b in shared memory has 16 * steps rows.
template <class Op, int steps, int N, class E>
__device__ __forceinline__ void add_product(const fragments::A16<Op> (&a)[steps], const E *b_rows,
                                            fragments::Sum (&sums)[N]) {
  const std::uint64_t b = describe<16 * steps, true>(b_rows);
  begin_products();
#pragma unroll
  for (int s = 0; s < steps; ++s) Products<Op>::multiply_add(a[s], b + s * 16 * panel / 8, sums);
  commit_products();
}
/// Marks results of products after the wait for these products: the compiler moves no instruction that reads the
/// results to a place before this one.
template <int N> __device__ __forceinline__ void settle(fragments::Sum (&results)[N]) {
#pragma unroll
  for (int j = 0; j < N; ++j)
    asm volatile("" : "+f"(results[j].x[0]), "+f"(results[j].x[1]), "+f"(results[j].x[2]), "+f"(results[j].x[3])::);
}

#endif
} // namespace recollect::warpgroup
#endif
