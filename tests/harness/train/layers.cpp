// SPDX-License-Identifier: Apache-2.0
// Each piece by hand where that is short, and its backward against central differences.
#include "harness/train/layers.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <functional>

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(train_layers)

Numbers draw(const char *name, size_t count) { return Stream(5, name).normals(count); }

/// <backward(dy), dx> against <dy, (f(x + h dx) - f(x - h dx)) / 2h>: h^2 ~ 1e-10 and eps / h ~ 1e-11 of the terms.
void against_differences(const Numbers &x, const std::function<Numbers(const Numbers &)> &f,
                         const std::function<Numbers(const Numbers &dy)> &backward) {
  const double h = 1e-5;
  const Numbers dy = draw("dy", f(x).size()), dx = draw("dx", x.size()), slope = backward(dy);
  Numbers up = x, down = x;
  for (size_t i = 0; i < x.size(); ++i) up[i] += h * dx[i], down[i] -= h * dx[i];
  const double found = inner(slope, dx), expected = (inner(dy, f(up)) - inner(dy, f(down))) / (2 * h);
  BOOST_TEST_INFO(found << " against " << expected);
  BOOST_TEST(std::fabs(found - expected) <= 1e-7 * (1 + std::fabs(expected)));
  BOOST_TEST(std::fabs(expected) > 1e-3);
}

/// In the input and in the weights.
template <class Forward, class Backward>
void against_differences(const Numbers &x, const Numbers &w, const Forward &f, const Backward &backward) {
  Numbers dw(w.size(), 0.0);
  against_differences(
      x, [&](const Numbers &x) { return f(x, w.data()); },
      [&](const Numbers &dy) { return backward(x, w.data(), dy, dw.data()); });
  against_differences(
      w, [&](const Numbers &w) { return f(x, w.data()); },
      [&](const Numbers &dy) {
        Numbers own(w.size(), 0.0);
        backward(x, w.data(), dy, own.data());
        return own;
      });
}

BOOST_AUTO_TEST_CASE(products) {
  BOOST_TEST((linear_forward({1, 2, 3, 4}, Numbers{5, 6}.data(), 2, 1) == Numbers{17, 39}));
  const int m = 5, n = 3;
  against_differences(
      draw("x", 70 * m), draw("w", m * n),
      [=](const Numbers &x, const double *w) { return linear_forward(x, w, m, n); },
      [=](const Numbers &x, const double *w, const Numbers &dy, double *dw) {
        return linear_backward(x, w, m, n, dy, dw);
      });
}

BOOST_AUTO_TEST_CASE(norms) {
  const Numbers y = rms_forward({3, 4}, Numbers{1, 2}.data(), 2); // mean square 12.5
  check_close(y, {3 / std::sqrt(12.5), 8 / std::sqrt(12.5)}, 1e-6);
  against_differences(
      draw("x", 4 * 6), draw("w", 6), [](const Numbers &x, const double *g) { return rms_forward(x, g, 6); },
      [](const Numbers &x, const double *g, const Numbers &dy, double *dg) { return rms_backward(x, g, 6, dy, dg); });
  check_close(layer_forward({3, 5}, Numbers{1, 2}.data(), Numbers{10, 20}.data(), 2), {9, 22}, 2e-5); // variance 1
  const Numbers gain = draw("w", 6), shift = draw("shift", 6);
  Numbers other(6, 0.0);
  against_differences(
      draw("x", 4 * 6), gain, [&](const Numbers &x, const double *g) { return layer_forward(x, g, shift.data(), 6); },
      [&](const Numbers &x, const double *g, const Numbers &dy, double *dg) {
        return layer_backward(x, g, 6, dy, dg, other.data());
      });
  against_differences(
      draw("x", 4 * 6), shift, [&](const Numbers &x, const double *b) { return layer_forward(x, gain.data(), b, 6); },
      [&](const Numbers &x, const double *, const Numbers &dy, double *db) {
        return layer_backward(x, gain.data(), 6, dy, other.data(), db);
      });
  check_close(unit_forward({3, 4}, 2), {0.6, 0.8}, 1e-12);
  const Numbers x = draw("x", 12);
  against_differences(
      x, [](const Numbers &x) { return unit_forward(x, 4); },
      [&](const Numbers &dy) { return unit_backward(x, 4, dy); });
}

BOOST_AUTO_TEST_CASE(convolutions_stay_within_their_text) {
  const Numbers c{2, 10}; // two texts of two steps, one channel
  BOOST_TEST((convolution_forward({1, 2, 3, 4}, c.data(), 2, 1, 2) == Numbers{2, 14, 6, 38}));
  against_differences(
      draw("x", 10 * 3), draw("w", 2 * 3),
      [](const Numbers &x, const double *c) { return convolution_forward(x, c, 2, 3, 5); },
      [](const Numbers &x, const double *c, const Numbers &dy, double *dc) {
        return convolution_backward(x, c, 2, 3, 5, dy, dc);
      });
}

BOOST_AUTO_TEST_CASE(pointwise) {
  check_close(gelu_forward({0, 1, -1}), {0, 0.8413447460685429, -0.15865525393145707}, 1e-15);
  const Numbers x = draw("x", 9);
  against_differences(
      x, [](const Numbers &x) { return gelu_forward(x); }, [&](const Numbers &dy) { return gelu_backward(x, dy); });
  against_differences(
      x, [](const Numbers &x) { return sigmoid_forward(x); },
      [&](const Numbers &dy) { return sigmoid_backward(sigmoid_forward(x), dy); });
}

BOOST_AUTO_TEST_CASE(rope_turns_with_the_step_and_back) {
  const Numbers x{1, 0, 1, 0}; // two steps of one head of width 2: the second turned by 1 radian
  check_close(rope(x, 2, 2, 2, 1), {1, 0, std::cos(1.0), std::sin(1.0)}, 1e-15);
  const Numbers many = draw("x", 6 * 8);
  check_close(rope(rope(many, 8, 4, 3, 1), 8, 4, 3, -1), many, 1e-14);
  against_differences(
      many, [](const Numbers &x) { return rope(x, 8, 4, 3, 1); },
      [](const Numbers &dy) { return rope(dy, 8, 4, 3, -1); }); // a rotation's transpose is its inverse
}

BOOST_AUTO_TEST_CASE(heads_and_steps_change_places) {
  BOOST_TEST((exchanged({1, 2, 3, 4, 5, 6}, 1, 3, 2, 1) == Numbers{1, 3, 5, 2, 4, 6}));
  const Numbers x = draw("x", 2 * 3 * 4 * 5);
  BOOST_TEST((exchanged(exchanged(x, 2, 3, 4, 5), 2, 4, 3, 5) == x));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
