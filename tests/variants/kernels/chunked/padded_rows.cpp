// SPDX-License-Identifier: Apache-2.0
// Copies to rows that start on 16 bytes, and back. Passes on a GPU at such widths: forward.cpp and backward.cpp here.
#include "variants/kernels/chunked/padded_rows.hpp"
#include "harness/device/transfer.hpp"
#include "tests/testing.hpp"

namespace recollect {
namespace {

using chunked::PaddedRows;

/// n different numbers, none of them 0.
template <class Number> Array<Number> counted(size_t n) {
  const Array<Number> array("counted", n);
  const auto host = Kokkos::create_mirror_view(array);
  for (size_t i = 0; i < n; ++i) host(i) = Number(i + 1);
  Kokkos::deep_copy(array, host);
  return array;
}
template <class Number> std::vector<double> read(const Number *from, size_t n) {
  const Array<Number> array(const_cast<Number *>(from), n);
  const auto host = Kokkos::create_mirror_view(array);
  Kokkos::deep_copy(host, array);
  return std::vector<double>(host.data(), host.data() + n);
}
template <class Number> Number *of_ones(Arena &arena, size_t n) {
  const Array<Number> array = arena.take<Number>(n);
  Kokkos::deep_copy(array, Number(1));
  return array.data();
}

/// What rows of `own` counted numbers become with zeros up to `wide`.
std::vector<double> widened(size_t rows, int own, int wide) {
  std::vector<double> out;
  for (size_t r = 0; r < rows; ++r)
    for (int j = 0; j < wide; ++j) out.push_back(j < own ? double(r * own + j + 1) : 0);
  return out;
}

/// Copies rows of both widths there and back.
template <class Number> void check_width(int Dk, int Dv, size_t rows) {
  BOOST_TEST_CONTEXT(sizeof(Number) << " bytes, widths " << Dk << " and " << Dv << ", " << rows << " rows") {
    Arena arena;
    PaddedRows padded(arena, Dk, Dv, sizeof(Number));
    for (const auto &[own, wide] : {std::pair(Dk, padded.keys()), std::pair(Dv, padded.values())}) {
      BOOST_TEST(wide * sizeof(Number) % 16 == 0u);
      BOOST_TEST((wide >= own && (wide - own) * sizeof(Number) < 16));
    }
    const Array<Number> k = counted<Number>(rows * Dk), v = counted<Number>(rows * Dv);
    const Array<float> lambda = counted<float>(rows * Dk);
    const Number *const wide_k = padded.keys<Number>(k.data(), rows), *const wide_v =
                                                                          padded.values<Number>(v.data(), rows);
    const float *const wide_lambda = padded.keys<float>(lambda.data(), rows); // wider numbers in rows as many as keys
    Number *const d_k = of_ones<Number>(arena, rows * Dk + 1), *const d_v = of_ones<Number>(arena, rows * Dv + 1);
    Number *const wide_d_k = padded.keys_of_result(d_k, rows), *const wide_d_v = padded.values_of_result(d_v, rows);
    padded.read("test");
    BOOST_TEST(read(wide_k, rows * padded.keys()) == widened(rows, Dk, padded.keys()));
    BOOST_TEST(read(wide_v, rows * padded.values()) == widened(rows, Dv, padded.values()));
    BOOST_TEST(read(wide_lambda, rows * padded.keys()) == widened(rows, Dk, padded.keys()));
    BOOST_TEST((wide_k == k.data()) == (padded.keys() == Dk)); // nothing is copied if it is not needed
    BOOST_TEST((wide_d_v == d_v) == (padded.values() == Dv));
    const Array<Number> from_k = counted<Number>(rows * padded.keys()),
                        from_v = counted<Number>(rows * padded.values());
    Kokkos::deep_copy(Array<Number>(wide_d_k, from_k.extent(0)), from_k);
    Kokkos::deep_copy(Array<Number>(wide_d_v, from_v.extent(0)), from_v);
    padded.write("test");
    for (size_t r = 0; r < rows; ++r) {
      BOOST_TEST(read(d_k + r * Dk, Dk) == read(from_k.data() + r * padded.keys(), Dk));
      BOOST_TEST(read(d_v + r * Dv, Dv) == read(from_v.data() + r * padded.values(), Dv));
    }
    BOOST_TEST(read(d_k + rows * Dk, 1)[0] == 1); // nothing is written behind the last row
    BOOST_TEST(read(d_v + rows * Dv, 1)[0] == 1);
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(padded_rows)

BOOST_AUTO_TEST_CASE(have_the_same_numbers_and_zeros) {
  for (int Dk : {1, 4, 7, 8, 60, 65})
    for (int Dv : {3, 8, 66})
      for (size_t rows : {1, 5, 64}) check_width<float>(Dk, Dv, rows), check_width<std::uint16_t>(Dk, Dv, rows);
}

BOOST_AUTO_TEST_CASE(of_no_steps_are_empty) {
  Arena arena;
  PaddedRows padded(arena, 5, 6, 4);
  float none = 0;
  padded.keys<float>(&none, 0), padded.values_of_result<float>(&none, 0);
  BOOST_TEST(padded.keys<float>(nullptr, 3) == nullptr);
  BOOST_TEST(padded.values_of_result<float>(nullptr, 3) == nullptr);
  padded.read("test"), padded.write("test");
  BOOST_TEST(none == 0);
}

BOOST_AUTO_TEST_CASE(start_on_16_bytes_where_the_array_does_not) {
  Arena arena;
  PaddedRows padded(arena, 8, 8, 4);
  const Array<float> all = counted<float>(17);
  const float *const copy = padded.keys<float>(all.data() + 1, 2);
  padded.read("test");
  BOOST_TEST(copy != all.data() + 1);
  BOOST_TEST(reinterpret_cast<std::uintptr_t>(copy) % 16 == 0u);
  BOOST_TEST(read(copy, 16) == read(all.data() + 1, 16));
}

BOOST_AUTO_TEST_CASE(of_states_keep_what_lies_between_them) {
  constexpr int Dk = 3, Dv = 2, count = 3;
  constexpr size_t apart = 10; // six numbers of a state, then four others
  Arena arena;
  PaddedRows padded(arena, Dk, Dv, 4);
  const Array<float> states = counted<float>(count * apart);
  float *const wide = padded.states(states.data(), count, apart, true);
  const size_t size = padded.states_apart(apart);
  BOOST_TEST(size == 16u);
  padded.read("test");
  for (size_t n = 0; n < count; ++n) {
    const double first = double(n * apart + 1);
    const std::vector<double> expected = {first, first + 1, first + 2, 0, first + 3, first + 4, first + 5, 0,
                                          0,     0,         0,         0, 0,         0,         0,         0};
    BOOST_TEST(read(wide + n * size, size) == expected);
  }
  const Array<float> others = counted<float>(count * size);
  Kokkos::deep_copy(Array<float>(wide, count * size), others);
  padded.write("test");
  for (size_t n = 0; n < count; ++n) {
    const double first = double(n * size + 1), kept = double(n * apart + 7);
    const std::vector<double> expected = {first,     first + 1, first + 2, first + 4, first + 5,
                                          first + 6, kept,      kept + 1,  kept + 2,  kept + 3};
    BOOST_TEST(read(states.data() + n * apart, apart) == expected);
  }
  PaddedRows whole(arena, 4, 4, 4);
  BOOST_TEST(whole.states(states.data(), 1, 16, true) == states.data());
  BOOST_TEST(whole.states_apart(16) == 16u);
}

BOOST_AUTO_TEST_CASE(of_a_normalised_sum_end_in_a_one) {
  constexpr int Dv = 4, rows = 3;
  Arena arena;
  PaddedRows padded(arena, 4, Dv, 4, true);
  BOOST_TEST(padded.values() == 8);
  const Array<float> v = counted<float>(rows * Dv), state = counted<float>(5 * 4); // z is the state's fifth row
  const float *const wide = padded.values<float>(v.data(), rows);
  float *const wide_state = padded.states(state.data(), 1, 20, false);
  padded.read("test");
  const std::vector<double> expected = {1, 2, 3, 4, 1, 0, 0, 0, 5, 6, 7, 8, 1, 0, 0, 0, 9, 10, 11, 12, 1, 0, 0, 0};
  BOOST_TEST(read(wide, rows * 8) == expected);
  std::vector<double> states = read(state.data(), 20);
  states.resize(32); // three rows of zeros
  BOOST_TEST(read(wide_state, 32) == states);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

} // namespace recollect
