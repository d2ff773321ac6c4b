// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/bench.hpp"
#include "harness/call/equivalence.hpp"
#include "harness/call/forward.hpp"
#include "harness/core/error.hpp"
#include "tests/benches.hpp"
#include "tests/testing.hpp"
#include <cmath>
#include <memory>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(bench_cases)

/// The form's row, measured with as few samples as possible.
BenchResult timed(const BenchCase &c, Ceilings *ceilings = nullptr) {
  BenchSettings quick;
  quick.rule.least_seconds = 0, quick.rule.most = 5, quick.ceilings = ceilings;
  return bench(c, quick).at(0);
}

BOOST_AUTO_TEST_CASE(a_case_is_timed_and_counted) {
  const auto plan = bench_plan(request_for("gated_delta_net", {"chunked"}));
  const BenchResult r = timed(plan[0]);
  BOOST_TEST(r.status == "ok", r.reason);
  BOOST_TEST(r.seconds.size() >= 5u);
  BOOST_TEST((r.timing.low <= r.timing.median && r.timing.median <= r.timing.high && r.timing.low > 0));
  // Bytes: for each of 200 steps 8 numbers of q and k, 4 of v and o, one beta and one alpha; for two heads the 8 x 4
  // state before and after.
  BOOST_TEST(r.bytes == 4 * (200 * (8 + 8 + 4 + 4 + 1 + 1) + 2 * 2 * 32));
  // The peak covers the tensors and the form's own arrays, which have a similar size. It does not cover the memory of
  // at least 64 MiB that flushes the caches.
  BOOST_TEST((r.peak_bytes >= std::int64_t(r.bytes) && r.peak_bytes < 1 << 20), r.peak_bytes);
}

BOOST_AUTO_TEST_CASE(arrays_of_16_bits_are_counted_and_held_to_their_type) {
  for (Real real : {Real::bf16, Real::f16}) {
    auto request = request_for("gated_delta_net", {"chunked"});
    request.real = real;
    BenchCase c = bench_plan(request)[0];
    const BenchResult r = timed(c);
    BOOST_TEST(r.status == "ok", r.reason);
    BOOST_TEST(r.storage == name_of(real));
    // Numbers of q, k, v and o have 2 bytes, those of beta, alpha and the states 4.
    BOOST_TEST(r.bytes == 200 * (2 * (8 + 8 + 4 + 4) + 4 * 2) + 4 * 2 * 2 * 32);
    // The error comes from rounding o: relative to a number it is at most 2^-8 (bf16) or 2^-11 (f16), and somewhere at
    // least a tenth of that.
    BOOST_TEST((r.error < epsilon_of(real) && r.error > epsilon_of(real) / 20), r.error);
    if (counts_work()) BOOST_TEST(r.reason == "arrays converted to float32 and back within the time");
    c.backward = true;
    const BenchResult back = timed(c);
    BOOST_TEST(back.status == "ok", back.reason);
    // Numbers of q, k, v, dq, dk, dv and do have 2 bytes; those of beta, alpha and their gradients, and of S, dS in and
    // dS out, have 4.
    BOOST_TEST(back.bytes == 200 * (2 * (2 * (8 + 8 + 4) + 4) + 4 * 2 * 2) + 4 * 3 * 2 * 32);
  }
}

BOOST_AUTO_TEST_CASE(packed_texts_and_shared_heads_are_timed) {
  auto request = request_for("gated_delta_net", {"chunked"});
  request.shapes = {{{1, 4, 200, 8, 4}, "130,0,70", 2}};
  BenchCase c = bench_plan(request)[0];
  const BenchResult r = timed(c);
  BOOST_TEST(r.status == "ok", r.reason);
  // For each of 200 steps: 8 numbers of q and k for 2 heads; 4 of v and o, one beta and one alpha for 4 heads. Three
  // texts of 4 heads have an 8 x 4 state before and after.
  BOOST_TEST(r.bytes == 4 * (200 * (2 * (8 + 8) + 4 * (4 + 4 + 1 + 1)) + 2 * 3 * 4 * 32));
  if (counts_work()) BOOST_TEST(r.reason == "one text after the other, q and k repeated for every head");
  c.backward = true;
  const BenchResult back = timed(c);
  BOOST_TEST(back.status == "ok", back.reason);
}

