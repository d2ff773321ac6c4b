// SPDX-License-Identifier: Apache-2.0
// 003 §6: recall is limited by the number of pairs, not by the length of the text. Measured on untrained embeddings.
#include "theory/test_time_regression/mqar_texts.hpp"

namespace recollect::theory {
namespace {
const Assignments orthonormal_cues{{"storage", "cues"}}, unit_cues{{"storage", "cues"}, {"embedding", "unit"}};

/// The reads of one text by RLS, compared with the responses. The error of a read is at most ridge sqrt(P) / (smallest
/// eigenvalue of the Gram matrix of the P cues), because the errors of all pairs are ridge V^T (G + ridge I)^{-1},
/// where G is the Gram matrix of the cues times their counts.
Point exact_recall(const Texts &text, int P, double known_ridge) {
  const int d = text.problem.sequence.shape.Dk;
  const auto first = text.problem.candidates.begin();
  const double least = std::pow(singular_values(Dense(P, d, {first, first + size_t(P) * d})).back(), 2);
  return exact_point(text.reads("rls", {{"ridge", number(known_ridge)}}), text.asked_rows(text.problem.target),
                     1e-6 * std::sqrt(P) / least / epsilon_of(Real::f64));
}

Claim mqar_rls_vs_linear_untrained() {
  ClaimBuilder c("mqar-rls-vs-linear-untrained", "003 §6 (untrained)");
  c.says("RLS recalls more than linear attention if there are more pairs than dimensions.");
  c.exactly("On random unit cues, with pairs of cue and response stored, the share of right answers of RLS is higher "
            "than that of linear attention by about 1/6, both at $P = 1.5 d$ and at $2 d$. At $P < d$ RLS recalls "
            "every response exactly.");
  c.runs({"linear", "rls"}), c.draws({"mqar"});
  c.takes({integer_param("P", 48, 2, 512, "pairs, 1.5 d or more"), integer_param("d", 32, 8, 256, "width"),
           integer_param("T", 256, 64, 4096, "steps")});
  return measure(c, [](Points &points, const Protocol &protocol, int P, int d, int T) {
    if (2 * P < 3 * d) usage_error("P must be at least 1.5 d: at P <= d RLS recalls every pair");
    const auto gain = [&](int P, const Assignments &ridge) {
      const Texts texts(protocol.full() ? 96 : 24, P, d, T, unit_cues, protocol.seed);
      return at_least_point(mean_of(minus(texts.shares("rls", ridge), texts.shares("linear"))), 0.08);
    };
    const Texts few(1, d / 2, d, T, unit_cues, protocol.seed);
    points.statement("share of right answers of RLS - that of linear attention, at least 0.08", gain(P, least_squares));
    points.wrong_system("share of right answers of RLS with ridge 1000 - that of linear attention",
                        gain(P, {{"ridge", "1000"}}));
    points.wrong_system("$P = d / 4$: share of right answers of RLS - that of linear attention",
                        gain(d / 4, least_squares));
    points.obligation("$P = d / 2$: RLS reads the response", exact_recall(few, d / 2, 1e-6));
    points.wrong_system("$P = d / 2$, ridge 0.1: RLS reads the response", exact_recall(few, d / 2, 0.1));
  });
}

Claim mqar_t_independence() {
  ClaimBuilder c("mqar-t-independence", "003 §6");
  c.says(
      "If the memory is large enough for all $P$ pairs, the difficulty of MQAR is independent of the sequence length.");
  c.exactly("The statement is true if recall is exact, which it is with orthonormal cues in linear attention and with "
            "independent cues in RLS. On random unit cues at $P = d$ the recall of linear attention changes with $T$: "
            "it first falls, then rises as the counts of the cues become equal. From $T / 8$ to $T$ the share of right "
            "answers rises by at least 0.03 if $T$ is $16 d$ to $48 d$.");
  c.because("The paper speaks of a memory with sufficient capacity, and for such a memory it is right. If cross-talk "
            "limits recall, longer texts are not harder either, because the counts $n_j$ of the cues become equal.");
  c.holds_under("recall is exact: with orthonormal cues in linear attention, with independent cues in RLS");
  c.runs({"linear", "rls"}), c.draws({"mqar"});
  c.takes({integer_param("d", 32, 24, 128, "width, and number of pairs"),
           integer_param("T", 512, 384, 4096, "steps of the long texts, 16 d to 48 d")});
  return measure(c, [](Points &points, const Protocol &protocol, int d, int T) {
    if (T < 16 * d)
      usage_error("take T >= 16 d steps: in the first eighth of a shorter text the cues do not yet occur twice");
    if (T > 48 * d)
      usage_error(
          "take T <= 48 d steps: in the first eighth of a longer text the cues already occur about equally often");
    // The share of right answers in the last eighth of each text, when every cue has occurred.
    const auto ending = [&](int T) {
      Vector shares;
      for (int batch = 0; batch < (protocol.full() ? 24 : 3); ++batch) {
        const Texts texts(150, d, d, T, unit_cues, protocol.seed * 1000003 + batch);
        const Vector some = texts.shares("linear", {}, T - T / 8);
        shares.insert(shares.end(), some.begin(), some.end());
      }
      return shares;
    };
    const Vector brief = ending(T / 8), lasting = ending(T);
    const Mean gain = mean_of(minus(lasting, brief));
    points.statement("random unit cues: share of right answers at $T$ is that at $T / 8$",
                     Mean{mean_of(lasting).mean, gain.standard_error}, mean_of(brief).mean);
    points.obligation("random unit cues: share of right answers at $T$ - share at $T / 8$", at_least_point(gain, 0.03));
    if (protocol.full() && !protocol.point) // recall first falls, then rises as the counts of the cues become equal
      points.obligation("random unit cues: share of right answers at $T / 8$ - share at $T / 16$",
                        at_most_point(mean_of(minus(brief, ending(T / 16))), -0.03));
    for (int steps : {T / 8, T}) {
      const std::string text = ", $T = " + std::to_string(steps) + "$";
      const auto read = [&](const Assignments &set) {
        const Texts texts(1, d, d, steps, set, protocol.seed);
        return exact_point(texts.reads("linear"), texts.counted_responses(), 4.0 * steps * d);
      };
      const Texts independent(1, d / 2, d, steps, unit_cues, protocol.seed);
      points.condition("linear, orthonormal cues: $y = n_j v_j$" + text, read(orthonormal_cues));
      points.wrong_system("linear, random unit cues: $y = n_j v_j$" + text, read(unit_cues));
      points.condition("RLS, $P = d / 2$: $y = v_j$" + text, exact_recall(independent, d / 2, 1e-6));
      points.wrong_system("RLS with ridge 0.1, $P = d / 2$: $y = v_j$" + text, exact_recall(independent, d / 2, 0.1));
    }
  });
}
} // namespace

std::vector<Claim> section_6_length() { return {mqar_rls_vs_linear_untrained(), mqar_t_independence()}; }
} // namespace recollect::theory
