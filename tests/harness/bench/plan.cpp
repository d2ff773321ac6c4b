// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/plan.hpp"
#include "harness/core/error.hpp"
#include "tests/benches.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(benches_planned)

BOOST_AUTO_TEST_CASE(shapes_are_swept) {
  BOOST_TEST(parse_shape("1,2,3,4,5").Dv == 5);
  for (const char *bad : {"1,2,3", "1,2,3,4,x", "0,1,1,1,1", "1,1,1.5,1,1"}) BOOST_CHECK_THROW(parse_shape(bad), Error);
  const auto all = swept(swept({{1, 2, 3, 4, 5}}, "T=8:32:*2"), "D=16,32");
  BOOST_TEST_REQUIRE(all.size() == 6u);
  BOOST_TEST((all[0].shape.T == 8 && all[0].shape.Dk == 16 && all[0].shape.Dv == 16));
  BOOST_TEST((all[5].shape.T == 32 && all[5].shape.Dk == 32));
  for (const char *bad : {"T", "X=3", "T=0"}) BOOST_CHECK_THROW(swept({{1, 2, 3, 4, 5}}, bad), Error);
}

BOOST_AUTO_TEST_CASE(shapes_come_from_a_file_too) {
  const auto all = shapes_of("# the issue's\n1,2,3,4,5\n\n 6,7, 8,9,10 # decode\n", "list");
  BOOST_TEST((all.size() == 2u && all[0].shape.Dv == 5 && all[1].shape.B == 6 && all[1].shape.Dv == 10));
  const auto packed = shapes_of("1,8,6,4,5 qk-heads=2 texts=4,0,2\n1,8,6,4,5\n", "list");
  BOOST_TEST((packed.at(0).texts == "4,0,2" && packed[0].qk_heads == 2 && packed[0].shape.Dv == 5));
  BOOST_TEST((packed.at(1).texts.empty() && packed[1].qk_heads == 0));
  BOOST_CHECK_THROW(shapes_of("1,8,6,4,5 qk-heads=x\n", "list"), Error);
  BOOST_CHECK_THROW(shapes_of("1,2,3\n", "list"), Error);
  BOOST_CHECK_THROW(shapes_of("# nothing\n", "list"), Error);
}

BOOST_AUTO_TEST_CASE(plans_name_every_form_asked_for) {
  BOOST_TEST(bench_plan(request_for("linear", {"all"})).size() == 2u);
  const auto chunked = bench_plan(request_for("linear", {"chunked"}));
  BOOST_TEST_REQUIRE(chunked.size() == 1u);
  BOOST_TEST(name_of(chunked[0]) == "linear/chunked/B:1/H:2/T:100/Dk:8/Dv:4/f32");
  auto fast = request_for("linear", {"fast"});
  BOOST_TEST(bench_plan(fast).at(0).form->name == (counts_work() ? "recurrent" : "chunked")); // with widths 8 and 4
  fast.backward = true;
  BOOST_TEST(bench_plan(fast).at(0).form->name == "chunked");
  fast.backward = false, fast.shapes = {{1, 2, 100, 64, 64}};
  BOOST_TEST(bench_plan(fast).at(0).form->name == "chunked");
  BOOST_CHECK_THROW(bench_plan(request_for("linear", {"sideways"})), Error);
  BOOST_CHECK_THROW(bench_plan(request_for("linaer", {"fast"})), Error);
}

BOOST_AUTO_TEST_CASE(texts_and_shared_heads_belong_to_the_case) {
  auto request = request_for("linear", {"chunked"});
  request.shapes = {{{1, 2, 100, 8, 4}, "60,0,40", 1}};
  const BenchCase c = bench_plan(request).at(0);
  BOOST_TEST(name_of(c) == "linear/chunked/B:1/H:2/T:100/Dk:8/Dv:4/f32/texts:60,0,40/qk_heads:1");
  const LayerInputs inputs = layer_inputs_of(c);
  BOOST_TEST((inputs.packed && inputs.texts.size() == 3u && inputs.texts[1].empty() && inputs.texts[2].end == 100));
  BOOST_TEST((inputs.all.k.size() == 800u && inputs.all.v.size() == 800u)); // 1 head of 8 channels, 2 of 4
  for (const char *texts : {"60,39", "60,41", "60,40.5,-0.5", "x"}) {
    request.shapes[0].texts = texts;
    BOOST_CHECK_THROW(bench_plan(request), Error);
  }
  request.shapes[0] = {{1, 2, 100, 8, 4}, "", 3};
  BOOST_CHECK_THROW(bench_plan(request), Error);
}

BOOST_AUTO_TEST_CASE(inputs_to_leave_out_are_optional_ones) {
  auto request = request_for("linear", {"chunked"});
  request.variants = {"gated_linear", "linear"}, request.without = {"lambda"};
  const auto plan = bench_plan(request);
  BOOST_TEST_REQUIRE(plan.size() == 2u);
  for (const BenchCase &c : plan) // linear has no such input
    BOOST_TEST((c.without.size() == (c.variant->name == "linear" ? 0u : 1u)));
  for (const char *name : {"lamda", "q", "w"}) {
    request.without = {name};
    BOOST_CHECK_EXCEPTION(bench_plan(request), Error, [&](const Error &e) {
      return std::string(e.what()).find("got '" + std::string(name)) != std::string::npos;
    });
  }
}

BOOST_AUTO_TEST_CASE(names_tell_the_type_of_arrays_from_that_of_products) {
  auto request = request_for("linear", {"chunked"});
  request.real = Real::bf16;
  BOOST_TEST(name_of(bench_plan(request).at(0)) == "linear/chunked/B:1/H:2/T:100/Dk:8/Dv:4/bf16");
  request.real = Real::f32, request.math = Math::bf16;
  BOOST_TEST(name_of(bench_plan(request).at(0)) == "linear/chunked/B:1/H:2/T:100/Dk:8/Dv:4/f32/math:bf16");
}

BOOST_AUTO_TEST_CASE(inputs_are_numbers_of_the_type) {
  auto request = request_for("gated_delta_net", {"fast"});
  const Sequence single = inputs_of(bench_plan(request).at(0));
  request.real = Real::bf16;
  const Sequence s = inputs_of(bench_plan(request).at(0));
  for (Tensor tensor : {Tensor::q, Tensor::k, Tensor::v}) {
    std::vector<double> stored = single[tensor];
    round_to(Real::bf16, stored);
    BOOST_TEST((s[tensor] == stored && s[tensor] != single[tensor]), name_of(tensor));
  }
  BOOST_TEST((s.beta == single.beta && s.alpha == single.alpha)); // gates are float32
}

BOOST_AUTO_TEST_CASE(settings_reach_whom_they_name) {
  auto request = request_for("linear", {"fast"});
  request.variants = {"linear", "softmax"};
  request.settings = {{"scale", "2"}, {"softmax.scale", "8"}};
  for (const BenchCase &c : bench_plan(request))
    BOOST_TEST(c.params.real("scale") == (c.variant->name == "softmax" ? 8 : 2));
  request.variants = {"gla"}, request.settings = {{"gla.scale", "3"}}; // by its alias
  BOOST_TEST(bench_plan(request).at(0).params.real("scale") == 3);
  for (const char *nobodys : {"nonsense", "softmax.scale"}) {
    request.settings = {{nobodys, "3"}};
    BOOST_CHECK_THROW(bench_plan(request), Error);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
