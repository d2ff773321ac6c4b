// SPDX-License-Identifier: Apache-2.0
// The cost of DeltaFormer (000 §2.2.1, D.3): multiplications, as in footnote 13 of the paper, and sequential steps.
// Nothing is timed: the recursion and Listing 1 run on a number type that counts operations.
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"
#include "theory/associative_memory/deltaformer/listing_1.hpp"

namespace recollect::theory {
namespace {
/// A number with the length of the longest chain of products and quotients by which it was computed.
struct Chained {
  double value = 0;
  int chain = 0;
  Chained(double value = 0, int chain = 0) : value(value), chain(chain) {}
};
int longer(const Chained &a, const Chained &b) { return std::max(a.chain, b.chain); }
Chained operator*(const Chained &a, const Chained &b) { return {a.value * b.value, longer(a, b) + 1}; }
Chained operator/(const Chained &a, const Chained &b) { return {a.value / b.value, longer(a, b) + 1}; }
Chained operator+(const Chained &a, const Chained &b) { return {a.value + b.value, longer(a, b)}; }
Chained operator-(const Chained &a, const Chained &b) { return {a.value - b.value, longer(a, b)}; }
Chained exp(Chained x) { return {std::exp(x.value), x.chain}; }
Chained log(Chained x) { return {std::log(x.value), x.chain}; }

template <class N> int longest_chain(const Grid<N> &g) {
  int longest = 0;
  for (const auto &row : g)
    for (const N &x : row) longest = std::max(longest, x.chain);
  return longest;
}

struct Data {
  Dense K, V;
  Data(int T, int d, std::uint64_t seed)
      : K(unit_rows(T, d, seed, "costs/keys")), V(normal_matrix(T, d, seed, "costs/values")) {}
  template <class N> Grid<N> naive() const {
    return listing::naive(listing::grid<N>(K), listing::grid<N>(V), listing::Weights::linear);
  }
  template <class N> Grid<N> chunked(int C, listing::Solve solve = listing::Solve::inverse) const {
    return listing::chunked(listing::grid<N>(K), listing::grid<N>(V),
                            {size_t(C), listing::Weights::linear, listing::Tail::dropped, solve});
  }
};

Claim chunked() {
  ClaimBuilder c("complexity-chunked", "000 §2.2.1, D.3");
  c.says("For $T >> d$ the recursion computes all $u$ with $O(T^2 d)$ multiplications in $O(T)$ sequential steps. "
         "Chunks of $C$ steps take $O(T^2 d + T C d + T C^2)$ multiplications in $O(T/C)$ sequential steps.");
  c.exactly("The recursion costs $T (T-1) d$ multiplications. Chunks cost exactly $T^2 d + T C d + T C^2$ if every "
            "block is inverted explicitly, in $T/C$ chunks of two dependent products each. With a triangular solve "
            "there is no term $T C^2$.");
  c.runs({"delta_former"});
  c.takes({integer_param("T", 256, 4, 512, "steps, a multiple of C"), integer_param("C", 16, 2, 128, "chunk length"),
           integer_param("d", 8, 1, 64, "key and value width")});
  return measure(c, [](Points &points, Seed seed, int T, int C, int d) {
    if (T % C || T < 2 * C) usage_error("T must be a multiple of C, and two chunks at least");
    const Data x(T, d, seed);
    const double t = T, c = C, w = d;
    Grid<Counted> by_recursion, by_inverse, by_solve;
    const double plain = count([&] { by_recursion = x.naive<Counted>(); }),
                 inverse = count([&] { by_inverse = x.chunked<Counted>(C); }),
                 solve = count([&] { by_solve = x.chunked<Counted>(C, listing::Solve::substitution); }),
                 of_solve = t * (t - c) * w + t * c * w + t * (c - 1) * w / 2;
    points.at({{"T", T}, {"C", C}, {"d", d}}).rounding(0);
    points.statement("multiplications of the recursion: $T (T-1) d$", plain, t * (t - 1) * w)
        .but_not("$T^2 d$", t * t * w);
    points
        .statement("multiplications of chunks with an inverse: $T^2 d + T C d + T C^2$", inverse,
                   t * t * w + t * c * w + t * c * c)
        .but_not("the law without $T C^2$", t * t * w + t * c * w)
        .but_not("the law without $T C d$", t * t * w + t * c * c)
        .but_not("$T (T-1) d$, as for the recursion", t * (t - 1) * w);
    points.obligation("multiplications of chunks with a triangular solve", solve, of_solve);
    points.wrong_system("chunks with an inverse in place of a triangular solve", inverse, of_solve);
    // In the recursion u_t depends on u_{t-1} by one product. A chunk depends on the previous chunk by two products,
    // with older u and with the inverse. The chain of the first chunk is subtracted from the chain of a whole run.
    const int one = longest_chain(x.chunked<Chained>(C)), first = longest_chain(Data(C, d, seed).chunked<Chained>(C));
    points.statement("sequential steps of the chunks: $T/C$", 1 + (one - first) / 2.0, t / c)
        .but_not("$T/C + 1$", t / c + 1);
    points.statement("sequential steps of the recursion: T", longest_chain(x.naive<Chained>()), t);
    points.wrong_system("chunks in place of the recursion", one, t);
    // The counted algorithm computes the same u as the layer.
    const Vector layer = written(x.K, x.K, x.V, {"linear", "chunked", C}).data;
    const double units = solve_units(causal_weights(x.K, x.K, linear_kernel, Triangle::strict), Dense(T, d, layer));
    points.rounding(units).obligation("u by the counted chunks with an inverse, against delta_former",
                                      values_of(by_inverse), layer);
    points.obligation("u by the counted chunks with a triangular solve, against delta_former", values_of(by_solve),
                      layer);
    points.obligation("u by the counted recursion, against delta_former", values_of(by_recursion), layer);
  });
}

Claim full_inverse() {
  ClaimBuilder c("complexity-full-inverse", "000 D.3");
  c.says("Solving $U = (I + A)^{-1} V$ for the whole sequence by a matrix inversion raises the cost to $O(T^3)$.");
  c.exactly("A general inverse takes $T^3$ multiplications, a triangular inverse $T (T-1) (T-2) / 6$. Neither is "
            "needed, because a triangular solve takes $T (T-1) d / 2$.");
  c.runs({"delta_former"}), c.takes({steps_param(32, 4, 256), integer_param("d", 4, 1, 64, "value width")});
  return measure(c, [](Points &points, Seed seed, int T, int d) {
    const double t = T;
    const Data x(T, d, seed);
    const Dense system = Dense::identity(T) + causal_weights(x.K, x.K, linear_kernel, Triangle::strict);
    Grid<Counted> general = listing::grid<Counted>(system), lower(T, Row<Counted>(T)), U = listing::grid<Counted>(x.V);
    const Grid<Counted> A = general;
    const double by_inverse = count([&] { listing::invert(general); });
    const double by_triangle = count([&] { // substitution: column j of the inverse of a unit lower triangular matrix
      for (int j = 0; j < T; ++j) {
        lower[j][j] = 1;
        for (int i = j + 1; i < T; ++i) {
          lower[i][j] = Counted(0) - A[i][j];
          for (int p = j + 1; p < i; ++p) lower[i][j] = lower[i][j] - A[i][p] * lower[p][j];
        }
      }
    });
    const double by_solve = count([&] { listing::substitute(A, U); });
    points.at({{"T", T}, {"d", d}}).rounding(0);
    points.statement("multiplications of a general inverse: $T^3$", by_inverse, t * t * t)
        .but_not("$T^3 / 3$", t * t * t / 3);
    points
        .obligation("multiplications of a triangular inverse: $T (T-1) (T-2) / 6$", by_triangle,
                    t * (t - 1) * (t - 2) / 6)
        .but_not("$(T+1) T (T-1) / 6$", (t + 1) * t * (t - 1) / 6);
    points.obligation("multiplications of a triangular solve: $T (T-1) d / 2$", by_solve, t * (t - 1) * d / 2)
        .but_not("$T^2 d / 2$", t * t * d / 2);
    points.wrong_system("a triangular inverse in place of a general one", by_triangle, t * t * t);
    const double units = solve_units(system - Dense::identity(T), Dense::identity(T));
    const Dense exact = recollect::inverse(system);
    points.rounding(units * max_abs(exact.data))
        .obligation("$(I + A)^{-1}$ by the counted general inverse", values_of(general), exact.data);
    points.obligation("$(I + A)^{-1}$ by the counted triangular inverse", values_of(lower), exact.data);
    points.rounding(units * max_abs(values_of(U)))
        .obligation("u by the counted triangular solve, against delta_former", values_of(U),
                    written(x.K, x.K, x.V).data);
  });
}

/// o_t = sum_i kappa(k_i, q_t) u_i over t kept pairs.
double cost_of_kernel_read(const Data &x) {
  const Grid<Counted> K = listing::grid<Counted>(x.K), U = listing::grid<Counted>(x.V);
  Row<Counted> o(U[0].size());
  return count([&] {
    for (size_t i = 0; i < K.size(); ++i) add(o, exp(inner(K[i], K.back())), U[i]);
  });
}

/// o_t = S_t q_t.
double cost_of_matrix_read(const Data &x) {
  const Grid<Counted> S = listing::grid<Counted>(transpose(x.V) * x.K), K = listing::grid<Counted>(x.K);
  return count([&] { times(S, K.back()); });
}

/// The cost of u_t alone: the products of the recursion over t steps minus its products over t - 1 steps.
double cost_of_write(int t, int d, std::uint64_t seed) {
  return count([&] { Data(t, d, seed).naive<Counted>(); }) - count([&] { Data(t - 1, d, seed).naive<Counted>(); });
}

Claim inference() {
  ClaimBuilder c("complexity-inference", "000 §2.2.1, Inference phase");
  c.says("At a step of inference $u_t$ costs $O(T d)$. Then $o_t$ is recalled from $S_t$ in $O(d^2)$. Together they "
         "cost $O(T d + d^2)$.");
  c.is_refuted(asserted("§2.2.1, Inference phase: '$q_t$ is employed to recall the final output $o_t$ from $S_t$, with "
                        "computational and time complexities of $O(d^2)$ and $O(1)$'.",
                        "vectors of one width $d$; length $T$; Eq 39 and 40, whose similarity is the exponential",
                        "The next sentence adds up: $O(T d + d^2)$.",
                        "The sum $O(T d + d^2)$ is an upper bound of the cost with either kernel, and $d^2$ is the "
                        "cost of a read from a matrix $S_t$, which exists for a finite feature map. For the "
                        "exponential kernel the read costs $T d$, which is counted already."));
  c.exactly("With the exponential kernel $S_t$ has no finite matrix: $o_t$ costs $t (d_k + d_v)$, and $u_t$ costs "
            "$(t-1) (d_k + d_v)$. The cost $d^2$ is right for the linear kernel, and the total stays an upper bound.");
  c.because("The two sentences before this one in the paper are about the kernel with an infinite feature map (Eq 11). "
            "For that kernel the read is the sum of Eq 40 over all $t$ stored pairs.");
  c.takes({integer_param("t", 1024, 8, 2048, "step"), integer_param("d", 8, 2, 64, "width")});
  return measure(c, [](Points &points, Seed seed, int t, int d) {
    if (2 * t == d) usage_error("at t = d/2 the two costs of a read are the same");
    const Data now(t, d, seed), early(t / 8, d, seed);
    const double read = cost_of_kernel_read(now), write = cost_of_write(t, d, seed);
    points.at({{"t", t}, {"d", d}})
        .rounding(0)
        .statement("multiplications of a read with the exp kernel, against $d^2$", read, double(d) * d);
    points.obligation("multiplications of a read with the exp kernel: $2 t d$", read, 2.0 * t * d)
        .but_not("$2 (t-1) d$", 2.0 * (t - 1) * d);
    points.wrong_system("a read at step $t/8$", cost_of_kernel_read(early), 2.0 * t * d);
    points.obligation("multiplications of a write: $2 (t-1) d$", write, 2.0 * (t - 1) * d)
        .but_not("$2 t d$", 2.0 * t * d);
    points.obligation("multiplications of a read with the linear kernel: $d^2$", cost_of_matrix_read(now),
                      double(d) * d);
    points.wrong_system("the exp kernel in place of the linear kernel", read, double(d) * d);
    points.obligation("multiplications of read and write together, at most $4 t d$",
                      at_most_point(read + write, 4.0 * t * d, 0));
    if (t > 8 * d)
      points.wrong_system("all u computed again at every step",
                          at_most_point(count([&] { now.naive<Counted>(); }), 4.0 * t * d, 0));
  });
}
} // namespace

std::vector<Claim> deltaformer_costs() { return {chunked(), full_inverse(), inference()}; }
} // namespace recollect::theory
