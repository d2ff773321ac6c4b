// SPDX-License-Identifier: Apache-2.0
// On a host, outputs and gradients are the same bit for bit in every schedule and on any number of threads, although the
// number of threads decides the schedule and the windows.
#include "harness/call/backward.hpp"
#include "tests/harness/call/gradient_case.hpp"
#include "tests/program.hpp"
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace recollect {
namespace {

/// The outputs of a form, followed by its gradients.
std::vector<double> results(const GradientCase &c, const Form &form, int chunk, Real real, Schedule schedule) {
  const Run run{form.name, real, chunk, c.params, schedule};
  const Output out = forward(c.variant, c.s, run);
  std::vector<double> all = out.o;
  all.insert(all.end(), out.state.begin(), out.state.end());
  if (!form.vjp) return all;
  const Sequence d = backward(c.variant, c.s, run, c.weights);
  for (Tensor tensor : all_tensors) all.insert(all.end(), d[tensor].begin(), d[tensor].end());
  return all;
}

size_t bits_of(const std::vector<double> &numbers) {
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char *>(numbers.data()), numbers.size() * sizeof(double)});
}

std::string named(const GradientCase &c, const Form &form, int chunk, Real real) {
  return c.variant.name + " " + form.name + " " + name_of(real) + " T=" + std::to_string(c.s.shape.T) +
         " chunk=" + std::to_string(chunk);
}

/// Calls f(case, form, chunk, type) for every form, with both types and shapes of few and many heads, narrow and wide,
/// and incomplete chunks.
template <class F> void each_case(const F &f) {
  const struct {
    Shape shape;
    std::vector<int> chunks;
  } all[] = {{{1, 1, 71, 10, 19}, {1, 7, 64}},
             {{2, 3, 70, 5, 3}, {32, 70}},
             {{1, 20, 33, 18, 33}, {16}},
             {{1, 1, 50, 70, 41}, {24}}};
  for (const Variant &variant : all_variants())
    for (const auto &of : all) {
      const GradientCase c = case_of(variant, of.shape, 21);
      for (const Form &form : variant.forms)
        for (int chunk : of.chunks)
          for (Real real : {Real::f32, Real::f64}) f(c, form, chunk, real);
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(same_bits, *boost::unit_test::precondition(tape_runs))

void check_schedules(const GradientCase &c, const Form &form, int chunk, Real real) {
  BOOST_TEST(bits_of(results(c, form, chunk, real, Schedule::streaming)) ==
                 bits_of(results(c, form, chunk, real, Schedule::three_phase)),
             named(c, form, chunk, real));
}
BOOST_AUTO_TEST_CASE(in_every_schedule, *slow) {
  each_case([](const GradientCase &c, const Form &form, int chunk, Real real) {
    if (form.name != "recurrent") check_schedules(c, form, chunk, real);
  });
}
BOOST_AUTO_TEST_CASE(in_several_windows, *slow) { // of 1100 chunks
  for (const Variant &variant : all_variants())
    if (const Form *form = variant.find_form("chunked"))
      check_schedules(case_of(variant, {1, 1, 1100, 16, 16}, 22), *form, 1, Real::f64);
}

BOOST_AUTO_TEST_CASE(on_any_number_of_threads, *slow) { // a fresh number per process, because its children print
  if (std::getenv("RECOLLECT_PRINT_BITS"))
    return each_case([](const GradientCase &c, const Form &form, int chunk, Real real) {
      std::cout << named(c, form, chunk, real) << ": " << bits_of(results(c, form, chunk, real, Schedule::automatic))
                << '\n';
    });
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const auto printed = [&](int threads) {
    const Outcome o =
        run_program("--run_test=variants/same_bits/on_any_number_of_threads",
                    "/usr/bin/env' RECOLLECT_PRINT_BITS=1 OMP_NUM_THREADS=" + std::to_string(threads) + " '" + self);
    BOOST_TEST_REQUIRE(o.status == 0, o.err);
    return o.out;
  };
  const std::string one = printed(1);
  BOOST_TEST(std::count(one.begin(), one.end(), '\n') > 1000);
  for (int threads : {2, 3, 5}) {
    const std::string many = printed(threads);
    const size_t same = std::mismatch(one.begin(), one.end(), many.begin(), many.end()).first - one.begin(),
                 line = one.rfind('\n', same) + 1;
    BOOST_TEST((many == one), threads << " threads, first " << one.substr(line, one.find('\n', same) - line));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
