// SPDX-License-Identifier: Apache-2.0
// 002 TL;DR, §1-3: the cost per token and the memory of a layer. Multiplications are counted by running the layer's
// steps on a counting number; stored values are counted on the layers of the registry.
#include "harness/core/error.hpp"
#include "theory/support/counted_definition.hpp"
#include "theory/support/counted_layers.hpp"
#include "theory/support/dependence.hpp"
#include "theory/support/features.hpp"
#include "theory/support/one_head.hpp"

namespace recollect::theory {
namespace {

/// Multiplications of the last token.
template <class Layer> double last_token(const Sequence &s, const Layer &layer) {
  const double all = count([&] { layer(Tokens<Counted>(s)); });
  if (s.shape.T == 1) return all;
  return all - count([&] { layer(Tokens<Counted>(slice_steps(s, 0, s.shape.T - 1))); });
}
const auto softmax_layer = [](const Tokens<Counted> &x) { return Attention<Counted>(x); };
const auto linear_layer = [](const Tokens<Counted> &x) { return linear_reads(x); };
const auto delta_layer = [](const Tokens<Counted> &x) { return delta_reads(x); };

/// The counted steps compute what the layer of the registry computes.
Point same_reads(const std::string &variant, const Sequence &s, const std::vector<double> &counted,
                 const Assignments &set = {}) {
  const Measured layer{run(variant, s, set).o, rounding_units(variant, s, set)};
  return layer.against(counted);
}
std::vector<double> averages(const Attention<Counted> &x) {
  std::vector<double> all;
  for (size_t t = 0; t < x.sums.size(); ++t)
    for (const Counted &sum : x.sums[t]) all.push_back(sum.value / x.masses[t].value);
  return all;
}

Params sized(int T, int dk, int dv) { return labels({{"T", num(T)}, {"dk", num(dk)}, {"dv", num(dv)}}); }
Sequence sequence_of(const Params &p, std::uint64_t seed) {
  Sequence s = random_sequence({1, 1, p.integer("T"), p.integer("dk"), p.integer("dv")}, seed);
  s.beta.assign(s.shape.T, 1);
  return s;
}
/// Each number is tested separately, with one pass each.
void few_enough(const Params &p) {
  if (p.real("T") * (p.real("dk") + p.real("dv")) > 4096)
    usage_error("numbers are counted one by one: use T (dk + dv) <= 4096");
}
std::vector<ParamSpec> sizes(int T, int dk, int dv) {
  return {integer_param("T", T, 2, 1000, "tokens"), integer_param("dk", dk, 1, 64, "width of the keys, or of phi(k)"),
          integer_param("dv", dv, 1, 64, "value width")};
}

// ---- Softmax attention ----------------------------------------------------------------------------------------------

std::vector<Point> softmax_cost(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {sized(16, 8, 4), sized(64, 8, 4)})) {
    few_enough(p);
    const Sequence s = sequence_of(p, protocol.seed);
    const double L = s.shape.T, dk = s.shape.Dk, dv = s.shape.Dv, width = dk + dv;
    const Tokens<Counted> tokens(s);
    const auto counted = [](double measured, double predicted) { return exact_point(measured, predicted, 0); };
    const Point all = as_statement(counted(count([&] { softmax_layer(tokens); }), L * (L + 1) / 2 * width), p,
                                   "multiplications of L tokens: L (L+1) / 2 (dk + dv)");
    const Point last =
        as_statement(counted(last_token(s, softmax_layer), L * width), p, "multiplications of token t: t (dk + dv)");
    const Point cache = as_statement(counted(numbers_read("softmax", s), L * width), p,
                                     "numbers that the last read depends on: t (dk + dv)");
    append(points, {all, last, cache});
    if (2 * L * dk * dv != all.predicted)
      points.push_back(
          rival_system(counted(count([&] { linear_layer(tokens); }), all.predicted), p, "linear attention"));
    points.push_back(rival_law(all, "L (L-1) / 2", L * (L - 1) / 2 * width));
    points.push_back(rival_law(all, "L^2, without causality", L * L * width));
    points.push_back(rival_law(last, "t-1 for t", (L - 1) * width));
    points.push_back(rival_law(cache, "the keys alone", L * dk));
    points.push_back(as_obligation(same_reads("softmax", s, averages(Attention<Counted>(tokens)), {{"scale", "1"}}), p,
                                   "the counted steps read as softmax"));
    points.push_back(as_obligation(counted(count([&] { linear_layer(tokens); }), 2 * L * dk * dv), p,
                                   "linear attention: 2 L dk dv"));
    if (!counts_work()) continue;
    const auto definition = [&](const char *layer) {
      return products_by_widths(layer, s.shape.T, s.shape.Dk, s.shape.Dv);
    };
    points.push_back(as_obligation(counted(definition("softmax"), all.predicted), p,
                                   "the layer's definition: L (L+1) / 2 (dk + dv)"));
    points.push_back(
        rival_system(counted(definition("ffn_relu"), all.predicted), p, "the definition of ffn_relu, which reads all"));
  }
  return points;
}

Claim softmax_claim() {
  return explained(
      at_parameters(
          running(
              ledger_row("blog-softmax-quadratic", "002 TL;DR, §1",
                         "Softmax attention pays for its recall with a KV cache that grows linearly with the "
                         "context, and with quadratic compute.",
                         "A cache of $t (d_k + d_v)$ numbers at token $t$, all of which the read depends on, and as "
                         "many multiplications: $L (L+1) / 2 (d_k + d_v)$ in all.",
                         softmax_cost),
              {"softmax"}),
          sizes(64, 8, 4)),
      "Counted in multiplications of one head; the exponentials, one a pair, come on top.");
}

