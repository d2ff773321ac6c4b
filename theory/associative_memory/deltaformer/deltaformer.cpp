// SPDX-License-Identifier: Apache-2.0
// DeltaFormer (000 §2.2.1, Eq 37-42, Appendix C and D.1): the memory S_t = S_{t-1} (I - phi phi^T) + v phi^T, the
// equivalent sums over u, and the special cases DeltaNet and softmax attention.
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"

namespace recollect::theory {
namespace {
const std::vector<ParamSpec> sizes{key_width_param(8, 1, 1024), value_width_param(4, 1, 1024),
                                   steps_param(20, 3, 4096)};
Params params_of(const Shape &s) { return labels({{"T", s.T}, {"d", s.Dk}, {"dv", s.Dv}}); }

/// The sequence with w = k, and with the same alpha and the same beta at every step.
Sequence gated(Sequence s, double alpha, double beta) {
  s.alpha.assign(s.shape.T, alpha), s.beta.assign(s.shape.T, beta), s.w = s.k;
  return s;
}

/// The reads S_t phi(q_t) of Eq 37 with an explicit feature map: S_t = S_{t-1} (I - phi_t phi_t^T) + v_t phi_t^T.
Vector reads_of_the_state(const Dense &phi_k, const Dense &phi_q, const Dense &v) {
  Dense S(v.columns, phi_k.columns);
  Vector reads;
  for (int t = 0; t < v.rows; ++t) {
    const auto row = [t](const Dense &m) { return steps_of(m.data, {1, 1, m.rows}, t, t + 1); };
    S = S - outer(times(S, row(phi_k)), row(phi_k)) + outer(row(v), row(phi_k));
    const Vector o = times(S, row(phi_q));
    reads.insert(reads.end(), o.begin(), o.end());
  }
  return reads;
}

/// phi with phi(x) . phi(y) = sum_{m <= 20} (x.y)^m / m! in two dimensions: x1^a x2^b / sqrt(a! b!) for a + b <= 20 (Eq
/// 11, equal monomials merged). For |x.y| < 1 the rest is below 1/21! < 2e-20.
Dense exp_features(const Dense &x) {
  const int order = 20;
  Dense phi(x.rows, (order + 1) * (order + 2) / 2);
  for (int t = 0; t < x.rows; ++t)
    for (int m = 0, column = 0; m <= order; ++m)
      for (int a = 0; a <= m; ++a, ++column)
        phi(t, column) = std::pow(x(t, 0), a) * std::pow(x(t, 1), m - a) /
                         std::sqrt(std::tgamma(a + 1.0) * std::tgamma(m - a + 1.0));
  return phi;
}

/// The sums of Eq 39-40, correct or with one of them wrong.
Vector sums(const Rows &r, const Kernel &f, Triangle erased = Triangle::strict, bool recursive = true,
            Triangle read = Triangle::with_diagonal) {
  const Dense A = causal_weights(r.k, r.k, f, erased), I = Dense::identity(A.rows);
  const Dense u = recursive ? inverse(I + A) * r.v : (I - A) * r.v;
  return (causal_weights(r.k, r.q, f, read) * u).data;
}

Claim u_form() {
  ClaimBuilder c("deltaformer-u-form", "000 Eq 37-40, 82-90");
  c.says("Without the normaliser, the memory $S_t = S_{t-1} (I - phi(k_t) phi(k_t)^T) + v_t phi(k_t)^T$ read at "
         "$phi(q_t)$ is exactly the memory $S_t = S_{t-1} + u_t phi(k_t)^T$ with $u_t = v_t - sum_{i<t} kappa(k_i, "
         "k_t) u_i$. Its read is $o_t = sum_{i<=t} kappa(k_i, q_t) u_i$.");
  c.exactly("An identity, for any kernel that has a feature map.");
  c.runs({"delta_former"}), c.takes(sizes);
  return measure(c, [](Points &points, Seed seed, int d, int dv, int T) {
    const auto add = [&](const std::string &kernel, const Kernel &f, Sequence s, const auto &features) {
      const Assignments both{{"kappa1", kernel}, {"kappa2", kernel}};
      s = gated(s, 1, 1);
      const Rows r(s);
      points.at(params_of(s.shape).set("kernel", kernel)).rounding(rounding_units("delta_former", s, both));
      const Vector state = reads_of_the_state(features(r.k), features(r.q), r.v);
      points.statement("reads of delta_former, against reads of the state of Eq 37",
                       results_of("delta_former", s, both), state);
      points.wrong_system("the sum over $u_i$ added, not subtracted", results_of("delta_former", gated(s, 1, -1), both),
                          state);
      points.wrong_system("$v_i$ in place of $u_i$ in the read", results_of("delta_former", gated(s, 1, 0), both),
                          state);
      points.wrong_system("the own term of the step included in the sum", sums(r, f, Triangle::with_diagonal), state);
      points.wrong_system("$v_i$ in place of $u_i$ in the sum", sums(r, f, Triangle::strict, false), state);
      points.wrong_system("the read summed over $i < t$ only", sums(r, f, Triangle::strict, true, Triangle::strict),
                          state);
    };
    add("linear", linear_kernel, random_sequence({1, 1, T, d, dv}, seed), [](const Dense &x) { return x; });
    Sequence flat = random_sequence({1, 1, T, 2, dv}, seed);
    for (double &x : flat.k) x *= 0.8; // kappa(k,k) = exp(0.64) < 2, so a repeated write reduces the error
    add("exp", exp_kernel, flat, exp_features);
  });
}

Claim sums_are_delta_net() {
  ClaimBuilder c("eq93-deltanet", "000 Eq 91-93");
  c.says("Without kernel and normaliser, the memory $S_t = S_{t-1} + u_t k_t^T$ that stores $u_t = v_t - sum_{i<t} "
         "(k_i . k_t) u_i$ in place of $v_t$ is DeltaNet, $S_t = S_{t-1} (I - k_t k_t^T) + v_t k_t^T$.");
  c.exactly("An identity, on reads and final state, with DeltaNet's step size at 1.");
  c.runs({"delta_net"}), c.takes(sizes);
  return measure(c, [](Points &points, Seed seed, int d, int dv, int T) {
    const Sequence s = gated(random_sequence({1, 1, T, d, dv}, seed), 1, 1);
    const Rows r(s);
    const Dense A = causal_weights(r.k, r.k, linear_kernel, Triangle::strict), I = Dense::identity(A.rows);
    const auto stored = [&](const Dense &u) { // the reads, then the matrix S = sum u_i k_i^T
      Vector all = (causal_weights(r.k, r.q, linear_kernel, Triangle::with_diagonal) * u).data;
      append_column(all, transpose(u) * r.k);
      return all;
    };
    const Dense own = causal_weights(r.k, r.k, linear_kernel, Triangle::with_diagonal);
    const Vector predicted = stored(solve_unit_lower(A, r.v));
    points.at(params_of(s.shape))
        .rounding(rounding_units("delta_net", s))
        .statement("reads and state of DeltaNet, against those of the memory of $u_t$", results_of("delta_net", s),
                   predicted)
        .but_not("the sum over $u_i$ added, not subtracted", stored(solve_unit_lower(-1 * A, r.v)))
        .but_not("the own term of the step included in the sum", stored(inverse(I + own) * r.v))
        .but_not("$v_i$ in place of $u_i$ in the sum", stored(r.v - A * r.v));
    points.wrong_system("step size $1/2$", results_of("delta_net", filled(s, &Sequence::beta, 0.5)), predicted);
  });
}

Claim contains_delta_net() {
  ClaimBuilder c("deltaformer-special-deltanet", "000 after Eq 42");
  c.says("DeltaFormer with $alpha_t = 1$, $w_t = k_t$ and the inner product as both kernels is exactly DeltaNet.");
  c.exactly("With $beta_t = 1$ it is the DeltaNet of Table 2. To equal a DeltaNet with step size $beta_t$, DeltaFormer "
            "needs $alpha_t = beta_t$.");
  c.because("The text names no $beta_t$. The DeltaNet of Table 2 has none either, which means step size 1. With the "
            "same $beta_t$ below 1 in both models and $alpha = 1$ the two differ.");
  c.runs({"delta_former", "delta_net"}), c.takes(sizes);
  return measure(c, [](Points &points, Seed seed, int d, int dv, int T) {
    const Sequence base = random_sequence({1, 1, T, d, dv}, seed);
    const Assignments linear{{"kappa1", "linear"}, {"kappa2", "linear"}};
    const auto held = [&](const Sequence &former, const Sequence &net) {
      return exact_point(run("delta_former", former, linear).o, run("delta_net", net).o,
                         rounding_units("delta_former", former, linear));
    };
    const Sequence one = gated(base, 1, 1), half = gated(base, 1, 0.5);
    Sequence step = base;
    step.w = step.k, step.alpha = step.beta;
    points.at(params_of(base.shape))
        .statement("reads of DeltaFormer with $beta_t = 1$, against DeltaNet", held(one, one));
    points.obligation(
        "reads of DeltaFormer with $alpha_t = beta_t$ in (0.2, 1), against DeltaNet with step size $beta_t$",
        held(step, step));
    points.wrong_system("$alpha = 1$ with $beta = 1/2$ on both sides", held(half, half));
    points.wrong_system("$beta$ with the opposite sign", held(gated(base, 1, -1), one));
  });
}

Claim contains_attention() {
  ClaimBuilder c("deltaformer-special-transformer", "000 after Eq 42");
  c.says("DeltaFormer with $beta_t = 0$, $alpha_t = 1$ and the read $sum_i exp(k_i . q_t / sqrt d) u_i$ divided by the "
         "sum of its weights is causal softmax attention.");
  c.exactly(
      "An identity, since $u = v$. Eq 42 itself has no normaliser, so the read must be replaced, as the text does.");
  c.runs({"delta_former", "softmax"}), c.takes(sizes);
  return measure(c, [](Points &points, Seed seed, int d, int dv, int T) {
    const Sequence s = gated(random_sequence({1, 1, T, d, dv}, seed), 1, 0);
    const Rows r(s);
    const double root = std::sqrt(d);
    const auto attention = [&](double scale, Triangle seen) {
      const Kernel f = [scale](double x) { return std::exp(scale * x); };
      return (normalise_sums(causal_weights(r.k, r.q, f, seen)) * r.v).data;
    };
    const auto read_by = [&](const std::string &kappa2, double scale, const Sequence &of) {
      return results_of("delta_former", of, {{"kappa1", "softmax"}, {"kappa2", kappa2}, {"scale", number(scale)}});
    };
    const Vector predicted = attention(1 / root, Triangle::with_diagonal), measured = read_by("softmax", 1 / root, s);
    points.at(params_of(s.shape)).rounding(rounding_units("softmax", s));
    points.statement("reads of DeltaFormer, against softmax attention computed on the host", measured, predicted)
        .but_not("sum over $i < t$", attention(1 / root, Triangle::strict));
    points.obligation("reads of the layer softmax, against softmax attention computed on the host",
                      results_of("softmax", s), predicted);
    points.wrong_system("scores without $1/sqrt d$", read_by("softmax", 1, s), predicted);
    points.wrong_system("the read without its normaliser", read_by("exp", 1 / root, s), predicted);
    points.wrong_system("$beta = 1$", read_by("softmax", 1 / root, gated(s, 1, 1)), predicted);
  });
}
} // namespace

std::vector<Claim> deltaformer() {
  return {u_form(), sums_are_delta_net(), contains_delta_net(), contains_attention()};
}
} // namespace recollect::theory
