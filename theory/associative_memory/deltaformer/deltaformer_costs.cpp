// SPDX-License-Identifier: Apache-2.0
// The cost of DeltaFormer (000 §2.2.1, D.3): multiplications, as in footnote 13 of the paper, and sequential steps,
// counted by running the recursion and Listing 1 on counting numbers, not timed.
#include "harness/core/error.hpp"
#include "harness/numerics/inputs.hpp"
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"
#include "theory/associative_memory/deltaformer/listing_1.hpp"
#include "theory/support/counted.hpp"

namespace recollect::theory {
namespace {

using listing::Grid;

/// A number that knows the length of the longest chain of products and quotients that led to it.
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

std::vector<double> values_of(const Grid<Counted> &g) {
  std::vector<double> all;
  for (const auto &row : g)
    for (const Counted &x : row) all.push_back(x.value);
  return all;
}

struct Data {
  Dense K, V;
  Data(int T, int d, std::uint64_t seed)
      : K(normal_matrix(T, d, seed, "costs/keys")), V(normal_matrix(T, d, seed, "costs/values")) {
    normalise_rows(K.data, d);
  }
  template <class N> Grid<N> naive() const {
    return listing::naive(listing::grid<N>(K), listing::grid<N>(V), listing::Weights::linear);
  }
  template <class N> Grid<N> chunked(int C, listing::Solve solve = listing::Solve::inverse) const {
    return listing::chunked(listing::grid<N>(K), listing::grid<N>(V),
                            {size_t(C), listing::Weights::linear, listing::Tail::dropped, solve});
  }
};

Params sized(int T, int C, int d) { return labels({{"T", num(T)}, {"C", num(C)}, {"d", num(d)}}); }

Claim chunked() {
  const std::vector<ParamSpec> params{integer_param("T", 256, 4, 512, "steps, a multiple of C"),
                                      integer_param("C", 16, 2, 128, "chunk length"),
                                      integer_param("d", 8, 1, 64, "key and value width")};
  Claim claim = ledger_row(
      "complexity-chunked", "000 §2.2.1, D.3",
      "For $T >> d$ the $u$ of the recursion cost $O(T^2 d)$ multiplications in $O(T)$ sequential steps; by chunks of "
      "$C$ they "
      "cost $O(T^2 d + T C d + T C^2)$ in $O(T/C)$ steps.",
      "$T (T-1) d$; and exactly $T^2 d + T C d + T C^2$ with an explicit inverse of every block, in $T/C$ chunks of "
      "two "
      "products that wait for one another. A triangular solve has no $T C^2$.",
      [params](const Protocol &protocol) {
        std::vector<Point> points;
        const Params at = point_of(protocol, params);
        const int T = at.integer("T"), C = at.integer("C"), d = at.integer("d");
        if (T % C || T < 2 * C) usage_error("T must be a multiple of C, and two chunks at least");
        const Data x(T, d, protocol.seed);
        const double t = T, c = C, w = d;
        const Params label = sized(T, C, d);
        Grid<Counted> by_recursion, by_inverse, by_solve;
        const auto held = [](double measured, double predicted) { return exact_point(measured, predicted, 0); };
        const double plain = count([&] { by_recursion = x.naive<Counted>(); }),
                     inverse = count([&] { by_inverse = x.chunked<Counted>(C); }),
                     solve = count([&] { by_solve = x.chunked<Counted>(C, listing::Solve::substitution); });
        const Point sequential = as_statement(held(plain, t * (t - 1) * w), label, "multiplications, recursion"),
                    chunked = as_statement(held(inverse, t * t * w + t * c * w + t * c * c), label,
                                           "multiplications, chunks with an inverse");
        points.push_back(sequential);
        points.push_back(rival_law(sequential, "T^2 d", t * t * w));
        points.push_back(chunked);
        points.push_back(rival_law(chunked, "no T C^2", t * t * w + t * c * w));
        points.push_back(rival_law(chunked, "no T C d", t * t * w + t * c * c));
        points.push_back(rival_law(chunked, "the recursion's", t * (t - 1) * w));
        const Point triangular = as_obligation(held(solve, t * (t - c) * w + t * c * w + t * (c - 1) * w / 2), label,
                                               "multiplications, chunks with a triangular solve");
        points.push_back(triangular);
        points.push_back(rival_system(held(inverse, triangular.predicted), label, "inverse for solve"));
        // Steps: u_t waits for one product with u_{t-1}; a chunk waits for two, the read of older u and the inverse.
        const int one = longest_chain(x.chunked<Chained>(C)), // the chain of a whole run, minus that of its first chunk
            first = longest_chain(Data(C, d, protocol.seed).chunked<Chained>(C));
        const Point steps =
            as_statement(held(1 + (one - first) / 2.0, t / c), label, "chunks that wait for one another");
        points.push_back(steps);
        points.push_back(rival_law(steps, "T/C + 1", t / c + 1));
        const Point waits =
            as_statement(held(longest_chain(x.naive<Chained>()), t), label, "products in sequence, recursion");
        points.push_back(waits);
        points.push_back(rival_system(held(one, t), label, "chunks for the recursion"));
        // What was counted is what the layer computes.
        const std::vector<double> layer = written(x.K, x.K, x.V, {"linear", "chunked", C}).data;
        const double units = solve_units(causal_weights(x.K, x.K, linear_kernel, Triangle::strict), Dense(T, d, layer));
        points.push_back(as_obligation(exact_point(values_of(by_inverse), layer, units), label, "u of delta_former"));
        points.push_back(as_obligation(exact_point(values_of(by_solve), layer, units), label, "u of delta_former"));
        points.push_back(as_obligation(exact_point(values_of(by_recursion), layer, units), label, "u of delta_former"));
        return points;
      });
  return at_parameters(running(claim, {"delta_former"}), params);
}

Claim full_inverse() {
  const std::vector<ParamSpec> params{integer_param("T", 32, 4, 256, "steps"),
                                      integer_param("d", 4, 1, 64, "value width")};
  Claim claim = ledger_row(
      "complexity-full-inverse", "000 D.3",
      "Solving $U = (I + A)^{-1} V$ for the whole sequence by a matrix inversion raises the cost to $O(T^3)$.",
      "$T^3$ multiplications for a general inverse, $T (T-1) (T-2) / 6$ for one that knows the triangle; neither is "
      "needed: the triangular solve costs $T (T-1) d / 2$.",
      [params](const Protocol &protocol) {
        const Params at = point_of(protocol, params);
        const int T = at.integer("T"), d = at.integer("d");
        const double t = T;
        const Data x(T, d, protocol.seed);
        const Dense system = Dense::identity(T) + causal_weights(x.K, x.K, linear_kernel, Triangle::strict);
        Grid<Counted> general = listing::grid<Counted>(system), lower(T, listing::Row<Counted>(T)),
                      U = listing::grid<Counted>(x.V);
        const Grid<Counted> A = general;
        const double by_inverse = count([&] { listing::invert(general); });
        const double by_triangle = count([&] { // column j of the inverse of a unit lower triangle
          for (int j = 0; j < T; ++j) {
            lower[j][j] = 1;
            for (int i = j + 1; i < T; ++i) {
              lower[i][j] = Counted(0) - A[i][j];
              for (int p = j + 1; p < i; ++p) lower[i][j] = lower[i][j] - A[i][p] * lower[p][j];
            }
          }
        });
        const double by_solve = count([&] { listing::substitute(A, U); });
        const auto held = [](double measured, double predicted) { return exact_point(measured, predicted, 0); };
        const Params label = labels({{"T", num(T)}, {"d", num(d)}});
        const Point inverse = as_statement(held(by_inverse, t * t * t), label, "multiplications, general inverse"),
                    triangle = as_obligation(held(by_triangle, t * (t - 1) * (t - 2) / 6), label,
                                             "multiplications, triangular inverse"),
                    solve =
                        as_obligation(held(by_solve, t * (t - 1) * d / 2), label, "multiplications, triangular solve");
        const double units = solve_units(system - Dense::identity(T), Dense::identity(T));
        const Dense exact = recollect::inverse(system);
        return std::vector<Point>{
            inverse,
            rival_law(inverse, "T^3 / 3", t * t * t / 3),
            triangle,
            rival_law(triangle, "(T+1) T (T-1) / 6", (t + 1) * t * (t - 1) / 6),
            solve,
            rival_law(solve, "T^2 d / 2", t * t * d / 2),
            rival_system(held(by_triangle, inverse.predicted), label, "triangle for a general matrix"),
            as_obligation(exact_point(values_of(general), exact.data, units * max_abs(exact.data)), label,
                          "the inverse"),
            as_obligation(exact_point(values_of(lower), exact.data, units * max_abs(exact.data)), label,
                          "the inverse, by the triangle"),
            as_obligation(exact_point(values_of(U), written(x.K, x.K, x.V).data, units * max_abs(values_of(U))), label,
                          "u of delta_former")};
      });
  return at_parameters(running(claim, {"delta_former"}), params);
}

/// o_t = sum_i kappa(k_i, q_t) u_i over t kept pairs.
double cost_of_kernel_read(const Data &x) {
  const Grid<Counted> K = listing::grid<Counted>(x.K), U = listing::grid<Counted>(x.V);
  return count([&] {
    listing::Row<Counted> o(U[0].size());
    for (size_t i = 0; i < K.size(); ++i) listing::add(o, exp(listing::inner(K[i], K.back())), U[i]);
  });
}

/// o_t = S_t q_t.
double cost_of_matrix_read(const Data &x) {
  const Grid<Counted> S = listing::grid<Counted>(transpose(x.V) * x.K), K = listing::grid<Counted>(x.K);
  return count([&] {
    for (const auto &row : S) listing::inner(row, K.back());
  });
}

/// u_t alone: the recursion over t steps minus that over t - 1.
double cost_of_write(int t, int d, std::uint64_t seed) {
  return count([&] { Data(t, d, seed).naive<Counted>(); }) - count([&] { Data(t - 1, d, seed).naive<Counted>(); });
}

Claim inference() {
  const std::vector<ParamSpec> params{integer_param("t", 1024, 8, 2048, "step"), integer_param("d", 8, 2, 64, "width")};
  Claim claim = refuted_row(
      "complexity-inference",
      asserted(
          "§2.2.1, Inference phase: '$q_t$ is employed to recall the final output $o_t$ from $S_t$, with computational "
          "and time complexities of $O(d^2)$ and $O(1)$'.",
          "vectors of one width $d$; length $T$; Eq 39 and 40, whose similarity is the exponential",
          "The next sentence adds up: $O(T d + d^2)$.",
          "The $sum O(T d + d^2)$ is an upper bound of the cost with either kernel, and $d^2$ is the cost of a read "
          "from a matrix $S_t$, which a finite feature map has. For the exponential kernel the read is the $T$ $d$ "
          "that "
          "is counted already."),
      "000 §2.2.1, Inference phase",
      "At a step of inference $u_t$ costs $O(T d)$, $o_t$ is then recalled from $S_t$ in $O(d^2)$, together $O(T d + "
      "d^2)$.",
      "With the exponential kernel $S_t$ has no finite matrix: $o_t$ costs $t (d_k + d_v)$ and $u_t (t-1) (d_k + "
      "d_v)$. $d^2$ "
      "is right for the linear kernel, and the total stays an upper bound.",
      [params](const Protocol &protocol) {
        const Params at = point_of(protocol, params);
        const int t = at.integer("t"), d = at.integer("d");
        if (2 * t == d) usage_error("at t = d/2 the two costs of a read are the same");
        const Data now(t, d, protocol.seed), early(t / 8, d, protocol.seed);
        const double read = cost_of_kernel_read(now), write = cost_of_write(t, d, protocol.seed);
        const auto held = [](double measured, double predicted) { return exact_point(measured, predicted, 0); };
        const Params label = labels({{"t", num(t)}, {"d", num(d)}});
        const Point reads = as_obligation(held(read, 2.0 * t * d), label, "multiplications of a read, exp"),
                    writes = as_obligation(held(write, 2.0 * (t - 1) * d), label, "multiplications of a write"),
                    linear = as_obligation(held(cost_of_matrix_read(now), double(d) * d), label,
                                           "multiplications of a read, linear kernel");
        std::vector<Point> points{
            as_statement(held(read, double(d) * d), label, "multiplications of a read, exp: d^2"),
            reads,
            rival_law(reads, "2 (t-1) d", 2.0 * (t - 1) * d),
            rival_system(held(cost_of_kernel_read(early), reads.predicted), label, "read at t/8"),
            writes,
            rival_law(writes, "2 t d", 2.0 * t * d),
            linear,
            rival_system(held(read, linear.predicted), label, "exp for the linear kernel"),
            as_obligation(at_most_point(read + write, 4.0 * t * d, 0), label, "both, at most 4 T d")};
        if (t > 8 * d)
          points.push_back(rival_system(at_most_point(count([&] { now.naive<Counted>(); }), 4.0 * t * d, 0), label,
                                        "all u anew at every step"));
        return points;
      });
  claim.explanation =
      "The two sentences before it are about the kernel whose feature map is infinite (Eq 11). For it the read is "
      "the sum of Eq 40, over all $t$ kept pairs.";
  return at_parameters(claim, params);
}

} // namespace

std::vector<Claim> deltaformer_costs() { return {chunked(), full_inverse(), inference()}; }

} // namespace recollect::theory