// ---- A token of a fixed state ---------------------------------------------------------------------------------------

std::vector<Point> token_cost(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {sized(1, 12, 5), sized(10, 12, 5), sized(1000, 12, 5)})) {
    Sequence s = sequence_of(p, protocol.seed);
    s.q = elu_plus_one(s.q), s.k = elu_plus_one(s.k); // phi, which keeps the width
    const double T = s.shape.T, area = double(s.shape.Dk) * s.shape.Dv;
    const auto counted = [](double measured, double predicted) { return exact_point(measured, predicted, 0); };
    const Point token = as_statement(counted(last_token(s, linear_layer), 2 * area), p,
                                     "multiplications of token T: dv dphi to write, dv dphi to read");
    points.push_back(token);
    points.push_back(as_obligation(same_reads("linear", s, values_of(linear_reads(Tokens<Counted>(s)))), p,
                                   "the counted steps read as linear attention"));
    points.push_back(
        rival_system(counted(last_token(s, delta_layer), 2 * area), p, "DeltaNet, which reads before it writes too"));
    if (counts_work()) { // the token that comes last: T tokens minus T - 1
      const auto definition = [&](const char *layer) {
        const double before = T == 1 ? 0 : products_by_area(layer, s.shape.T - 1, s.shape.Dk, s.shape.Dv);
        return counted(products_by_area(layer, s.shape.T, s.shape.Dk, s.shape.Dv) - before, 2 * area);
      };
      points.push_back(as_obligation(definition("linear"), p, "the layer's definition: dv dphi twice"));
      points.push_back(rival_system(definition("delta_net"), p, "the definition of DeltaNet"));
    }
    points.push_back(rival_law(token, "the write alone", area));
    points.push_back(rival_law(token, "3 dv dphi", 3 * area));
    if (T > 2 * area / (s.shape.Dk + s.shape.Dv))
      points.push_back(rival_law(token, "the cost of softmax at T", T * (s.shape.Dk + s.shape.Dv)));
  }
  return points;
}

Claim token_claim() {
  return explained(
      at_parameters(
          running(
              ledger_row("blog-cost-per-token", "002 §2",
                         "Each step writes a rank-1 matrix into a state of $d_v x d_phi$ and reads it: $O(d_v d_phi)$ "
                         "a token, regardless of the sequence's length.",
                         "$d_v d_phi$ multiplications to write and $d_v d_phi$ to read.", token_cost),
              {"linear"}),
          sizes(10, 12, 5)),
      "Softmax passes this cost from $t = 2 d_k d_v / (d_k + d_v)$ tokens on.");
}

// ---- Cache over state -----------------------------------------------------------------------------------------------

/// Numbers of the state that the next token's read depends on, after all but the last step.
double state_numbers(const std::string &variant, const Sequence &s) {
  const int T = s.shape.T;
  Sequence next = slice_steps(s, T - 1, T);
  next.state = run(variant, slice_steps(s, 0, T - 1)).state;
  const std::vector<double> before = run(variant, next).o;
  double moved = 0;
  for (size_t i = 0; i < next.state.size(); ++i) {
    Sequence changed = next;
    changed.state[i] += 0.5;
    moved += run(variant, changed).o != before;
  }
  return moved;
}

std::vector<Point> compression(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {sized(25, 4, 12), sized(24, 8, 8), sized(4, 8, 8)})) {
    few_enough(p);
    const Sequence s = sequence_of(p, protocol.seed);
    const double t = s.shape.T, dk = s.shape.Dk, dv = s.shape.Dv;
    const double kept = numbers_read("softmax", s);
    const auto over = [&](const std::string &variant, double predicted) {
      return exact_point(kept / state_numbers(variant, s), predicted, 4 * predicted);
    };
    const Point ratio = as_statement(over("linear", t * (1 / dk + 1 / dv)), p, "cache over state: t (1/dk + 1/dv)");
    points.push_back(ratio);
    points.push_back(rival_system(over("linear_elu", ratio.predicted), p, "a state that keeps z as well"));
    points.push_back(rival_law(ratio, "t-1 for t", (t - 1) * (1 / dk + 1 / dv)));
    if (dk != dv) points.push_back(rival_law(ratio, "2 t over the mean width", 4 * t / (dk + dv)));
    if (dk == dv) points.push_back(as_statement(over("linear", 2 * t / dk), p, "equal widths: exactly 2 t / d"));
    // The state suffices: starting from it, the last read is the same.
    Sequence next = slice_steps(s, s.shape.T - 1, s.shape.T);
    next.state = run("linear", slice_steps(s, 0, s.shape.T - 1)).state;
    const std::vector<double> o = run("linear", s).o;
    points.push_back(
        as_obligation(exact_point(run("linear", next).o, {o.end() - s.shape.Dv, o.end()}, rounding_units("linear", s)),
                      p, "the state alone reads as the whole sequence does"));
  }
  return points;
}

Claim compression_claim() {
  return explained(
      at_parameters(
          running(
              ledger_row("blog-compression", "002 §3",
                         "The cache over the state is $t (d_k + d_v) / (d_k d_v)$, about $2 t / d$ where $d_k = d_v = "
                         "d$.",
                         "$t (1/d_k + 1/d_v)$, exactly $2 t / d$ for equal widths: equal size at $t = d / 2$.",
                         compression),
              {"softmax", "linear", "linear_elu"}),
          sizes(25, 4, 12)),
      "Counted on the layers: the numbers of cache and state that the next read depends on.");
}

} // namespace

std::vector<Claim> section_2_cost() { return {softmax_claim(), token_claim(), compression_claim()}; }

} // namespace recollect::theory
