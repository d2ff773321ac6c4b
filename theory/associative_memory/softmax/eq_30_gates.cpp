// SPDX-License-Identifier: Apache-2.0
// Gated attention unrolled (000 Eq 30-31), and what keeping the pairs for a kernel costs in space (§2.2.1).
#include "theory/support/dependence.hpp"
#include "theory/support/one_head.hpp"
#include "theory/support/stored.hpp"

namespace recollect::theory {
namespace {
/// sum_i v_i (prod_{j = i + first}^{t - last} alpha_j) q_t.k_i at every t.
Vector unrolled(const Sequence &s, int first, int last) {
  const int T = s.shape.T, d = s.shape.Dk, dv = s.shape.Dv;
  Vector reads(size_t(T) * dv, 0.0);
  for (int t = 0; t < T; ++t)
    for (int i = 0; i <= t; ++i) {
      double weight = inner(&s.q[size_t(t) * d], &s.k[size_t(i) * d], d);
      for (int j = i + first; j <= t - last; ++j) weight *= s.alpha[j];
      for (int c = 0; c < dv; ++c) reads[t * dv + c] += weight * s.v[i * dv + c];
    }
  return reads;
}

Claim gating_unrolled() {
  ClaimBuilder c("gating-unrolled", "000 Eq 30-31; 002 §5");
  c.says("Gated attention reads $o_t = sum_i v_i g_i kappa(q_t, k_i)$ with $g_i = prod_{j=i+1..t} alpha_j$ "
         "(normalisation omitted).");
  c.exactly("With the linear kernel this is $S_t = alpha_t S_{t-1} + v_t k_t^T$ read at $q_t$. The product is empty at "
            "$i = t$, where $g_t = 1$.");
  c.because("The gate of a step does not reduce the write of the same step; every later gate does.");
  c.runs({"gated_linear"}), c.takes({steps_param(20, 2, 128), key_width_param(8, 1, 64), value_width_param(4, 1, 64)});
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    Sequence s = normal_sequence(shape, seed, "gates");
    s.alpha = Stream(seed, "gates/alpha").uniforms(shape.T, 0.6, 1);
    const Vector right = unrolled(s, 1, 0);
    points.rounding(rounding_units("gated_linear", s))
        .statement("$o_t$ at every t, against the sum with gates", run("gated_linear", s).o, right)
        .but_not("gates multiplied from $j = i$", unrolled(s, 0, 0))
        .but_not("gates multiplied up to $j = t - 1$", unrolled(s, 1, 1));
    points.wrong_system("all gates 1", run("gated_linear", filled(s, &Sequence::alpha, 1)).o, right);
  });
}

/// Compares two sizes: the number of elements of earlier keys and values on which the last read depends, and the size
/// of the linear kernel's state.
Claim kernel_trick_space() {
  ClaimBuilder c("kernel-trick-space", "000 §2.2.1, first bullet");
  c.says(
      "Stricter reading: the exp kernel improves recall and needs no more space than the state of the linear kernel.");
  c.is_refuted(stricter("§2.2.1, first bullet: the exponential kernel 'efficiently enhances memory recall accuracy by "
                        "performing additional kernel computations without increasing spatial complexity'.",
                        "softmax attention, which keeps the pairs",
                        "The text says nothing more about space. It compares memories that keep the pairs, not the "
                        "state matrix of the linear kernel."));
  c.exactly("The exp kernel stores the pairs, which are $t (d_k + d_v)$ numbers, and the linear kernel stores a state "
            "of $d_k d_v$ numbers. The ratio is $t (1/d_k + 1/d_v)$, 128 at $t = 4096$, $d = 64$.");
  c.because("If both kernels store the pairs, as attention does, the exp kernel needs no more space.");
  c.runs({"exp_unnormalized", "linear"});
  c.takes({integer_param("t", 12, 2, 48, "steps"), key_width_param(3, 1, 16), value_width_param(2, 1, 16)});
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence s = random_sequence(shape, seed);
    const double t = shape.T, d = shape.Dk, dv = shape.Dv, pairs = t * (d + dv);
    if (pairs <= d * dv)
      usage_error("kernel_trick_space is about more pairs than the state has room for: t > d dv / (d + dv)");
    const Output linear = run("linear", s);
    const double kept = numbers_read("exp_unnormalized", s), state = double(linear.state.size());
    // The past affects later reads only through the state: the layer, started from the state alone, must have the same
    // next read.
    const Sequence forgotten = random_sequence({1, 1, 1, shape.Dk, shape.Dv}, seed + 1);
    Sequence resumed = forgotten, whole = of_shape({1, 1, shape.T + 1, shape.Dk, shape.Dv});
    resumed.state = linear.state;
    for (auto part : {&Sequence::q, &Sequence::k, &Sequence::v}) {
      whole.*part = s.*part;
      (whole.*part).insert((whole.*part).end(), (forgotten.*part).begin(), (forgotten.*part).end());
    }
    const Vector all = run("linear", whole).o, last(all.end() - shape.Dv, all.end());
    points.statement("numbers that the exp kernel stores, at most those of the linear kernel's state",
                     at_most_point(kept, state, 0));
    points.rounding(0)
        .obligation("numbers that the exp kernel stores: $t (d_k + d_v)$", kept, pairs)
        .but_not("$t - 1$ pairs", (t - 1) * (d + dv));
    points.obligation("numbers that the linear kernel stores if it stores the pairs: $t (d_k + d_v)$",
                      numbers_read("linear", s), pairs);
    points.obligation("numbers in the linear kernel's state: $d_k d_v$", state, d * dv)
        .but_not("$d_k d_v + d_k$, with a normaliser", d * dv + d);
    points.rounding(rounding_units("linear", whole));
    points.wrong_system("next read without the state", run("linear", forgotten).o, last);
    points.obligation("next read from the state alone, against the next read of the whole sequence",
                      run("linear", resumed).o, last);
    points.rounding(8 * t).obligation("numbers of the pairs / numbers of the state", kept / state,
                                      t * (1 / d + 1 / dv));
  });
}
} // namespace

std::vector<Claim> eq_30_gates() { return {gating_unrolled(), kernel_trick_space()}; }
} // namespace recollect::theory
