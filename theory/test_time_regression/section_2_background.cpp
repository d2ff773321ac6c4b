// SPDX-License-Identifier: Apache-2.0
// 003 §2: the recurrences that the framework sets out from, linear attention (Eq 2-3) and DeltaNet (Eq 5-6).
#include "theory/support/delta_recursion.hpp"
#include "theory/support/features.hpp"
#include "theory/support/one_head.hpp"

namespace recollect::theory {
namespace {

// ---- Linear attention -----------------------------------------------------------------------------------------------

/// sum over the pairs seen of v_i k_i^T q_t, and the last memory.
Output sums(const Sequence &s, Triangle triangle) {
  const Shape &shape = s.shape;
  const Dense Q = rows_of(s.q, shape.T, shape.Dk), K = rows_of(s.k, shape.T, shape.Dk),
              V = rows_of(s.v, shape.T, shape.Dv);
  return {(causal_weights(K, Q, linear_kernel, triangle) * V).data, (transpose(V) * K).data, {shape.Dv, shape.Dk}};
}

std::vector<Point> linear_recurrence(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {params_of(point_P)})) {
    const Sequence s = random_sequence(shape_of(p), protocol.seed);
    const Measured layer = measured("linear", s);
    points.push_back(
        as_statement(layer.against(sums(s, Triangle::with_diagonal)), p, "M_t q_t is the sum of v_i k_i . q_t"));
    points.push_back(rival_system(measured("delta_net", s).against(sums(s, Triangle::with_diagonal)), p, "DeltaNet"));
    points.push_back(rival_law(layer.against(sums(s, Triangle::strict)), p, "read before write"));
    Sequence mapped = s, keys_only = s; // phi = 1 + ELU
    mapped.q = elu_plus_one(s.q), mapped.k = elu_plus_one(s.k);
    keys_only.k = mapped.k;
    const Measured features = measured("linear", mapped);
    const Output expected = sums(mapped, Triangle::with_diagonal);
    points.push_back(as_statement(features.against(expected), p, "the same with phi = 1 + ELU"));
    points.push_back(rival_system({exact_point(run("linear_elu", s).o, expected.o, features.units)}, p,
                                  "divided by its normaliser, which the paper drops"));
    points.push_back(rival_law(features.against(sums(keys_only, Triangle::with_diagonal)), p, "phi on the keys only"));
  }
  return points;
}

Claim linear_claim() {
  return explained(
      at_parameters(
          running(ledger_row(
                      "linattn-recurrence", "003 Eq 2-3",
                      "Linear attention updates $M_t = M_{t-1} + v_t k_t^T$ and reads $y_t = M_t q_t = sum_{i<=t} v_i "
                      "k_i^T q_t$, so that all $T$ outputs take $O(T)$ time; the same with $phi(k)$, $phi(q)$ in place "
                      "of $k$, "
                      "$q$. The normaliser of the original layer is dropped.",
                      "Identity at every prefix.", linear_recurrence),
                  {"linear", "delta_net", "linear_elu"}),
          one_head_params(point_P)),
      "The step writes first and reads second: $y_t$ sees its own pair.");
}

// ---- DeltaNet -------------------------------------------------------------------------------------------------------

/// M - erased M k k^T + (kept M k + written v) k^T, the factors functions of beta.
template <class F> Output rewritten(const Sequence &s, const F &erased, const F &kept, const F &written) {
  return stepped(s, [&](const Dense &M, const Dense &k, const Dense &v, int t) {
    const Dense old = M * k;
    const double beta = s.beta[t];
    return M - erased(beta) * write(old, k) + write(kept(beta) * old + written(beta) * v, k);
  });
}

std::vector<Point> old_and_new_values(const Protocol &protocol) {
  std::vector<Point> points;
  using Factor = double (*)(double);
  const Factor one = [](double) { return 1.0; }, minus = [](double) { return -1.0; },
               share = [](double b) { return b; }, rest = [](double b) { return 1 - b; },
               none = [](double) { return 0.0; };
  for (const Params &p : points_of(protocol, {params_of(point_P)})) {
    const Sequence s = random_sequence(shape_of(p), protocol.seed);
    const Measured layer = measured("delta_net", s);
    points.push_back(as_statement(layer.against(rewritten(s, one, rest, share)), p,
                                  "Eq 5, delete v_old and write beta v + (1 - beta) v_old, against Eq 6"));
    points.push_back(rival_system(measured("linear", s).against(rewritten(s, one, rest, share)), p,
                                  "linear attention: no deletion"));
    points.push_back(rival_law(layer.against(rewritten(s, one, none, share)), p, "erase without beta"));
    points.push_back(rival_law(layer.against(rewritten(s, share, none, one)), p, "write without beta"));
    points.push_back(rival_law(layer.against(rewritten(s, minus, rest, share)), p, "erase with the sign turned"));
    // The deletion alone, a write of v = 0 with beta = 1, leaves (1 - |k|^2) M k at k: complete for |k| = 1 only.
    for (double length : {1.0, 0.5, 2.0}) {
      Sequence deletion = random_sequence({1, 1, 1, s.shape.Dk, s.shape.Dv}, protocol.seed);
      for (double &x : deletion.k) x *= length;
      deletion.q = deletion.k, deletion.v.assign(s.shape.Dv, 0), deletion.beta = {1};
      const Dense M = normal_matrix(s.shape.Dv, s.shape.Dk, protocol.seed, "003/memory");
      deletion.state = M.data;
      const std::vector<double> left = run("delta_net", deletion).o,
                                before = (M * column(deletion.k, 0, s.shape.Dk)).data;
      const auto leaves = [&](double factor) {
        const Dense expected = factor * Dense(1, int(before.size()), before);
        return exact_point(left, expected.data, 64.0 * s.shape.Dk * max_abs(before));
      };
      const Params q = Params(p).set("|k|", length);
      points.push_back(as_obligation(leaves(1 - length * length), q, "the deletion alone leaves (1 - |k|^2) M k"));
      if (length != 1) points.push_back(rival_law(leaves(0), q, "complete for every key"));
    }
  }
  return points;
}

Claim delta_claim() {
  return explained(
      at_parameters(
          running(ledger_row(
                      "deltanet-eq5-eq6", "003 Eq 5-6",
                      "DeltaNet deletes $v_old = M_{t-1} k_t$, retrieved with the new key, and binds $v_new = beta v + "
                      "(1 - beta) v_old$ to it, $beta$ in [0, 1]; this is $M_{t-1} (I - beta k k^T) + beta v k^T$.",
                      "Identity. The deletion alone leaves $(1 - |k|^2) M k$ at $k$.", old_and_new_values),
                  {"delta_net", "linear"}),
          one_head_params(point_P)),
      "Eq 5's overbrace for $v_new$ sits on $M$ $k$ instead of on the whole bracket; the formula is right. Deleting is "
      "complete for keys of length 1 only, which the text does not say.");
}

} // namespace

std::vector<Claim> section_2_background() { return {linear_claim(), delta_claim()}; }

} // namespace recollect::theory