/// A wrong packed pass gets no time.
BOOST_AUTO_TEST_CASE(packed_texts_are_held_to_the_definition) {
  Variant wrong = find_variant("gated_delta_net");
  for (Form &form : wrong.forms) form.f32 = find_variant("delta_net").find_form("recurrent")->f32; // without decays
  auto request = request_for("gated_delta_net", {"chunked"});
  request.shapes[0].texts = "60,40";
  BenchCase c = bench_plan(request)[0];
  c.variant = &wrong, c.form = wrong.find_form("chunked");
  const BenchResult r = timed(c);
  BOOST_TEST(r.status == "wrong");
  BOOST_TEST(r.reason.find("text 0: o") != std::string::npos, r.reason);
}

using Kernel = std::function<void(const Call<float> &)>;
/// A case of linear's chunked form, with kernel(its kernel) in place of its float32 kernel.
struct Spoilt {
  Variant layer = find_variant("linear");
  BenchCase c;
  Spoilt(const std::function<Kernel(const Kernel &)> &kernel, const BenchRequest &request) : c(bench_plan(request)[0]) {
    for (Form &form : layer.forms)
      if (form.name == "chunked") form.f32 = kernel(form.f32);
    c.variant = &layer, c.form = layer.find_form("chunked");
  }
};
Kernel of_softmax(const Kernel &) { return find_variant("softmax").forms[0].f32; }

/// A wrong float32 kernel is detected also if a layer has no kernel for 16 bits.
BOOST_AUTO_TEST_CASE(a_wrong_form_in_16_bits_gets_no_time) {
  auto request = request_for("linear", {"chunked"});
  request.real = Real::bf16;
  Spoilt broken(of_softmax, request);
  broken.c.params = variant_params(find_variant("softmax"));
  BOOST_TEST(timed(broken.c).status == "wrong");
}

BOOST_AUTO_TEST_CASE(a_form_that_is_not_its_definition_gets_no_time) {
  Spoilt broken(of_softmax, request_for("linear", {"fast"}));
  broken.c.params = variant_params(find_variant("softmax"));
  const BenchResult r = timed(broken.c);
  BOOST_TEST((r.status == "wrong" && r.seconds.empty()));
}

BOOST_AUTO_TEST_CASE(a_form_that_leaves_outputs_unwritten_when_it_is_timed_gets_no_time) {
  const auto lazy = [passes = std::make_shared<int>(0)](const Kernel &whole) -> Kernel {
    return [whole, passes](const auto &call) { // correct in its first pass, then does nothing
      if (++*passes == 1) whole(call);
    };
  };
  const BenchResult r = timed(Spoilt(lazy, request_for("linear", {"chunked"})).c);
  BOOST_TEST((r.status == "wrong" && r.seconds.empty()));
  BOOST_TEST(r.reason == "the timed pass left 800 of 800 numbers of o unwritten, or NaN");
}

BOOST_AUTO_TEST_CASE(a_form_that_computes_something_else_when_it_is_timed_gets_no_time) {
  const auto twice = [passes = std::make_shared<int>(0)](const Kernel &once) -> Kernel {
    return [once, passes](const auto &call) { // from the second pass on it starts from its own final state
      if (++*passes > 1) once(call);
      once(call);
    };
  };
  const BenchResult r = timed(Spoilt(twice, request_for("linear", {"chunked"})).c);
  BOOST_TEST((r.status == "wrong" && r.seconds.empty()), r.reason);
  BOOST_TEST(r.reason.find("after timing its output deviates by") == 0u, r.reason);
}

