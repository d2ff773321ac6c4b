// SPDX-License-Identifier: Apache-2.0
// 000 Listing 1 (D.3): whether the chunked program gives the same result as the naive program, also for an incomplete
// last chunk, and what the comments in the listing say about parallel blocks and the doubling iteration.
#include "theory/associative_memory/deltaformer/listing_1.hpp"
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"
#include "theory/associative_memory/deltaformer/doubling.hpp"

namespace recollect::theory {
namespace {
using namespace listing;

struct Data {
  Dense K, V;
  Data(int T, int d, int dv, std::uint64_t seed, int head = 0)
      : K(T, d, Stream(seed, "listing 1/keys", head).normals(size_t(T) * d)),
        V(T, dv, Stream(seed, "listing 1/values", head).normals(size_t(T) * dv)) {}
  template <class N> Vector naive(Weights weights) const {
    return flat(listing::naive(listing::grid<N>(K), listing::grid<N>(V), weights));
  }
  template <class N> Vector chunked(const Chunking &how) const {
    return flat(listing::chunked(listing::grid<N>(K), listing::grid<N>(V), how));
  }
  /// u of delta_former, whose weights are the softmax over i < t of k_i . k_t / sqrt d, or k_i . k_t itself.
  Vector layer(Weights weights, int C) const {
    const bool soft = weights == Weights::softmax;
    const Dense w = (soft ? 1 / std::sqrt(double(K.columns)) : 1) * K;
    return written(K, w, V, {soft ? "softmax" : "linear", "chunked", C}).data;
  }
  Dense A(Weights weights) const {
    if (weights == Weights::linear) return causal_weights(K, K, linear_kernel, Triangle::strict);
    const Kernel f = [root = std::sqrt(double(K.columns))](double x) { return std::exp(x / root); };
    return normalise_sums(causal_weights(K, K, f, Triangle::strict));
  }

private:
  template <class N> static Vector flat(const Grid<N> &g) {
    Vector all;
    for (const auto &row : g) all.insert(all.end(), row.begin(), row.end());
    return all;
  }
};

Params sized(int T, int C, int d) { return labels({{"T", T}, {"C", C}, {"d", d}}); }
double units_of(const Dense &A, const Vector &U) { return solve_units(A, Dense(1, int(U.size()), U)); }

std::vector<ParamSpec> sizes(int T, int C, int d) {
  return {steps_param(T, 3, 2048), integer_param("C", C, 1, 2048, "chunk length"),
          integer_param("d", d, 1, 256, "key and value width")};
}

Claim equivalence() {
  ClaimBuilder c("listing1-equivalence", "000 Listing 1, verify_equivalence");
  c.says("The chunked program gives the results of the naive program: allclose with atol = 1e-5 at $B = H = 2$, $T = "
         "1024$, $D = 64$, $C = 32$, Gaussian keys and values, float32.");
  c.exactly("An identity. In the printed listing a docstring is on the def line and brackets are missing, but the "
            "logic is right.");
  c.runs({"delta_former"}), c.takes(sizes(1024, 32, 64));
  return measure(c, [](Points &points, const Protocol &protocol, int T, int C, int d) {
    const int heads = protocol.full() ? 4 : 1;
    if (T % C) usage_error("the program drops the last T mod C rows: take C that divides T (see listing1_tail)");
    for (int head = 0; head < heads; ++head) {
      const Data x(T, d, d, protocol.seed, head);
      const Vector slow = x.naive<float>(Weights::softmax);
      points.at(sized(T, C, d).set("head", head))
          .statement("largest difference of the two programs in float32, at most atol = 1e-5",
                     at_most_point(max_difference(x.chunked<float>({size_t(C)}), slow), 1e-5, 0));
    }
    // in double, so float32 rounding cannot hide an error, and at a size at which every line runs
    const int t = std::min(T, 8 * C);
    const Data x(t, d, d, protocol.seed);
    const Vector slow = x.naive<double>(Weights::softmax);
    const auto with = [&](Slip slip) {
      return x.chunked<double>({size_t(C), Weights::softmax, Tail::dropped, listing::Solve::inverse, slip});
    };
    points.at(sized(t, C, d)).rounding(units_of(x.A(Weights::softmax), slow));
    points.obligation("u of the chunked program in float64, against the naive program", with(Slip::none), slow);
    points.wrong_system("the first row of A not set to zero", with(Slip::first_row_kept), slow);
    points.obligation("u of the layer delta_former, against the naive program", x.layer(Weights::softmax, C), slow);
    if (t > C) {
      points.wrong_system("a chunk that ignores the earlier chunks", with(Slip::old_keys_ignored), slow);
      points.wrong_system("the two weights of the merge exchanged", with(Slip::merge_exchanged), slow);
    }
  });
}

Claim tail() {
  ClaimBuilder c("listing1-tail", "000 Listing 1 (chunk_nums = T // C)");
  c.says("Stricter reading: the chunked program gives the results of the naive program also if $T$ is not a multiple "
         "of $C$.");
  c.is_refuted(outside("Listing 1: chunk_nums = $T // C$, called at $T = 1024$, $C = 32$.",
                       "$N$ equally sized chunks of length $C = floor(T / N) (D.3)$",
                       "The listing is 'a simple implementation, serving as pseudo-code'."));
  c.exactly("The last $T$ mod $C$ rows of $u$ stay zero. A shorter last chunk corrects this.");
  c.because("D.3 assumes equally sized chunks, $C = floor(T / N)$, and the listing is written for that case.");
  c.runs({"delta_former"}), c.takes(sizes(70, 32, 8));
  // The smallest size, and a size at which one chunk passes its result to the next.
  c.at({{{"T", 3}, {"C", 2}, {"d", 2}}, {}});
  return measure(c, [](Points &points, Seed seed, int T, int C, int d) {
    if (T % C == 0) usage_error("T is a multiple of C: there is no tail");
    if (T < C) usage_error("take T > C, so that the tail follows a whole chunk");
    const Data x(T, d, d, seed);
    const Vector slow = x.naive<double>(Weights::softmax), printed = x.chunked<double>({size_t(C)}),
                 mended = x.chunked<double>({size_t(C), Weights::softmax, Tail::ragged});
    const double units = units_of(x.A(Weights::softmax), slow);
    const size_t whole = size_t(T / C * C) * d;
    Vector cut = slow;
    std::fill(cut.begin() + whole, cut.end(), 0.0);
    points.rounding(units).statement("u of the printed chunked program, against the naive program", printed, slow);
    points.obligation("u with a shorter last chunk, against the naive program", mended, slow);
    points.wrong_system(
        "a last chunk that ignores the earlier ones",
        x.chunked<double>({size_t(C), Weights::softmax, Tail::ragged, listing::Solve::inverse, Slip::old_keys_ignored}),
        slow);
    points.obligation("u of the printed chunked program, against the naive program with the last rows set to zero",
                      printed, cut);
    points.obligation("u of the layer delta_former, against the naive program", x.layer(Weights::softmax, C), slow);
  });
}

Claim parallel_blocks() {
  ClaimBuilder c("listing1-parallel-blocks", "000 Listing 1, comment at the inverse");
  c.says(
      "Each diagonal block can be inverted in parallel with the others if the normalisation of softmax is not used.");
  c.exactly("The comment is true, but the condition is not needed. The normaliser $Z_t$ depends only on the keys, so "
            "the blocks of the softmax kernel can be inverted in parallel as well.");
  c.runs({"delta_former"}), c.takes(sizes(96, 16, 8));
  return measure(c, [](Points &points, Seed seed, int T, int C, int d) {
    if (T < 2 * C) usage_error("at T < 2 C there are no two blocks to invert in parallel");
    for (Weights weights : {Weights::linear, Weights::softmax}) {
      const bool linear = weights == Weights::linear;
      Data x(T, d, d, seed);
      if (linear) normalise_rows(x.K.data, d);
      points.at(sized(T, C, d).set("kernel", linear ? "linear" : "softmax"));
      // listing::chunked inverts every block before it solves the first one.
      const auto beforehand = [&](Slip slip) {
        return x.chunked<double>({size_t(C), weights, Tail::ragged, listing::Solve::inverse, slip});
      };
      const Vector layer = x.layer(weights, C);
      points.rounding(units_of(x.A(weights), layer));
      const Vector blocks = beforehand(Slip::none);
      auto stated = linear ? points.statement("linear kernel: u of delta_former against blocks inverted beforehand",
                                              layer, blocks)
                           : points.obligation("softmax kernel: u of delta_former against blocks inverted beforehand",
                                               layer, blocks);
      if (!linear) stated.but_not("the normaliser of each block alone", beforehand(Slip::own_mass_only));
      stated.but_not("chunks that ignore the older chunks", beforehand(Slip::old_keys_ignored));
    }
  });
}

Claim comment_iteration() {
  ClaimBuilder c("listing1-comment-iteration", "000 Listing 1, comment at the inverse");
  c.says("From $a_1$, $b_1 = I - A$, $A^2$ the iteration $a_{i+1}$, $b_{i+1} = a_i b_i + b_i b_i$ gives $(I + A)^{-1}$ "
         "after $log2 C - 1$ steps.");
  c.is_refuted(slip("Listing 1, comment at the inverse: $a_{i+1}$, $b_{i+1} = a_i b_i + b_i b_i$.", "none",
                    "Eq 100, on the next page, has the iteration right."));
  c.exactly("The right iteration is $a_{i+1} = a_i + a_i b_i$ and $b_{i+1} = b_i b_i$, as in Eq 100.");
  c.because("The comment gives one expression for two names, and $a_i$ is missing in it.");
  c.takes({integer_param("C", 8, 3, 128, "chunk length")});
  return measure(c, [](Points &points, Seed seed, int C) {
    const int steps = ceil_log2(C) - 1;
    const Dense A = dense_lower(C, seed), V = normal_matrix(C, 3, seed, "listing 1/values"),
                wanted = solve_unit_lower(A, V);
    const auto iterate = [&](auto step, int steps) {
      Dense a = Dense::identity(C) - A, b = A * A;
      for (int i = 0; i < steps; ++i) step(a, b);
      return a * V;
    };
    const auto by_eq_100 = [](Dense &a, Dense &b) { a = a + a * b, b = b * b; };
    const auto by_comment = [](Dense &a, Dense &b) { a = b = a * b + b * b; };
    const auto product = [](Dense &a, Dense &b) { a = a * b, b = b * b; };
    const auto squared_first = [](Dense &a, Dense &b) { b = b * b, a = a + a * b; };
    points.rounding(solve_units(A, wanted))
        .statement("$(I + A)^{-1}$ by the iteration of the comment", iterate(by_comment, steps), wanted);
    points.obligation("$(I + A)^{-1}$ by the iteration of Eq 100", iterate(by_eq_100, steps), wanted);
    points.wrong_system("one step less", iterate(by_eq_100, steps - 1), wanted);
    points.wrong_system("$a_{i+1} = a_i b_i$ in place of $a_i + a_i b_i$", iterate(product, steps), wanted);
    points.wrong_system("$b_i$ squared before it is used in $a_{i+1}$", iterate(squared_first, steps), wanted);
  });
}
} // namespace

std::vector<Claim> listing_1() { return {equivalence(), tail(), parallel_blocks(), comment_iteration()}; }
} // namespace recollect::theory
