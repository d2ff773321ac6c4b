// SPDX-License-Identifier: Apache-2.0
// Each part compared with a hand computation where that is short, and its backward pass with central differences.
#include "harness/train/network/layers.hpp"
#include "harness/call/make_call.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <functional>

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(train_layers)

using Numbers = std::vector<double>;
using Rows = Array<double>;

Rows on_device(const Numbers &x) { return upload<double>("x", x); }

Numbers draw(const char *name, size_t count) { return Stream(5, name).normals(count); }

/// <backward(dy), dx> against <dy, (f(x + h dx) - f(x - h dx)) / 2h>: h^2 ~ 1e-10 and eps / h ~ 1e-11 of the terms.
void against_differences(const Numbers &x, const std::function<Rows(Arena &, const Rows &)> &forward,
                         const std::function<Rows(Arena &, const Rows &dy)> &back) {
  const auto f = [&](const Numbers &at) {
    Arena arena;
    return download(forward(arena, on_device(at)));
  };
  const auto backward = [&](const Numbers &dy) {
    Arena arena;
    return download(back(arena, on_device(dy)));
  };
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
  const Rows X = on_device(x), W = on_device(w), unused = on_device(Numbers(w.size()));
  against_differences(
      x, [&](Arena &arena, const Rows &X) { return f(arena, X, W); },
      [&](Arena &arena, const Rows &dy) { return backward(arena, X, W, dy, unused); });
  against_differences(
      w, [&](Arena &arena, const Rows &W) { return f(arena, X, W); },
      [&](Arena &arena, const Rows &dy) {
        const Rows own = on_device(Numbers(w.size()));
        backward(arena, X, W, dy, own);
        return own;
      });
}

BOOST_AUTO_TEST_CASE(repetitions) {
  Arena arena;
  BOOST_TEST((download(repeated(arena, on_device({1, 2, 3, 4}), 2, 2)) == Numbers{1, 2, 1, 2, 3, 4, 3, 4}));
  BOOST_TEST((download(repeated_backward(arena, on_device({1, 2, 3, 4, 5, 6, 7, 8}), 2, 2)) == Numbers{4, 6, 12, 14}));
  against_differences(
      draw("x", 24), [](Arena &arena, const Rows &X) { return repeated(arena, X, 4, 3); },
      [](Arena &arena, const Rows &dy) { return repeated_backward(arena, dy, 4, 3); });
}

template <class Add> Rows added_to_zeros(Arena &arena, const Rows &x, const Add &add) {
  const Rows dx = zeros<double>(arena, x.extent(0));
  add(dx);
  return dx;
}

BOOST_AUTO_TEST_CASE(what_is_added_leaves_what_was_there) {
  Arena arena;
  const Rows x = on_device(draw("x", 12)), dy = on_device(draw("dy", 12)), w = on_device(draw("w", 4)),
             unused = on_device(Numbers(4));
  const auto check = [&](const std::function<void(const Rows &dx)> &add) {
    const Rows dx = on_device(Numbers(12, 7));
    add(dx);
    Numbers expected = download(added_to_zeros(arena, x, add));
    for (double &e : expected) e += 7;
    check_close(download(dx), expected, 1e-14 * 7);
  };
  check([&](const Rows &dx) { add_linear_backward(x, w, 4, 1, on_device({1, 2, 3}), dx, unused); });
  check([&](const Rows &dx) { add_rms_backward(arena, x, w, dy, dx, unused); });
  check([&](const Rows &dx) { add_layer_backward(arena, x, w, dy, dx, unused, unused); });
  check([&](const Rows &dx) { add_to(dx, dy); });
}

BOOST_AUTO_TEST_CASE(products) {
  Arena arena;
  BOOST_TEST((download(linear_forward(arena, on_device({1, 2, 3, 4}), on_device({5, 6}), 2, 1)) == Numbers{17, 39}));
  const int m = 5, n = 3;
  against_differences(
      draw("x", 70 * m), draw("w", m * n),
      [=](Arena &arena, const Rows &x, const Rows &w) { return linear_forward(arena, x, w, m, n); },
      [=](Arena &arena, const Rows &x, const Rows &w, const Rows &dy, const Rows &dw) {
        return linear_backward(arena, x, w, m, n, dy, dw);
      });
}

