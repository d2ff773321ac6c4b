// SPDX-License-Identifier: Apache-2.0
// 002 TL;DR, §1-3: the memory and the cost per token. The cost is in multiplications, counted by running the steps on a
// number type that counts.
#include "theory/support/counted_definition.hpp"
#include "theory/support/counted_layers.hpp"
#include "theory/support/dependence.hpp"
#include "theory/support/features.hpp"
#include "theory/support/measure.hpp"
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

/// The statement: the counted steps compute the same as the registry's layer.
Point same_reads(const std::string &variant, const Sequence &s, const Vector &counted, const Assignments &set = {}) {
  return exact_point(run(variant, s, set).o, counted, rounding_units(variant, s, set));
}

Sequence sequence_of(const Shape &shape, Seed seed) {
  Sequence s = random_sequence(shape, seed);
  s.beta.assign(s.shape.T, 1);
  return s;
}
/// Refuses large shapes, because the dependence on each number is tested by a separate pass.
void few_enough(const Shape &s) {
  if (s.T * (s.Dk + s.Dv) > 4096) usage_error("numbers are counted one by one: use T (dk + dv) <= 4096");
}
std::vector<ParamSpec> sizes(int T, int dk, int dv) {
  return {integer_param("T", T, 2, 1000, "tokens"), integer_param("dk", dk, 1, 64, "width of the keys, or of $phi(k)$"),
          integer_param("dv", dv, 1, 64, "value width")};
}

Claim softmax_cost() {
  ClaimBuilder c("blog-softmax-quadratic", "002 TL;DR, §1");
  c.says("Softmax attention pays for its recall with a KV cache that grows linearly with the context, and with compute "
         "that grows quadratically.");
  c.exactly("At token $t$ the cache has $t (d_k + d_v)$ numbers. The read of token $t$ depends on all of them and "
            "takes one multiplication per number. $L$ tokens together take $L (L+1) / 2 (d_k + d_v)$ multiplications.");
  c.because("The multiplications of one head are counted. The exponentials, one per pair of query and key, are not.");
  c.runs({"softmax"}), c.takes(sizes(64, 8, 4)), c.at({{{"T", 16}}, {}});
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    few_enough(shape);
    const Sequence s = sequence_of(shape, seed);
    const double L = s.shape.T, dk = s.shape.Dk, dv = s.shape.Dv, width = dk + dv, law = L * (L + 1) / 2 * width;
    const Tokens<Counted> tokens(s);
    const double linear = count([&] { linear_layer(tokens); });
    points.rounding(0);
    points.statement("multiplications of L tokens: $L (L+1) / 2 (dk + dv)$", count([&] { softmax_layer(tokens); }), law)
        .but_not("$L (L-1) / 2 (dk + dv)$", L * (L - 1) / 2 * width)
        .but_not("$L^2 (dk + dv)$, as without the causal mask", L * L * width);
    points.statement("multiplications of token t: $t (dk + dv)$", last_token(s, softmax_layer), L * width)
        .but_not("$(t-1) (dk + dv)$", (L - 1) * width);
    points.statement("numbers that the last read depends on: $t (dk + dv)$", numbers_read("softmax", s), L * width)
        .but_not("the keys alone: $t dk$", L * dk);
    if (2 * L * dk * dv != law) points.wrong_system("linear attention", linear, law);
    points.obligation("the code whose multiplications are counted computes softmax attention",
                      same_reads("softmax", s, Attention<Counted>(tokens).reads(), {{"scale", "1"}}));
    points.obligation("multiplications of linear attention: $2 L dk dv$", linear, 2 * L * dk * dv);
    if (!counts_work()) return;
    const auto definition = [&](const char *v) { return products_by_widths(v, shape.T, shape.Dk, shape.Dv); };
    points.obligation("multiplications in the definition of softmax attention: $L (L+1) / 2 (dk + dv)$",
                      definition("softmax"), law);
    points.wrong_system("the definition of ffn_relu, which has no causal mask", definition("ffn_relu"), law);
  });
}

