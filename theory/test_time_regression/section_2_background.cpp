// SPDX-License-Identifier: Apache-2.0
// 003 §2: the recurrences with which the paper begins: linear attention (Eq 2-3) and DeltaNet (Eq 5-6).
#include "theory/support/delta_recursion.hpp"
#include "theory/support/features.hpp"
#include "theory/support/measure.hpp"
#include "theory/support/one_head.hpp"

namespace recollect::theory {
namespace {
/// The reads sum v_i k_i^T q_t over the pairs seen so far, and the last memory.
Output sums(const Sequence &s, Triangle triangle) {
  const int T = s.shape.T, Dk = s.shape.Dk, Dv = s.shape.Dv;
  const Dense Q = rows_of(s.q, T, Dk), K = rows_of(s.k, T, Dk), V = rows_of(s.v, T, Dv);
  return {(causal_weights(K, Q, linear_kernel, triangle) * V).data, (transpose(V) * K).data, {Dv, Dk}};
}

Claim linear_recurrence() {
  ClaimBuilder c("linattn-recurrence", "003 Eq 2-3");
  c.says("Linear attention updates $M_t = M_{t-1} + v_t k_t^T$ and reads $y_t = M_t q_t = sum_{i<=t} v_i k_i^T q_t$, "
         "so that all $T$ outputs take $O(T)$ time. The same holds with features $phi(k)$, $phi(q)$ in place of $k$, "
         "$q$. The paper drops the normaliser of the original layer.");
  c.exactly("This is an identity at every prefix.");
  c.because("A step writes before it reads, so $y_t$ includes the pair $(k_t, v_t)$.");
  c.runs({"linear", "delta_net", "linear_elu"}), c.takes(one_head_params(point_P));
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence s = random_sequence(shape, seed);
    const Measured layer = measured("linear", s);
    points.statement("$M_t q_t$ is the sum of $v_i k_i . q_t$", layer.against(sums(s, Triangle::with_diagonal)))
        .but_not("read before write", layer.against(sums(s, Triangle::strict)));
    points.wrong_system("DeltaNet", measured("delta_net", s).against(sums(s, Triangle::with_diagonal)));
    Sequence mapped = s, keys_only = s; // phi = 1 + ELU
    mapped.q = elu_plus_one(s.q), mapped.k = elu_plus_one(s.k);
    keys_only.k = mapped.k;
    const Measured features = measured("linear", mapped);
    const Output expected = sums(mapped, Triangle::with_diagonal);
    points.statement("with $phi$ = 1 + ELU: the sum of $v_i phi(k_i) . phi(q_t)$", features.against(expected))
        .but_not("$phi$ on the keys only", features.against(sums(keys_only, Triangle::with_diagonal)));
    points.wrong_system("divided by the normaliser, which the paper drops",
                        exact_point(run("linear_elu", s).o, expected.o, features.units));
  });
}

/// M - erased M k k^T + (kept M k + written v) k^T; the three factors are functions of beta.
template <class F> Output rewritten(const Sequence &s, const F &erased, const F &kept, const F &written) {
  return stepped(s, [&](const Dense &M, const Dense &k, const Dense &v, int t) {
    const Dense old = M * k;
    const double beta = s.beta[t];
    return M - erased(beta) * write(old, k) + write(kept(beta) * old + written(beta) * v, k);
  });
}

Claim old_and_new_values() {
  ClaimBuilder c("deltanet-eq5-eq6", "003 Eq 5-6");
  c.says("DeltaNet retrieves the value $v_old = M_{t-1} k_t$ with the new key, deletes this value, and binds $v_new = "
         "beta v + (1 - beta) v_old$ to the key, with $beta$ in [0, 1]. The memory becomes $M_{t-1} (I - beta k k^T) + "
         "beta v k^T$.");
  c.exactly("This is an identity. After the deletion alone, a read at $k$ gives $(1 - |k|^2) M k$.");
  c.because("In Eq 5 the overbrace for $v_new$ covers $M k$ instead of the whole bracket; the formula itself is right. "
            "The deletion is complete only for keys of length 1, which the paper does not say.");
  c.runs({"delta_net", "linear"}), c.takes(one_head_params(point_P));
  return c.measure([](Points &points, const Params &p, const Protocol &protocol) {
    using Factor = double (*)(double);
    const Factor one = [](double) { return 1.0; }, minus = [](double) { return -1.0; },
                 share = [](double b) { return b; }, rest = [](double b) { return 1 - b; },
                 none = [](double) { return 0.0; };
    const Sequence s = random_sequence(shape_of(p), protocol.seed);
    const Measured layer = measured("delta_net", s);
    const auto is = [&](Factor erased, Factor kept, Factor added) {
      return layer.against(rewritten(s, erased, kept, added));
    };
    points.statement("Eq 5 (delete $v_old$, write $beta v + (1 - beta) v_old$) is Eq 6", is(one, rest, share))
        .but_not("Eq 6 with erasure without $beta$", is(one, none, share))
        .but_not("Eq 6 with a write without $beta$", is(share, none, one))
        .but_not("Eq 6 with erasure of the opposite sign", is(minus, rest, share));
    points.wrong_system("linear attention: no deletion", measured("linear", s).against(rewritten(s, one, rest, share)));
    // A write of v = 0 with beta = 1 only erases. The read at k after the write is (1 - |k|^2) M k, which is 0 in
    // general only if |k| = 1.
    for (double length : {1.0, 0.5, 2.0}) {
      Sequence deletion = random_sequence({1, 1, 1, s.shape.Dk, s.shape.Dv}, protocol.seed);
      for (double &x : deletion.k) x *= length;
      deletion.q = deletion.k, deletion.v.assign(s.shape.Dv, 0), deletion.beta = {1};
      const Dense M = normal_matrix(s.shape.Dv, s.shape.Dk, protocol.seed, "003/memory");
      deletion.state = M.data;
      const Vector left = run("delta_net", deletion).o, before = (M * column(deletion.k, 0, s.shape.Dk)).data;
      const auto leaves = [&](double factor) {
        const Dense expected = factor * Dense(1, int(before.size()), before);
        return exact_point(left, expected.data, 64.0 * s.shape.Dk * max_abs(before));
      };
      points.at(Params(p).set("|k|", length));
      auto left_over =
          points.obligation("the read at $k$ after the deletion alone: $(1 - |k|^2) M k$", leaves(1 - length * length));
      if (length != 1) left_over.but_not("0 for every key", leaves(0));
    }
  });
}
} // namespace

std::vector<Claim> section_2_background() { return {linear_recurrence(), old_and_new_values()}; }
} // namespace recollect::theory
