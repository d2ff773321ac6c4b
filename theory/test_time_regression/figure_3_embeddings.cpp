// SPDX-License-Identifier: Apache-2.0
// 003 §6, Fig 3: 128 keys in 64 dimensions cannot be orthogonal, but there is an embedding with which least squares
// recalls 128 pairs.
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/keys.hpp"
#include "theory/test_time_regression/mqar_texts.hpp"

namespace recollect::theory {
namespace {
constexpr int pairs = 128, width = 64;

const std::vector<ParamSpec> planted{
    integer_param("T", 512, 256, 2048, "steps"),
    real_param("offset", 3, 0, 10, "number added to the first channel of every cue before the cue is normalised")};

/// The text `plain`, whose tokens are standard basis vectors, with token i replaced by row i of `embedding`.
Texts embedded(const Texts &plain, const Dense &embedding) {
  Texts texts = plain;
  const int tokens = embedding.rows, d = embedding.columns;
  Sequence &s = texts.problem.sequence;
  const size_t heads = s.shape.heads();
  s.shape.Dk = s.shape.Dv = d;
  for (auto *rows : {&s.q, &s.k, &s.v, &texts.problem.target, &texts.problem.candidates}) {
    const size_t each = rows->size() / heads / tokens; // number of rows of one text
    Vector replaced;
    for (size_t text = 0; text < heads; ++text) {
      const Dense basis(tokens, tokens,
                        {&plain.problem.candidates[text * tokens * tokens],
                         &plain.problem.candidates[text * tokens * tokens] + tokens * tokens}),
          own(int(each), tokens, {rows->begin() + text * each * tokens, rows->begin() + (text + 1) * each * tokens});
      const Dense image = own * transpose(basis) * embedding;
      replaced.insert(replaced.end(), image.data.begin(), image.data.end());
    }
    *rows = replaced;
  }
  return texts;
}

/// Embeddings of cues in one half of the channels and of responses in the other half. A response is a rotation of its
/// cue, or independent of its cue.
Dense halves(double offset, bool rotated, Seed seed) {
  const int half = width / 2;
  const auto cues = [&](const char *name) {
    Dense u = normal_matrix(pairs, half, seed, name);
    for (int j = 0; j < pairs; ++j) u(j, 0) += offset;
    normalise_rows(u.data, half);
    return u;
  };
  const Dense u = cues("planted/cues"), R(half, half, make_keys({"orthonormal", half, half}, 1, seed)),
              r = rotated ? u * R : cues("planted/independent responses");
  Dense tokens(2 * pairs, width);
  for (int j = 0; j < pairs; ++j)
    for (int c = 0; c < half; ++c) tokens(j, c) = u(j, c), tokens(pairs + j, half + c) = r(j, c);
  return tokens;
}

Claim mqar_p128_rls_construction() {
  ClaimBuilder c("mqar-p128-rls-construction", "003 §6 (derived, owed to the authors)");
  c.says("There are embeddings of $P = 128$ cues in $d = 64$ dimensions on which RLS solves multi-query associative "
         "recall (MQAR) exactly at every length, while linear attention fails.");
  c.exactly("The cues $u_j$ share a common part and lie in one half of the channels. The responses are $R u_j$, where "
            "$R$ rotates a cue into the other half. Least squares finds $R$ as soon as the cues so far span their half "
            "of the channels. If the cues have no common part, linear attention answers correctly too.");
  c.runs({"linear", "rls"}), c.draws({"mqar"}), c.takes(planted);
  return c.measure([](Points &points, const Params &p, const Protocol &protocol) {
    const int T = p.integer("T");
    const Texts plain(protocol.full() ? 48 : 6, pairs, 2 * pairs, T, {}, protocol.seed);
    const auto texts = [&](double offset, bool rotated) {
      return embedded(plain, halves(offset, rotated, protocol.seed));
    };
    const Texts planted = texts(p.real("offset"), true), independent = texts(p.real("offset"), false),
                isotropic = texts(0, true);
    const int first = T / 2; // by then more cues have occurred than the 32 that determine the rotation
    const auto reads = [&](const Texts &x) { return x.reads("rls", least_squares, first); };
    const auto linear = [&](const Texts &x) { return at_most_point(mean_of(x.shares("linear", {}, first)), 0.7); };
    // The ridge changes a read by less than ridge / (smallest eigenvalue of sum u u^T over the cues u so far). This
    // eigenvalue is above one, because the isotropic part of each of the T / 2 cues has at least a tenth of the cue's
    // length.
    const Vector responses = planted.asked_rows(planted.problem.target, first);
    points.rounding(1e-6 / epsilon_of(Real::f64))
        .statement("RLS reads the response to a cue", reads(planted), responses);
    points.wrong_system("RLS reads the response to a cue, responses independent of cues", reads(independent),
                        independent.asked_rows(independent.problem.target, first));
    points.statement("linear attention: share of right answers at most 0.7", linear(planted));
    points.wrong_system("linear attention, cues without a common part: share of right answers at most 0.7",
                        linear(isotropic));
  });
}

Claim mqar_welch_128_64() {
  ClaimBuilder c("mqar-welch-128-64", "003 §6");
  c.says("128 keys cannot be orthogonal in a space of 64 dimensions.");
  c.exactly("Among $P$ unit keys in $d$ dimensions, the largest |cosine| of two keys is at least $sqrt((P - d) / (d (P "
            "- 1)))$ (Welch's bound), .0887 for $P = 128$ and $d = 64$. It is about .45 for 128 random unit keys and "
            ".125 for two mutually unbiased bases.");
  c.takes({integer_param("P", 128, 2, 1024, "unit keys, more than d"), integer_param("d", 64, 2, 512, "width")});
  return measure(c, [](Points &points, Seed seed, double P, double d) {
    if (P <= d) usage_error("P must be above d: up to d keys can be orthogonal");
    const auto bound = [](double P, double d) { return std::sqrt((P - d) / (d * (P - 1))); };
    const auto largest = [&](const char *kind, int n) {
      return coherence(make_keys({kind, n, int(d)}, 1, seed), n, int(d));
    };
    points.statement("largest |cosine| of random unit keys: at least Welch's bound",
                     at_least_point(largest("unit", int(P)), bound(P, d), 0));
    points.wrong_system("largest |cosine| of d orthonormal keys: at least Welch's bound for P keys",
                        at_least_point(largest("orthonormal", int(d)), bound(P, d), 0));
    // Sets that attain the bound: the d + 1 corners of a simplex, and 28 equiangular lines in 7 dimensions, along the
    // permutations of (3, 3, -1, -1, -1, -1, -1, -1).
    const int n = int(d) + 1;
    Dense simplex = Dense::identity(n);
    for (double &x : simplex.data) x -= 1.0 / n;
    normalise_rows(simplex.data, n);
    Dense lines(28, 8);
    int line = 0;
    for (int i = 0; i < 8; ++i)
      for (int j = i + 1; j < 8; ++j, ++line)
        for (int c = 0; c < 8; ++c) lines(line, c) = (c == i || c == j ? 3 : -1) / std::sqrt(24.0);
    points.rounding(8 * n).obligation("largest |cosine| of the $d + 1$ corners of a simplex: Welch's bound",
                                      coherence(simplex.data, n, n), bound(n, d));
    points.at({}).rounding(64);
    points
        .obligation("largest |cosine| of 28 equiangular lines in 7 dimensions: Welch's bound",
                    coherence(lines.data, 28, 8), bound(28, 7))
        .but_not("$sqrt((P - d) / (d P))$", std::sqrt((28 - 7.0) / (28 * 7)));
  });
}
} // namespace

std::vector<Claim> figure_3_embeddings() { return {mqar_p128_rls_construction(), mqar_welch_128_64()}; }
} // namespace recollect::theory