BOOST_AUTO_TEST_CASE(norms) {
  Arena arena;
  const Numbers y = download(rms_forward(arena, on_device({3, 4}), on_device({1, 2}))); // mean square 12.5
  check_close(y, {3 / std::sqrt(12.5), 8 / std::sqrt(12.5)}, 1e-6);
  const Numbers x = draw("x", 4 * 6), gain = draw("w", 6), shift = draw("shift", 6);
  against_differences(
      x, gain, [](Arena &arena, const Rows &x, const Rows &g) { return rms_forward(arena, x, g); },
      [](Arena &arena, const Rows &x, const Rows &g, const Rows &dy, const Rows &dg) {
        return added_to_zeros(arena, x, [&](const Rows &dx) { add_rms_backward(arena, x, g, dy, dx, dg); });
      });
  check_close(download(layer_forward(arena, on_device({3, 5}), on_device({1, 2}), on_device({10, 20}))), {9, 22},
              2e-5); // variance 1
  const Rows other = on_device(Numbers(6));
  against_differences(
      x, gain, [&](Arena &arena, const Rows &x, const Rows &g) { return layer_forward(arena, x, g, on_device(shift)); },
      [&](Arena &arena, const Rows &x, const Rows &g, const Rows &dy, const Rows &dg) {
        return added_to_zeros(arena, x, [&](const Rows &dx) { add_layer_backward(arena, x, g, dy, dx, dg, other); });
      });
  against_differences(
      x, shift, [&](Arena &arena, const Rows &x, const Rows &b) { return layer_forward(arena, x, on_device(gain), b); },
      [&](Arena &arena, const Rows &x, const Rows &, const Rows &dy, const Rows &db) {
        return added_to_zeros(
            arena, x, [&](const Rows &dx) { add_layer_backward(arena, x, on_device(gain), dy, dx, other, db); });
      });
  check_close(download(unit_forward(arena, on_device({3, 4}), 2)), {0.6, 0.8}, 1e-12);
  against_differences(
      x, [](Arena &arena, const Rows &x) { return unit_forward(arena, x, 4); },
      [&](Arena &arena, const Rows &dy) { return unit_backward(arena, on_device(x), 4, dy); });
}

BOOST_AUTO_TEST_CASE(rows_to_unit_mean_square) {
  Arena arena;
  check_close(download(mean_square_forward(arena, on_device({3, 4, 0, 0}), 2)),
              {3 / std::sqrt(12.5), 4 / std::sqrt(12.5), 0, 0}, 1e-6);
  const Numbers x = draw("x", 12);
  against_differences(
      x, [](Arena &arena, const Rows &x) { return mean_square_forward(arena, x, 4); },
      [&](Arena &arena, const Rows &dy) { return mean_square_backward(arena, on_device(x), 4, dy); });
}

BOOST_AUTO_TEST_CASE(convolutions_stay_within_their_text) {
  Arena arena; // two texts of two steps, one channel
  BOOST_TEST((download(convolution_forward(arena, on_device({1, 2, 3, 4}), on_device({2, 10}), 1, 2)) ==
              Numbers{2, 14, 6, 38}));
  against_differences(
      draw("x", 10 * 3), draw("w", 2 * 3),
      [](Arena &arena, const Rows &x, const Rows &c) { return convolution_forward(arena, x, c, 3, 5); },
      [](Arena &arena, const Rows &x, const Rows &c, const Rows &dy, const Rows &dc) {
        return convolution_backward(arena, x, c, 3, 5, dy, dc);
      });
}