BOOST_AUTO_TEST_CASE(a_time_below_its_limit_is_an_error, *slow) {
  const auto plan = bench_plan(request_for("linear", {"chunked"}));
  Ceilings measured{{{"bytes", "copy", "1 MiB", 1e3}}}; // ceilings of a busy machine: they are measured again
  const BenchResult again = timed(plan[0], &measured);
  BOOST_TEST((again.status == "ok" && again.bound == "bytes" && again.limit > 0), again.reason);
  BOOST_TEST(measured.bytes_per_second() > 1e6);
  BenchCase c = plan[0];
  Variant heavy = *c.variant; // its definition claims 10^18 operations per step
  heavy.cost = Cost(1e18), c.variant = &heavy, c.form = heavy.find_form("chunked");
  const BenchResult wrong = timed(c, &measured);
  BOOST_TEST((wrong.status == "wrong" && wrong.bound == "flops"));
  BOOST_TEST(wrong.reason.find("it cannot have done all of its work") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(limits_are_bytes_or_flops_whichever_takes_longer) {
  const auto plan = bench_plan(request_for("linear", {"chunked"}));
  const Ceilings ceilings{
      {{"bytes", "copy", "1 MiB", 1e9}, {"f32", "gemm", "8 x 8", 1e12}, {"bf16", "gemm", "8 x 8", 1e13}}};
  BenchResult r;
  r.bench_case = &plan[0], r.storage = "f32", r.bytes = 1e6, r.flops = 5e9;
  set_limit(r, ceilings);
  BOOST_TEST((std::fabs(r.limit - 5e-3) < 1e-12 && r.bound == "flops"));
  r.flops = 5e8, set_limit(r, ceilings);
  BOOST_TEST((std::fabs(r.limit - 1e-3) < 1e-12 && r.bound == "bytes"));
  r.storage = "bf16", set_limit(r, ceilings); // as of a peer, which moves half as many bytes
  BOOST_TEST((std::fabs(r.limit - 5e-4) < 1e-12 && r.bound == "bytes"));
  BenchCase stored = plan[0]; // its type already counts 2 bytes per number, and products have 16 bits
  stored.real = Real::bf16, r.bench_case = &stored, set_limit(r, ceilings);
  BOOST_TEST((std::fabs(r.limit - 1e-3) < 1e-12 && r.bound == "bytes"));
  r.flops = 5e10, set_limit(r, ceilings);
  BOOST_TEST((std::fabs(r.limit - 5e-3) < 1e-12 && r.bound == "flops"));
}

BOOST_AUTO_TEST_CASE(backward_passes_are_timed_once_they_are_right) {
  auto request = request_for("gated_delta_net", {"fast"});
  request.backward = true;
  BenchCase c = bench_plan(request)[0];
  BOOST_TEST(name_of(c) == "gated_delta_net/chunked/B:1/H:2/T:100/Dk:8/Dv:4/f32/backward");
  const BenchResult right = timed(c);
  BOOST_TEST(right.status == "ok", right.reason);
  BOOST_TEST((right.error > 0 && right.flops == 0 && right.seconds.size() >= 5u));
  // For each of 200 steps: q, k of 8 numbers, v of 4, beta and alpha, the gradients of all these, and do of 4; for two
  // heads the states S, dS in and dS out.
  BOOST_TEST(right.bytes == 4 * (200 * (2 * (8 + 8 + 4 + 1 + 1) + 4) + 3 * 2 * 32));

  Variant broken = *c.variant; // its gradient of the gates only covers the write
  for (Form &form : broken.forms)
    if (form.vjp) form.vjp.f32 = find_variant("leaky_lms").forms[1].vjp.f32;
  c.variant = &broken, c.form = broken.find_form("chunked");
  const BenchResult wrong = timed(c);
  BOOST_TEST((wrong.status == "wrong" && wrong.seconds.empty()));
  BOOST_TEST(wrong.reason.find("deviates by") != std::string::npos);

  for (Form &form : broken.forms) form.vjp = {};
  BOOST_TEST(timed(c).reason == "has no backward pass");
}

BOOST_AUTO_TEST_CASE(what_memory_cannot_hold_is_skipped_before_anything_is_allocated) {
  auto request = request_for("linear", {"fast"});
  request.shapes = {{1 << 20, 1 << 20, 1 << 20, 64, 64}}; // 2^66 numbers
  const auto plan = bench_plan(request);
  const BenchResult r = timed(plan[0]);
  BOOST_TEST(r.status == "skipped");
  BOOST_TEST(r.reason.find("--memory allows") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(growth_is_the_exponent_of_T) {
  auto request = request_for("linear", {"chunked"});
  request.shapes = swept(request.shapes, "T=64:1024:*2");
  const auto plan = bench_plan(request);
  std::vector<BenchResult> results;
  for (const BenchCase &c : plan) {
    BenchResult r;
    r.bench_case = &c, r.timing.median = 1e-6 * std::pow(c.shape.T, 1.5);
    results.push_back(r);
  }
  const auto fits = growth(results);
  BOOST_TEST_REQUIRE(fits.size() == 1u);
  BOOST_TEST(fits[0].name == "recollect/linear/chunked/B:1/H:2/Dk:8/Dv:4/f32");
  BOOST_TEST(std::fabs(fits[0].exponent - 1.5) < 1e-9);
  results.resize(2);
  BOOST_TEST(growth(results).empty()); // two points give no fit
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
