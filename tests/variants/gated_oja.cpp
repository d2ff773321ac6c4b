// SPDX-License-Identifier: Apache-2.0
#include "tests/gates.hpp"
#include "tests/reductions.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(gated_oja)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // One key channel, two value channels: S is a column. u_1 = [3,4] / 5, S_1 = 0.5 * 4 u_1 = [1.2,1.6], o_1 = 2 S_1.
  // Step 2: both channels decay by 0.5 to [0.6,0.8]; u_2 = [0,1] reads 0.8, the error is 2.8 - 0.8 = 2,
  // S_2 = [0.6,0.8 + 0.25 * 2] = [0.6,1.3], o_2 = -S_2.
  Sequence s;
  s.shape = {1, 1, 2, 1, 2};
  s.q = {2, -1}, s.k = {4, 2.8}, s.v = {3, 4, 0, 7};
  s.beta = {0.5, 0.25}, s.lambda = {1, 0.5};
  for (const char *form : {"recurrent", "chunked"})
    for (int C : {1, 2}) {
      const Output out = forward(find_variant("gated_oja"), s, {form, Real::f64, C, {}});
      check_close(out.o, {2.4, 3.2, -0.6, -1.3}, 4 * epsilon_of(Real::f64));
      check_close(out.state, {0.6, 1.3}, 4 * epsilon_of(Real::f64));
    }
}

BOOST_AUTO_TEST_CASE(channels_decay_by_their_own_factors) { // and beyond Dk they share them
  Sequence s;
  s.shape = {1, 1, 1, 2, 3};
  s.q = {1, 10}, s.k = {0, 0}, s.v = {0, 0, 0}; // nothing is written and nothing erased
  s.beta = {1}, s.lambda = {0.5, 0.25};
  s.state = {2, 4, 6, 8, 10, 12};
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("gated_oja"), s, {form, Real::f64, 1, {}});
    check_close(out.state, {1, 2, 1.5, 2, 5, 6}, 0);
    check_close(out.o, {21, 21.5, 65}, 0);
  }
}

/// [heads,rows,columns] -> [heads,columns,rows]
std::vector<double> transposed(const std::vector<double> &x, size_t rows, size_t columns) {
  std::vector<double> out(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    out[i / (rows * columns) * (rows * columns) + i % columns * rows + i % (rows * columns) / columns] = x[i];
  return out;
}

std::vector<double> unit_values(const Sequence &s) {
  std::vector<double> unit = s.v;
  const size_t width = size_t(s.shape.Dv);
  for (size_t row = 0; row < unit.size(); row += width) {
    double square = 0;
    for (size_t i = 0; i < width; ++i) square += unit[row + i] * unit[row + i];
    for (size_t i = 0; i < width; ++i) unit[row + i] /= std::sqrt(square);
  }
  return unit;
}

BOOST_AUTO_TEST_CASE(its_state_is_that_of_kda_with_keys_and_values_exchanged) {
  Sequence s = random_sequence({2, 2, 70, 6, 6}, 41), other = s; // lambda has as many channels as values
  s.state = Stream(41, "gated_oja/state").normals(4 * 6 * 6);
  other.k = unit_values(s), other.v = s.k, other.state = transposed(s.state, 6, 6);
  const Output mine = forward(find_variant("gated_oja"), s), its = forward(find_variant("kda"), other);
  const double bound = 100 * 70 * epsilon_of(Real::f64);
  BOOST_TEST(max_difference(mine.state, transposed(its.state, 6, 6)) <= bound * max_abs(its.state));
}

BOOST_AUTO_TEST_CASE(orthogonal_values_are_never_erased) { // without decay this is linear attention
  Sequence s = random_sequence({1, 2, 8, 5, 8}, 42), other;
  s.lambda.clear();
  s.beta.assign(s.beta.size(), 1);
  for (size_t i = 0; i < s.v.size(); ++i) s.v[i] = i / 8 % 8 == i % 8 ? 3 : 0; // normalised to 1
  other = s;
  for (double &x : other.v) x /= 3;
  check_reduction("linear", other, "gated_oja", s);
}

BOOST_AUTO_TEST_CASE(the_length_of_a_value_has_no_effect) {
  Sequence s = random_sequence({1, 2, 40, 5, 4}, 43), longer = s;
  for (double &x : longer.v) x *= 4;
  for (const char *form : {"recurrent", "chunked"}) {
    const Variant &variant = find_variant("gated_oja");
    check_close(forward(variant, longer, {form, Real::f64, 16, {}}).o, forward(variant, s, {form, Real::f64, 16, {}}).o,
                0);
  }
}

BOOST_AUTO_TEST_CASE(small_decays_neither_overflow_nor_lose_what_follows) {
  Sequence s = random_sequence({1, 1, 200, 6, 4}, 44);
  s.lambda = harsh_gates(s.lambda.size());
  chunks_give_the_definition("gated_oja", s);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
