// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/inputs.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(inputs)

const Shape shape{2, 3, 7, 5, 4};

/// The Euclidean norm of the i-th row.
double norm(const std::vector<double> &rows, size_t i, int width) {
  return std::sqrt(inner(&rows[i * width], &rows[i * width], width));
}

BOOST_AUTO_TEST_CASE(every_input_has_its_size_and_range) {
  const Sequence s = random_sequence(shape, 1);
  const size_t steps = shape.heads() * shape.T;
  for (const auto *x : {&s.q, &s.k, &s.w, &s.lambda}) BOOST_TEST(x->size() == steps * 5);
  BOOST_TEST(s.v.size() == steps * 4);
  for (size_t i = 0; i < steps; ++i)
    for (const auto *unit : {&s.q, &s.k, &s.w}) BOOST_TEST(std::fabs(norm(*unit, i, 5) - 1) < 1e-15);
  for (double beta : s.beta) BOOST_TEST((beta > 0.2 && beta < 1));
  for (const auto *gates : {&s.alpha, &s.lambda})
    for (double gate : *gates) BOOST_TEST((gate > 0.8 && gate < 1));
  BOOST_TEST(s.state.empty());
  BOOST_TEST((random_sequence(shape, 1).k == s.k && random_sequence(shape, 2).k != s.k));
}

BOOST_AUTO_TEST_CASE(gaussian_keys_have_mean_square_one_and_repeated_ones_hardly_differ) {
  const Sequence gaussian = random_sequence({1, 1, 4000, 8, 1}, 3, Keys::gaussian);
  double square = 0;
  for (double x : gaussian.k) square += x * x / 4000;
  BOOST_TEST(std::fabs(square - 1) < 6 * std::sqrt(2.0 / (4000 * 8))); // chi-squared over its degrees of freedom
  const Sequence repeated = random_sequence({1, 1, 50, 8, 1}, 3, Keys::repeated);
  for (int t = 1; t < 50; ++t) {
    const double cosine = inner(&repeated.k[0], &repeated.k[t * 8], 8);
    BOOST_TEST((cosine > 0.99 && cosine < 1));
  }
}

BOOST_AUTO_TEST_CASE(steps_are_cut_from_every_head) {
  Sequence s = random_sequence(shape, 4);
  s.state = {1, 2, 3};
  const Sequence first = slice_steps(s, 0, 3), rest = slice_steps(s, 3, 7);
  BOOST_TEST((first.state == s.state && rest.state.empty()));
  BOOST_TEST((first.shape.T == 3 && rest.shape.T == 4));
  for (size_t head = 0; head < shape.heads(); ++head) {
    BOOST_TEST(first.beta[head * 3 + 2] == s.beta[head * 7 + 2]);
    BOOST_TEST(rest.v[(head * 4 + 1) * 4 + 3] == s.v[(head * 7 + 4) * 4 + 3]);
  }
  Sequence bare = s;
  bare.alpha.clear();
  BOOST_TEST(slice_steps(bare, 1, 2).alpha.empty());
}

BOOST_AUTO_TEST_CASE(steps_go_back_to_where_they_were_cut) {
  const Sequence s = random_sequence(shape, 5);
  std::vector<double> all;
  for (const auto &[begin, end] : {std::pair{3, 7}, std::pair{0, 1}, std::pair{1, 3}})
    put_steps(all, steps_of(s.k, shape, begin, end), shape, begin, end);
  BOOST_TEST(all == s.k);
  put_steps(all, {}, shape, 2, 2);
  BOOST_TEST(all == s.k);
  BOOST_TEST(steps_of({}, shape, 0, 3).empty());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