Claim token_cost() {
  ClaimBuilder c("blog-cost-per-token", "002 §2");
  c.says("Each step writes a rank-1 matrix into a state of $d_v x d_phi$ numbers ($d_phi$: width of $phi(k)$) and "
         "reads the state. This costs $O(d_v d_phi)$ per token, regardless of the length of the sequence.");
  c.exactly("A token takes $d_v d_phi$ multiplications to write and $d_v d_phi$ to read.");
  c.because("Softmax attention costs more per token than this beyond $t = 2 d_k d_v / (d_k + d_v)$ tokens.");
  c.runs({"linear"}), c.takes(sizes(10, 12, 5)), c.at({{{"T", 1}}, {}, {{"T", 1000}}});
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    Sequence s = sequence_of(shape, seed);
    s.q = elu_plus_one(s.q), s.k = elu_plus_one(s.k); // this phi does not change the width
    const double T = s.shape.T, width = s.shape.Dk + s.shape.Dv, area = double(s.shape.Dk) * s.shape.Dv;
    points.rounding(0);
    auto token = points.statement("multiplications of token T: $dv dphi$ to write and $dv dphi$ to read",
                                  last_token(s, linear_layer), 2 * area);
    token.but_not("the write alone: $dv dphi$", area).but_not("$3 dv dphi$", 3 * area);
    if (T > 2 * area / width) token.but_not("the cost of softmax attention: $T (dk + dv)$", T * width);
    points.obligation("the code whose multiplications are counted computes linear attention",
                      same_reads("linear", s, values_of(linear_reads(Tokens<Counted>(s)))));
    points.wrong_system("DeltaNet, which also reads before it writes", last_token(s, delta_layer), 2 * area);
    if (!counts_work()) return;
    const auto total = [&](const char *v, int T) { return T ? products_by_area(v, T, shape.Dk, shape.Dv) : 0; };
    const auto definition = [&](const char *v) { return total(v, shape.T) - total(v, shape.T - 1); }; // the last token
    points.obligation("multiplications of token T in the definition of linear attention: $2 dv dphi$",
                      definition("linear"), 2 * area);
    points.wrong_system("the definition of DeltaNet", definition("delta_net"), 2 * area);
  });
}

/// The last step of the sequence as a sequence that starts from the layer's state before this step.
Sequence last_step(const std::string &variant, const Sequence &s) {
  Sequence next = slice_steps(s, s.shape.T - 1, s.shape.T);
  next.state = run(variant, slice_steps(s, 0, s.shape.T - 1)).state;
  return next;
}
/// How many numbers of the state before the last step change the read of that step.
double state_numbers(const std::string &variant, const Sequence &s) {
  const Sequence next = last_step(variant, s);
  const Vector before = run(variant, next).o;
  double moved = 0;
  for (size_t i = 0; i < next.state.size(); ++i) {
    Sequence changed = next;
    changed.state[i] += 0.5;
    moved += run(variant, changed).o != before;
  }
  return moved;
}

Claim compression() {
  ClaimBuilder c("blog-compression", "002 §3");
  c.says("The cache of $t$ tokens is $t (d_k + d_v) / (d_k d_v)$ times as large as the state, about $2 t / d$ times "
         "where $d_k = d_v = d$.");
  c.exactly("The ratio is $t (1/d_k + 1/d_v)$. For equal widths $d$ it is exactly $2 t / d$, so that cache and state "
            "have equal size at $t = d / 2$.");
  c.because(
      "Both sizes are measured on the layers: each is the count of the stored numbers on which the last read depends.");
  c.runs({"softmax", "linear", "linear_elu"}), c.takes(sizes(25, 4, 12));
  c.at({{}, {{"T", 24}, {"dk", 8}, {"dv", 8}}, {{"T", 4}, {"dk", 8}, {"dv", 8}}});
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    few_enough(shape);
    const Sequence s = sequence_of(shape, seed);
    const double t = s.shape.T, dk = s.shape.Dk, dv = s.shape.Dv, law = t * (1 / dk + 1 / dv);
    const double kept = numbers_read("softmax", s), ratio = kept / state_numbers("linear", s);
    points.rounding(4 * law);
    auto over = points.statement("size of the cache / size of the state: $t (1/dk + 1/dv)$", ratio, law)
                    .but_not("$(t-1) (1/dk + 1/dv)$", (t - 1) * (1 / dk + 1 / dv));
    if (dk != dv) over.but_not("$2 t$ / mean of dk and dv", 4 * t / (dk + dv));
    points.wrong_system("a state that also holds the denominator's vector z", kept / state_numbers("linear_elu", s),
                        law);
    if (dk == dv)
      points.rounding(4 * (2 * t / dk))
          .statement("size of the cache / size of the state at $dk = dv = d$: exactly $2 t / d$", ratio, 2 * t / dk);
    // The state is enough: a run that starts from it has the same last read.
    const Sequence next = last_step("linear", s);
    const Vector o = run("linear", s).o;
    points.rounding(rounding_units("linear", s));
    points.obligation("last read of a run that starts from the state, against a run over all tokens",
                      run("linear", next).o, Vector(o.end() - s.shape.Dv, o.end()));
  });
}
} // namespace

std::vector<Claim> section_2_cost() { return {softmax_cost(), token_cost(), compression()}; }
} // namespace recollect::theory
