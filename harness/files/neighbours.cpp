// SPDX-License-Identifier: Apache-2.0
#include "harness/files/neighbours.hpp"
#include <algorithm>

namespace recollect {
namespace {

const ConventionMistake &named(std::string_view name) {
  return *std::find_if(convention_mistakes().begin(), convention_mistakes().end(),
                       [&](const ConventionMistake &one) { return one.name == name; });
}

constexpr double usual_eps = 1e-6; // the usual value of --l2norm

/// The gates with other formulas that are computed from the same datasets.
std::vector<Gate> other_gates(Gate own) {
  if (own == Gate::gdn || own == Gate::kda) return {Gate::kda_lb};
  if (own == Gate::kda_lb) return {Gate::kda};
  std::vector<Gate> others;
  for (Gate gate : {Gate::factor, Gate::log, Gate::log2, Gate::rwkv})
    if (gate != own && own != Gate::mamba) others.push_back(gate);
  return others;
}

} // namespace

const std::vector<ConventionMistake> &convention_mistakes() {
  static const std::vector<ConventionMistake> all{
      {"layout_differs",
       "dimensions of arrays over steps are in another order than --layout says",
       "every output, where T and H are more than 1; if T and H differ, the shape does not fit",
       {"fla #547"}},
      {"state_order_differs",
       "states are [Dk,Dv] in place of [Dv,Dk], or the other way round: --state",
       "outputs where an initial state is given, and the final state; where Dk and Dv differ, as a shape that does not "
       "fit",
       {"vllm #40956", "vllm #41292", "sgl-kernel-npu #640", "ROCm/aiter #4057", "fla #351"}},
      {"gate_form_differs",
       "gates are not what --gate says: factors in place of logarithms or the other way round, logarithms to another "
       "base, or raw gates of another formula",
       "every output, where gates are not 1",
       {"flashinfer #2490", "flashinfer #3680", "vllm #32846"}},
      {"write_strength_form_differs",
       "a sigmoid or a doubling of the write strengths is missing, or applied although --beta does not say so",
       "every output",
       {"PrismML llama.cpp #237"}},
      {"scale_differs",
       "queries are divided by sqrt(Dk) although --scale does not say so, or the other way round",
       "every output, by one factor where the layer is linear in the query",
       {"mlx-lm #1798"}},
      {"l2norm_differs",
       "queries and keys are normalised although --l2norm does not say so, or the other way round",
       "every output, where queries or keys are not unit vectors",
       {"fla c:cde25dfd (#483)"}},
      {"shared_heads_interleaved",
       "head h of the H of the result reads, of N shared heads, head h % N in place of h / (H / N)",
       "grouped heads: every head but the first and the last",
       {"transformers #37533"}},
      {"texts_joined",
       "a packed text starts from the final state of the one before",
       "packed texts: outputs and states of every text but the first",
       {"mamba c:7438488 (#911)"}},
      {"skip_term_missing", "outputs lack the skip term D v", "every output of a Mamba kernel that was given D", {}},
      {"output_gate_missing",
       "outputs are not multiplied by silu(z)",
       "every output of a Mamba kernel that was given z",
       {}}};
  return all;
}

std::vector<Neighbour> neighbours(const Convention &c) {
  std::vector<Neighbour> all;
  const auto add = [&](const char *mistake, const std::string &said, const auto &change) {
    Neighbour other{said, c, &named(mistake)};
    change(other.convention);
    all.push_back(std::move(other));
  };
  const auto flag = [](const char *name, const std::string &value) { return std::string(name) + " " + value; };
  for (Layout layout : {Layout::bhtd, Layout::bthd, Layout::thd})
    if (layout != c.layout)
      add("layout_differs", flag("--layout", name_of(layout)), [&](Convention &o) { o.layout = layout; });
  add("state_order_differs", flag("--state", c.state_kv ? "vk" : "kv"),
      [](Convention &o) { o.state_kv = !o.state_kv; });
  for (Gate gate : other_gates(c.gate))
    add("gate_form_differs", flag("--gate", name_of(gate)), [&](Convention &o) { o.gate = gate; });
  for (Strength strength : {Strength::factor, Strength::sigmoid, Strength::doubled, Strength::sigmoid_double})
    if (strength != c.strength)
      add("write_strength_form_differs", flag("--beta", name_of(strength)),
          [&](Convention &o) { o.strength = strength; });
  for (const Scale &scale : {Scale{Scale::number, 1}, Scale{Scale::rsqrt, 1}})
    if (scale.kind != c.scale.kind || scale.value != c.scale.value)
      add("scale_differs", flag("--scale", text_of(scale)), [&](Convention &o) { o.scale = scale; });
  if (c.l2norm) add("l2norm_differs", "no --l2norm: q and k as they are", [](Convention &o) { o.l2norm.reset(); });
  if (c.l2norm != usual_eps) add("l2norm_differs", "--l2norm 1e-6", [](Convention &o) { o.l2norm = usual_eps; });
  add("shared_heads_interleaved",
      "head h of the H of the result reading, of N shared heads, head h % N in place of h / (H / N)",
      [](Convention &o) { o.heads_interleaved = true; });
  add("texts_joined", "every packed text starting from the final state of the one before",
      [](Convention &o) { o.texts_joined = true; });
  if (c.gate == Gate::mamba) {
    add("skip_term_missing", "outputs that lack D v", [](Convention &o) { o.skip_ignored = true; });
    add("output_gate_missing", "outputs that are not multiplied by silu(z)",
        [](Convention &o) { o.gate_ignored = true; });
  }
  return all;
}

} // namespace recollect
