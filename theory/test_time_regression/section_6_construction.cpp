// SPDX-License-Identifier: Apache-2.0
// 003 §6: which token a short convolution reads (Eq 56), and recall with a convolution of length 2 (Eq 57-58).
#include "theory/test_time_regression/mqar_texts.hpp"

namespace recollect::theory {
namespace {
/// k_t = sum_j w_j W x_{t-j}, with x_s = 0 before the text (Eq 56).
Dense convolved(const Dense &x, const Dense &W, const Vector &w) {
  const Dense projected = x * transpose(W);
  Dense k(x.rows, x.columns);
  for (int t = 0; t < x.rows; ++t)
    for (int j = 0; j < int(w.size()) && j <= t; ++j)
      for (int c = 0; c < x.columns; ++c) k(t, c) += w[j] * projected(t - j, c);
  return k;
}
/// factor W x_{t-i}, token by token.
Vector shifted(const Dense &x, const Dense &W, int i, double factor) {
  Vector rows;
  for (int t = 0; t < x.rows; ++t) {
    Vector token(x.columns, 0.0);
    if (t >= i) std::copy_n(&x.data[size_t(t - i) * x.columns], x.columns, token.begin());
    for (double y : times(W, token)) rows.push_back(factor * y);
  }
  return rows;
}

Claim weights_typo() {
  ClaimBuilder c("shortconv-w0-typo", "003 after Eq 56");
  c.says("A short convolution with the weights $w_0 = i$ and $w_j = 0$ for $j != 0$ looks back at the token of $i$ "
         "steps ago.");
  c.exactly("The printed setting multiplies the current token by $i$. The setting $w_i = 1$ and $w_j = 0$ for $j != i$ "
            "gives $k_t = W x_{t-i}$.");
  c.because("The index and the value are exchanged. The construction that follows is right: $w_0 = 0$, $w_1 = 1$.");
  c.is_refuted(slip("After Eq 56: 'Setting $w_0 = i$ and $w_j = 0$ for $j != 0$'.", "none",
                    "The construction in the same section sets $w_0 = 0$, $w_1 = 1$."));
  c.takes({integer_param("i", 2, 1, 16, "tokens to look back"), integer_param("T", 24, 4, 512, "tokens"),
           integer_param("d", 5, 1, 64, "width")});
  return measure(c, [](Points &points, Seed seed, int i, int T, int d) {
    if (T <= i + 1) usage_error("take a text of more than i + 1 tokens");
    const Dense x = normal_matrix(T, d, seed, "look back/tokens"), W = normal_matrix(d, d, seed, "look back/W");
    const auto keys = [&](int position, double value) {
      Vector w(i + 2, 0.0);
      w[position] = value;
      return convolved(x, W, w).data;
    };
    points.rounding(4.0 * d * d * i * max_abs(x.data) * max_abs(W.data));
    points.statement("$w_0 = i$ gives $W x_{t-i}$", keys(0, i), shifted(x, W, i, 1));
    points.obligation("$w_0 = i$ gives $i W x_t$", keys(0, i), shifted(x, W, 0, i));
    points.obligation("$w_i = 1$ gives $W x_{t-i}$", keys(i, 1), shifted(x, W, i, 1));
    points.wrong_system("$w_{i-1} = 1$ gives $W x_{t-i}$", keys(i - 1, 1), shifted(x, W, i, 1));
    points.wrong_system("$w_{i+1} = 1$ gives $W x_{t-i}$", keys(i + 1, 1), shifted(x, W, i, 1));
  });
}

const std::vector<ParamSpec> construction{integer_param("P", 32, 2, 512, "cue-response pairs, at most $d / 2$"),
                                          integer_param("d", 64, 4, 1024, "width of the embeddings"),
                                          integer_param("T", 256, 8, 4096, "steps")};

/// Bound on the rounding error of sums of T inner products, in units of eps. The rows have width d and are orthonormal
/// up to a few eps.
double text_units(int T, int d) { return 4.0 * T * d; }

Claim orthonormal_tokens() {
  ClaimBuilder c("mqar-orthonormal-construction", "003 Eq 57-58");
  c.says("If the embedding space is large enough for orthonormal tokens, linear attention with one convolution of "
         "length 2 ($k_t = x_{t-1}$, $q_t = v_t = x_t$) solves MQAR for texts of any length.");
  c.exactly("The read at cue $j$ is $y = n_j v_j$, where $v_j$ is the response to this cue and $n_j$ the number of its "
            "occurrences so far. The width must be $d >= 2 P$, because responses are keys as well. (The sum in the "
            "paper runs over tokens that are preceded by the cue; it prints 'followed'.)");
  c.runs({"linear"}), c.draws({"mqar"}), c.takes(construction);
  return measure(c, [](Points &points, Seed seed, int P, int d, int T) {
    if (2 * P > d) usage_error("d must be at least 2 P, for 2 P orthonormal tokens");
    const Texts texts(1, P, d, T, {}, seed), narrow(1, P, P + 1, T, {}, seed);
    Texts exchanged = texts; // w_0 = 1 and w_1 = 0: the key is the current token
    exchanged.problem.sequence.k = texts.problem.sequence.v;
    points.rounding(text_units(T, d));
    points.statement("read at cue j: $y = n_j v_j$", texts.reads("linear"), texts.counted_responses(0))
        .but_not("$(n_j - 1) v_j$: the newest pair not yet written", texts.counted_responses(-1))
        .but_not("$(n_j + 1) v_j$", texts.counted_responses(+1));
    points.wrong_system("$w_0$ and $w_1$ exchanged: $y = n_j v_j$", exchanged.reads("linear"),
                        texts.counted_responses());
    points.wrong_system("2 P tokens of width $P + 1$: $y = n_j v_j$", narrow.reads("linear"),
                        narrow.counted_responses());
  });
}

Claim indices_typo() {
  ClaimBuilder c("mqar-indices-typo", "003 §6, before Eq 57, Eq 58");
  c.says("The memory's pairs $(x_{t-1}, x_t)$ start at $t = 1$.");
  c.exactly("The pairs start at $t = 2$, or $x_0$ must be defined as 0, because there is no token $x_0$. Also, "
            "$u_{i_j}$ is the cue of the j-th pair of the sequence, not of the $i_j$-th bigram.");
  c.because("Two indices are wrong; the construction does not depend on them.");
  c.is_refuted(slip("§6: the memory holds {$(x_{t-1}, x_t)$} for $t = 1$ to $T + 1$; the cue 'has previously appeared "
                    "as the $i_j$ th bigram'.",
                    "tokens $x_1$ to $x_{T+1}$",
                    "Eq 58 sums from $t = 1$ as well; the argument uses the pairs of tokens that exist."));
  c.runs({"linear"}), c.draws({"mqar"}), c.takes(construction);
  return measure(c, [](Points &points, Seed seed, int P, int d, int T) {
    if (2 * P > d) usage_error("d must be at least 2 P, for 2 P orthonormal tokens");
    const Texts texts(1, P, d, T, {}, seed);
    Texts preceded = texts; // the token x_0 before the text is a cue: that of the first pair, which occurs again later
    Sequence &s = preceded.problem.sequence;
    std::copy_n(s.v.begin(), d, s.k.begin());
    points.rounding(text_units(T, d));
    const Vector law = texts.counted_responses();
    const char *printed = "pairs $(x_{t-1}, x_t)$ from $t = 1$ on, $x_0$ a token: $y = n_j v_j$";
    points.statement(printed, preceded.reads("linear"), law);
    points.obligation("from $t = 2$ on, or $x_0 = 0$: $y = n_j v_j$", texts.reads("linear"), law)
        .but_not("$(n_j + 1) v_j$", texts.counted_responses(1));
  });
}

Claim as_many_as_channels() {
  ClaimBuilder c("mqar-p64-d64", "003 §6, d_model = P = 64 (untrained)");
  c.says("At $d_model = P = 64$ linear attention solves MQAR perfectly, as the construction predicts.");
  c.exactly("The construction does not cover $P = d$: if all bigrams are stored, $2 P$ keys lie in $d$ dimensions. "
            "Recall is exact if the cues are orthonormal and only pairs of cue and response are stored. If all bigrams "
            "are stored, it is exact up to $P = d / 2$.");
  c.because("The paper's own number comes from a trained model (claim mqar_fig3_setup) and is not in question here. "
            "Trained weights can separate cues from responses; orthonormal embeddings at $P = d$ cannot.");
  c.holds_under("only pairs of cue and response are stored, and the cues are orthonormal");
  c.runs({"linear"}), c.draws({"mqar"});
  c.takes({integer_param("d", 64, 8, 256, "width, and number of pairs"),
           integer_param("T", 1024, 16, 4096, "steps, enough for every cue to occur")});
  return measure(c, [](Points &points, Seed seed, int d, int T) {
    const double units = text_units(T, d);
    const auto read = [&](int P, const Assignments &set) {
      const Texts texts(1, P, d, T, set, seed);
      return exact_point(texts.reads("linear"), texts.counted_responses(), units);
    };
    const auto accuracy = [&](const Assignments &set) {
      const Texts texts(4, d, d, T, set, seed);
      return exact_point(mean_of(texts.shares("linear")).mean, 1, 0);
    };
    const Assignments cues{{"storage", "cues"}};
    points.statement("all bigrams, $P = d$: $y = n_j v_j$", read(d, {}));
    points.statement("all bigrams, the response to a cue is the next cue: accuracy",
                     accuracy({{"responses", "shifted"}}));
    points.statement("all bigrams, random unit vectors as tokens: accuracy", accuracy({{"embedding", "unit"}}));
    points.condition("pairs of cue and response, $P = d$: $y = n_j v_j$", read(d, cues));
    points.wrong_system("pairs of cue and response, $P = d + 1$: $y = n_j v_j$", read(d + 1, cues));
    points.obligation("all bigrams, $P = d / 2$: $y = n_j v_j$", read(d / 2, {}));
    points.wrong_system("all bigrams, $P = d / 2 + 1$: $y = n_j v_j$", read(d / 2 + 1, {}));
  });
}
} // namespace

std::vector<Claim> section_6_construction() {
  return {indices_typo(), weights_typo(), orthonormal_tokens(), as_many_as_channels()};
}
} // namespace recollect::theory
