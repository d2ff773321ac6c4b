// SPDX-License-Identifier: Apache-2.0
// 000 Listing 1 (D.3): the chunked program compared with the naive one, its result for an incomplete last chunk, and
// its comments say of parallel blocks and of the doubling iteration.
#include "theory/associative_memory/deltaformer/listing_1.hpp"
#include "harness/core/error.hpp"
#include "harness/numerics/inputs.hpp"
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"
#include "theory/associative_memory/deltaformer/doubling.hpp"

namespace recollect::theory {
namespace {

using listing::Chunking;
using listing::Slip;
using listing::Tail;
using listing::Weights;

struct Data {
  Dense K, V;
  Data(int T, int d, int dv, std::uint64_t seed, int head = 0)
      : K(T, d, Stream(seed, "listing 1/keys", head).normals(size_t(T) * d)),
        V(T, dv, Stream(seed, "listing 1/values", head).normals(size_t(T) * dv)) {}
  template <class N> std::vector<double> naive(Weights weights) const {
    return flat(listing::naive(listing::grid<N>(K), listing::grid<N>(V), weights));
  }
  template <class N> std::vector<double> chunked(const Chunking &how) const {
    return flat(listing::chunked(listing::grid<N>(K), listing::grid<N>(V), how));
  }
  /// delta_former's u: softmax over i < t of k_i . k_t / sqrt d, or k_i . k_t.
  std::vector<double> layer(Weights weights, int C) const {
    const bool soft = weights == Weights::softmax;
    return written(K, (soft ? 1 / std::sqrt(double(K.columns)) : 1) * K, V, {soft ? "softmax" : "linear", "chunked", C})
        .data;
  }
  Dense A(Weights weights) const {
    const double root = std::sqrt(double(K.columns));
    return weights == Weights::linear ? causal_weights(K, K, linear_kernel, Triangle::strict)
                                      : normalise_sums(causal_weights(
                                            K, K, [root](double x) { return std::exp(x / root); }, Triangle::strict));
  }

private:
  template <class N> static std::vector<double> flat(const listing::Grid<N> &g) {
    std::vector<double> all;
    for (const auto &row : g) all.insert(all.end(), row.begin(), row.end());
    return all;
  }
};

Params sized(int T, int C, int d) { return labels({{"T", num(T)}, {"C", num(C)}, {"d", num(d)}}); }
double units_of(const Dense &A, const std::vector<double> &U) { return solve_units(A, Dense(1, int(U.size()), U)); }

std::vector<ParamSpec> sizes(int T, int C, int d) {
  return {integer_param("T", T, 3, 2048, "steps"), integer_param("C", C, 1, 2048, "chunk length"),
          integer_param("d", d, 1, 256, "key and value width")};
}

Claim equivalence() {
  Claim claim = ledger_row(
      "listing1-equivalence", "000 Listing 1, verify_equivalence",
      "The chunked program gives what the naive one gives: allclose with atol = 1e-5 at $B = H = 2$, $T = 1024$, $D = "
      "64$, "
      "$C = 32$, Gaussian keys and values, float32.",
      "Identity. In print a docstring stands on the def line and brackets are lost; the logic is right.",
      [](const Protocol &protocol) {
        int T = 1024, C = 32, d = 64, heads = protocol.full() ? 4 : 1;
        if (protocol.point)
          T = protocol.point->integer("T"), C = protocol.point->integer("C"), d = protocol.point->integer("d");
        if (T % C) usage_error("the program drops the last T mod C rows: take C that divides T (see listing1_tail)");
        std::vector<Point> points;
        for (int head = 0; head < heads; ++head) {
          const Data x(T, d, d, protocol.seed, head);
          const std::vector<double> slow = x.naive<float>(Weights::softmax);
          const Params params = sized(T, C, d).set("head", head);
          points.push_back(as_statement(at_most_point(max_difference(x.chunked<float>({size_t(C)}), slow), 1e-5, 0),
                                        params, "largest |difference| in float32, at most atol"));
        }
        // In double, so that rounding of float32 cannot hide an error, at a size that uses every line.
        const int t = std::min(T, 8 * C);
        const Data x(t, d, d, protocol.seed);
        const std::vector<double> slow = x.naive<double>(Weights::softmax);
        const double units = units_of(x.A(Weights::softmax), slow);
        const auto held = [&](Slip slip) {
          return exact_point(
              x.chunked<double>({size_t(C), Weights::softmax, Tail::dropped, listing::Solve::inverse, slip}), slow,
              units);
        };
        const Params params = sized(t, C, d);
        points.push_back(as_obligation(held(Slip::none), params, "u in float64"));
        points.push_back(rival_system(held(Slip::first_row_kept), params, "first row of A not zeroed"));
        points.push_back(as_obligation(exact_point(x.layer(Weights::softmax, C), slow, units), params,
                                       "u of the layer delta_former"));
        if (t > C) {
          points.push_back(rival_system(held(Slip::old_keys_ignored), params, "earlier chunks ignored"));
          points.push_back(rival_system(held(Slip::merge_exchanged), params, "merge weights exchanged"));
        }
        return points;
      });
  return at_parameters(running(claim, {"delta_former"}), sizes(1024, 32, 64));
}

Claim tail() {
  Claim claim = refuted_row(
      "listing1-tail",
      outside("Listing 1: chunk_nums = $T // C$, called at $T = 1024$, $C = 32$.",
              "$N$ equally sized chunks of length $C = floor(T / N) (D.3)$",
              "The listing is 'a simple implementation, serving as pseudo-code'."),
      "000 Listing 1 (chunk_nums = T // C)",
      "Read more strictly than the text says it: the chunked program gives what the naive one gives at a $T$ that is "
      "not a multiple of $C$.",
      "The last $T$ mod $C$ rows of $u$ are left zero; a ragged last chunk mends it.", [](const Protocol &protocol) {
        std::vector<Point> points;
        std::vector<std::array<int, 3>> cases{{3, 2, 2},
                                              {70, 32, 8}}; // the smallest, and one at which chunks hand over
        if (protocol.point)
          cases = {{protocol.point->integer("T"), protocol.point->integer("C"), protocol.point->integer("d")}};
        for (const auto &[T, C, d] : cases) {
          if (T % C == 0) usage_error("T is a multiple of C: there is no tail");
          if (T < C) usage_error("the tail comes after a whole chunk: T > C");
          const Data x(T, d, d, protocol.seed);
          const std::vector<double> slow = x.naive<double>(Weights::softmax), printed = x.chunked<double>({size_t(C)}),
                                    mended = x.chunked<double>({size_t(C), Weights::softmax, Tail::ragged});
          const double units = units_of(x.A(Weights::softmax), slow);
          const size_t whole = size_t(T / C * C) * d;
          std::vector<double> cut = slow;
          std::fill(cut.begin() + whole, cut.end(), 0.0);
          const Params params = sized(T, C, d);
          points.push_back(as_statement(exact_point(printed, slow, units), params, "u of the printed program"));
          points.push_back(as_obligation(exact_point(mended, slow, units), params, "u with a ragged last chunk"));
          points.push_back(
              rival_system(exact_point(x.chunked<double>({size_t(C), Weights::softmax, Tail::ragged,
                                                          listing::Solve::inverse, Slip::old_keys_ignored}),
                                       slow, units),
                           params, "a last chunk of its own"));
          points.push_back(as_obligation(exact_point(printed, cut, units), params, "printed: right, then zero"));
          points.push_back(as_obligation(exact_point(x.layer(Weights::softmax, C), slow, units), params,
                                         "u of the layer delta_former"));
        }
        return points;
      });
  claim.explanation = "D.3 speaks of equally sized chunks, $C = floor(T / N)$: the listing is written for that case.";
  return at_parameters(running(claim, {"delta_former"}), sizes(70, 32, 8));
}

Claim parallel_blocks() {
  Claim claim = ledger_row(
      "listing1-parallel-blocks", "000 Listing 1, comment at the inverse",
      "Each diagonal block can be inverted in parallel with the others if the normalisation of softmax is not used.",
      "True, and the condition is not needed: $Z_t$ depends on the keys alone, so the blocks of the softmax kernel can "
      "be inverted beforehand as well.",
      [](const Protocol &protocol) {
        int T = 96, C = 16, d = 8;
        if (protocol.point)
          T = protocol.point->integer("T"), C = protocol.point->integer("C"), d = protocol.point->integer("d");
        if (T < 2 * C) usage_error("at T < 2 C there are no two blocks to invert in parallel");
        std::vector<Point> points;
        Data x(T, d, d, protocol.seed);
        for (Weights weights : {Weights::linear, Weights::softmax}) {
          if (weights == Weights::linear)
            normalise_rows(x.K.data, d);
          else
            x = Data(T, d, d, protocol.seed);
          const Params params = sized(T, C, d).set("kernel", weights == Weights::linear ? "linear" : "softmax");
          // listing::chunked inverts every block before it solves the first.
          const auto beforehand = [&](Slip slip) {
            return x.chunked<double>({size_t(C), weights, Tail::ragged, listing::Solve::inverse, slip});
          };
          const std::vector<double> layer = x.layer(weights, C);
          const double units = units_of(x.A(weights), layer);
          points.push_back(weights == Weights::linear
                               ? as_statement(exact_point(layer, beforehand(Slip::none), units), params,
                                              "u of delta_former against blocks inverted beforehand")
                               : as_obligation(exact_point(layer, beforehand(Slip::none), units), params,
                                               "the same with the normaliser"));
          if (weights == Weights::softmax)
            points.push_back(rival_law(exact_point(layer, beforehand(Slip::own_mass_only), units), params,
                                       "mass of the block alone"));
          points.push_back(
              rival_law(exact_point(layer, beforehand(Slip::old_keys_ignored), units), params, "older chunks ignored"));
        }
        return points;
      });
  return at_parameters(running(claim, {"delta_former"}), sizes(96, 16, 8));
}

Claim comment_iteration() {
  Claim claim = refuted_row(
      "listing1-comment-iteration",
      slip("Listing 1, comment at the inverse: $a_{i+1}$, $b_{i+1} = a_i b_i + b_i b_i$.", "none",
           "Eq 100, on the next page, has the iteration right."),
      "000 Listing 1, comment at the inverse",
      "From $a_1$, $b_1 = I - A$, $A^2$ the iteration $a_{i+1}$, $b_{i+1} = a_i b_i + b_i b_i$ gives $(I + A)^{-1}$ "
      "after $log2 C "
      "- 1$ steps.",
      "$a_{i+1} = a_i + a_i b_i$ and $b_{i+1} = b_i b_i$, as in Eq 100.", [](const Protocol &protocol) {
        const int C = protocol.point ? protocol.point->integer("C") : 8, steps = ceil_log2(C) - 1;
        const Dense A = dense_lower(C, protocol.seed), V = normal_matrix(C, 3, protocol.seed, "listing 1/values"),
                    wanted = solve_unit_lower(A, V);
        const auto iterate = [&](auto step, int steps) {
          Dense a = Dense::identity(C) - A, b = A * A;
          for (int i = 0; i < steps; ++i) step(a, b);
          return (a * V).data;
        };
        const auto by_eq_100 = [](Dense &a, Dense &b) { a = a + a * b, b = b * b; };
        const double units = solve_units(A, wanted);
        const Params params = labels({{"C", num(C)}});
        const auto held = [&](auto step) { return exact_point(iterate(step, steps), wanted.data, units); };
        return std::vector<Point>{
            as_statement(held([](Dense &a, Dense &b) { a = b = a * b + b * b; }), params, "by the comment"),
            as_obligation(held(by_eq_100), params, "by Eq 100"),
            rival_system(exact_point(iterate(by_eq_100, steps - 1), wanted.data, units), params, "one step less"),
            rival_system(held([](Dense &a, Dense &b) { a = a * b, b = b * b; }), params, "a_{i+1} = a_i b_i"),
            rival_system(held([](Dense &a, Dense &b) { b = b * b, a = a + a * b; }), params, "b squared first")};
      });
  claim.explanation = "One expression for two names, which drops $a_i$; Eq 100, a page on, has the iteration right.";
  return at_parameters(claim, {integer_param("C", 8, 3, 128, "chunk length")});
}

} // namespace

std::vector<Claim> listing_1() { return {equivalence(), tail(), parallel_blocks(), comment_iteration()}; }

} // namespace recollect::theory