BOOST_AUTO_TEST_CASE(pointwise) {
  Arena arena;
  check_close(download(gelu_forward(arena, on_device({-1, 0, -2}), on_device({1}))),
              {0, 0.8413447460685429, -0.15865525393145707}, 1e-15);
  const Numbers x = draw("x", 9);
  against_differences(
      x,
      [&](Arena &arena, const Rows &x) {
        return gelu_forward(arena, x, on_device({0.5, 1, 2}));
      },
      [&](Arena &arena, const Rows &dy) {
        const Rows biased = on_device(x), y = gelu_forward(arena, biased, on_device({0.5, 1, 2}));
        return gelu_backward(arena, biased, y, dy);
      });
  const Rows ends = on_device({0, -50, 50}), ones = on_device({1, 1, 1});
  check_close(download(gelu_backward(arena, ends, gelu_forward(arena, ends, on_device({0})), ones)), {0.5, 0, 1},
              1e-15);
  against_differences(
      x, [](Arena &arena, const Rows &x) { return sigmoid_forward(arena, x); },
      [&](Arena &arena, const Rows &dy) { return sigmoid_backward(arena, sigmoid_forward(arena, on_device(x)), dy); });
  against_differences(
      x, [](Arena &arena, const Rows &x) { return sigmoid_forward(arena, x, 2.0); },
      [&](Arena &arena, const Rows &dy) {
        return sigmoid_backward(arena, sigmoid_forward(arena, on_device(x), 2.0), dy, 2.0);
      });
  check_close(download(sigmoid_forward(arena, ends, 2.0)), {1, 0, 2}, 1e-15);
}

BOOST_AUTO_TEST_CASE(biases_are_added_to_every_row) {
  Arena arena;
  const Rows x = on_device({1, 2, 3, 4}), db = on_device({100, 200});
  bias_forward(x, on_device({10, 20}));
  BOOST_TEST((download(x) == Numbers{11, 22, 13, 24}));
  bias_backward(arena, x, db);
  BOOST_TEST((download(db) == Numbers{124, 246}));
}

/// More rows than one block has, and enough numbers for several threads: sums of whole numbers are exact in any order.
BOOST_AUTO_TEST_CASE(columns_are_summed_whole) {
  Arena arena;
  const int rows = 64 * 5 + 3, width = 97;
  Numbers x(size_t(rows * width));
  for (size_t i = 0; i < x.size(); ++i) x[i] = double(i);
  const Rows sums = on_device(Numbers(size_t(width)));
  bias_backward(arena, on_device(x), sums);
  for (int j = 0; j < width; ++j) BOOST_TEST(download(sums)[size_t(j)] == rows * j + width * (rows * (rows - 1) / 2));
}

BOOST_AUTO_TEST_CASE(rope_turns_with_the_step_and_back) {
  Arena arena;
  const Rows x = on_device({1, 0, 1, 0}); // two steps of one head of width 2: the second turned by 1 radian
  check_close(download(rope(arena, x, 2, 2, 2, 1)), {1, 0, std::cos(1.0), std::sin(1.0)}, 1e-15);
  const Numbers many = draw("x", 6 * 8);
  check_close(download(rope(arena, rope(arena, on_device(many), 8, 4, 3, 1), 8, 4, 3, -1)), many, 1e-14);
  against_differences(
      many, [](Arena &arena, const Rows &x) { return rope(arena, x, 8, 4, 3, 1); },
      [](Arena &arena, const Rows &dy) {
        return rope(arena, dy, 8, 4, 3, -1);
      }); // a rotation's transpose is its inverse
}

BOOST_AUTO_TEST_CASE(heads_and_steps_change_places) {
  Arena arena;
  BOOST_TEST((download(exchanged(arena, on_device({1, 2, 3, 4, 5, 6}), 3, 2, 1)) == Numbers{1, 3, 5, 2, 4, 6}));
  const Numbers x = draw("x", 2 * 3 * 4 * 5);
  BOOST_TEST((download(exchanged(arena, exchanged(arena, on_device(x), 3, 4, 5), 4, 3, 5)) == x));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
