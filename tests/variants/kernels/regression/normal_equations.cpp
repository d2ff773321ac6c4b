// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"

namespace recollect {
namespace {

constexpr double ridge = 0.5;

/// q_t = (H_t + ridge I) x for one x, so that o_t = B_t x: the expected result needs no inverse.
struct Solved {
  Sequence s;
  std::vector<double> o;
  double condition = 1; // upper bound for any H_t + ridge I
};
Solved solved(const Shape &shape, bool decays) {
  const int D = shape.Dk, V = shape.Dv;
  Solved made{random_sequence(shape, 351), {}};
  Sequence &s = made.s;
  s.beta.clear();
  if (!decays) s.alpha.clear();
  const std::vector<double> x = random_sequence({1, 1, 1, D, 1}, 352).q;
  for (size_t head = 0; head < shape.heads(); ++head) {
    Dense H(D, D, std::vector<double>(size_t(D * D), 0)), B(V, D, std::vector<double>(size_t(V * D), 0));
    for (int t = 0; t < shape.T; ++t) {
      const size_t step = head * size_t(shape.T) + size_t(t);
      const double *k = &s.k[step * size_t(D)], *v = &s.v[step * size_t(V)], alpha = decays ? s.alpha[step] : 1;
      double trace = 0;
      for (int j = 0; j < D; ++j) {
        for (int i = 0; i < D; ++i) H(i, j) = alpha * H(i, j) + k[i] * k[j];
        for (int c = 0; c < V; ++c) B(c, j) = alpha * B(c, j) + v[c] * k[j];
        trace += H(j, j);
      }
      made.condition = std::max(made.condition, 1 + trace / ridge);
      for (int i = 0; i < D; ++i) {
        double &q = s.q[step * size_t(D) + size_t(i)] = ridge * x[size_t(i)];
        for (int j = 0; j < D; ++j) q += H(i, j) * x[size_t(j)];
      }
      for (int c = 0; c < V; ++c) {
        double read = 0;
        for (int j = 0; j < D; ++j) read += B(c, j) * x[size_t(j)];
        made.o.push_back(read);
      }
    }
  }
  return made;
}

std::vector<double> found(const Solved &made, const char *form, Real real, int C, Schedule schedule) {
  const Variant &mesa = find_variant("mesa");
  Run run{form, real, C, variant_params(mesa, {{"ridge", "0.5"}})};
  run.schedule = schedule;
  return forward(mesa, made.s, run).o;
}

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(normal_equations)

BOOST_AUTO_TEST_CASE(a_query_made_of_its_solution_is_solved_for_it) {
  const Solved made = solved({1, 1, 37, 5, 3}, true);
  for (const char *form : {"chunked", "conjugate_gradients"})
    for (Schedule schedule : {Schedule::streaming, Schedule::three_phase})
      for (int C : {1, 8, 37}) check_close(found(made, form, Real::f64, C, schedule), made.o, 1e-11 * max_abs(made.o));
}

BOOST_AUTO_TEST_CASE(so_it_is_at_the_sizes_that_gpus_have_kernels_for) { // harness/device/static_extents.hpp
  for (bool decays : {false, true}) {
    const Solved made = solved({1, 2, 192, 64, 64}, decays);
    const double allowed = made.condition * epsilon_of(Real::f32);
    BOOST_TEST(allowed < 0.01);
    for (const char *form : {"chunked", "conjugate_gradients"})
      check_close(found(made, form, Real::f32, 64, Schedule::three_phase), made.o, allowed * max_abs(made.o));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
