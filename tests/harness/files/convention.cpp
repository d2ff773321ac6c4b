// SPDX-License-Identifier: Apache-2.0
#include "harness/files/convention.hpp"
#include "harness/core/error.hpp"
#include "tests/testing.hpp"
#include <algorithm>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(conventions)

BOOST_AUTO_TEST_CASE(presets_are_what_their_libraries_document) {
  const Convention fla = preset("fla"), vllm = preset("vllm"), flashinfer = preset("flashinfer"),
                   mamba = preset("mamba");
  BOOST_TEST((fla.layout == Layout::bthd && fla.state_kv && fla.gate == Gate::log && !fla.l2norm));
  BOOST_TEST((vllm.layout == Layout::bthd && !vllm.state_kv && vllm.gate == Gate::log && vllm.l2norm == 1e-6));
  BOOST_TEST((flashinfer.layout == Layout::thd && !flashinfer.state_kv && flashinfer.gate == Gate::factor));
  BOOST_TEST((mamba.layout == Layout::bthd && !mamba.state_kv && mamba.gate == Gate::mamba));
  for (const Convention &c : {fla, vllm, flashinfer}) BOOST_TEST(c.scale.of(64) == 0.125);
  BOOST_TEST(mamba.scale.of(64) == 1);
  BOOST_CHECK_THROW(preset("flash"), Error);
}

BOOST_AUTO_TEST_CASE(names_in_files_are_the_conventions_and_the_layers) {
  using Names = std::vector<std::string>;
  const Convention own, fla = preset("fla");
  BOOST_TEST((names_in_files("alpha", own) == Names{"alpha"}));
  BOOST_TEST((names_in_files("final_state", own) == Names{"state"}));
  BOOST_TEST((names_in_files("dfinal_state", own) == Names{"dstate"}));
  BOOST_TEST((names_in_files("lambda", fla) == Names{"g", "lambda"}));
  BOOST_TEST((names_in_files("state", fla) == Names{"initial_state", "h0", "state"}));
  BOOST_TEST((names_in_files("final_state", fla) == Names{"final_state", "ht", "state"}));
  BOOST_TEST((names_in_files("q", preset("mamba")) == Names{"C", "q"}));
  Convention raw;
  raw.gate = Gate::gdn, raw.strength = Strength::sigmoid;
  BOOST_TEST((names_in_files("alpha", raw) == Names{"a", "alpha"}));
  BOOST_TEST((names_in_files("dbeta", raw) == Names{"db", "dbeta"}));
}

BOOST_AUTO_TEST_CASE(a_scale_is_a_finite_number_or_rsqrt) {
  BOOST_TEST((parse_scale("rsqrt").kind == Scale::rsqrt && parse_scale("0.5").value == 0.5));
  for (const char *wrong : {"inf", "nan", "half"}) BOOST_CHECK_THROW(parse_scale(wrong), Error);
}

BOOST_AUTO_TEST_CASE(values_of_flags_come_back) {
  for (const std::string &name : gate_names()) BOOST_TEST(name_of(parse_gate(name)) == name);
  for (const std::string &name : layout_names()) BOOST_TEST(name_of(parse_layout(name)) == name);
  for (const std::string &name : strength_names()) BOOST_TEST(name_of(parse_strength(name)) == name);
  BOOST_TEST(parse_scale("rsqrt").of(16) == 0.25);
  BOOST_TEST(parse_scale("0.5").of(16) == 0.5);
  BOOST_TEST((parse_scale("1").kind == Scale::number)); // which is not the default of a layer's parameter
  BOOST_TEST(text_of(parse_scale("0.5")) == "0.5");
  BOOST_CHECK_THROW(parse_scale("sqrt"), Error);
  BOOST_CHECK_THROW(parse_scale("inf"), Error);
  BOOST_CHECK_THROW(parse_gate("logs"), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
