// SPDX-License-Identifier: Apache-2.0
// (I + A)^{-1} of a strictly lower triangular A by repeated squaring (000 D.3.1, Eq 98-100): its result, the number of
// squarings, and its rounding error. The form `doubling` of the layer delta_former uses it.
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"
#include "theory/associative_memory/deltaformer/doubling.hpp"

namespace recollect::theory {
namespace {
std::vector<Changes> sizes(const std::vector<int> &all) {
  std::vector<Changes> points;
  for (int C : all) points.push_back({{"C", C}});
  return points;
}
Params params_of(int C) { return labels({{"C", C}}); }
Dense by_layer(const Dense &A, const Dense &V) { return written(A, V, {"linear", "doubling", A.rows}); }

Dense power(const Dense &A, int exponent) {
  Dense product = Dense::identity(A.rows);
  for (int i = 0; i < exponent; ++i) product = product * A;
  return product;
}

/// The system (I + A) U = V.
struct System {
  Dense A, I, V, U;
  double units;
  System(int C, std::uint64_t seed)
      : A(dense_lower(C, seed)), I(Dense::identity(C)), V(normal_matrix(C, 3, seed, "doubling/values")),
        U(solve_unit_lower(A, V)), units(solve_units(A, U)) {}
  /// Compares (I + A) X after `iterations` squarings with I - A^exponent; by Eq 98 the exponent is 2^(iterations + 1).
  Point remainder(int iterations, int exponent) const {
    return exact_point(((I + A) * doubling(A, iterations).X * V).data, ((I - power(A, exponent)) * V).data, units);
  }
};

Claim identity() {
  ClaimBuilder c("neumann-doubling", "000 D.3.1, Eq 98-100");
  c.says("For a strictly lower triangular $A$ of size $C$ x $C$, $C$ generally 64, $A^C = 0$ and $(I + A)^{-1} = (I - "
         "A) prod_{i=1}^{log2 C - 1} (I + A^{2^i})$, which $log2 C - 1$ iterations of Eq 100 compute.");
  c.exactly("An identity if $C$ is a power of two. It takes $2 log2 C - 2$ products of $C$ x $C$ matrices. Eq 99 "
            "prints the upper limit of the product as $log2 C^{-1}$.");
  c.runs({"delta_former"}), c.takes({integer_param("C", 64, 4, 256, "chunk length, a power of two")});
  c.at(sizes({4, 8, 64}), sizes({4, 8, 16, 32, 64}));
  return measure(c, [](Points &points, Seed seed, int C) {
    const int iterations = floor_log2(C) - 1;
    if (C < 4 || floor_log2(C) != ceil_log2(C)) usage_error("C must be a power of two from 4 on (neumann_non_power2)");
    const System x(C, seed);
    const Doubled doubled = doubling(x.A, iterations), short_of_one = doubling(x.A, iterations - 1);
    points.rounding(x.units).statement("U after $log2 C - 1$ iterations, against substitution", doubled.X * x.V, x.U);
    points.wrong_system("one iteration less", short_of_one.X * x.V, x.U);
    points.statement("U of delta_former in its form doubling, against substitution", by_layer(x.A, x.V), x.U);
    points.wrong_system("$I + A$ in place of $I - A$", by_layer(-1 * x.A, x.V), x.U);
    points.rounding(0)
        .statement("number of products of C x C matrices: $2 log2 C - 2$", doubled.products, 2 * std::log2(C) - 2)
        .but_not("$2 log2 C$", 2 * std::log2(C));
    points.obligation("$(I + A) X$ after one iteration less, against $I - A^{C/2}$", x.remainder(iterations - 1, C / 2))
        .but_not("$I - A^{C/2 - 1}$", x.remainder(iterations - 1, C / 2 - 1));
  });
}

Claim other_sizes() {
  ClaimBuilder c("neumann-non-power2", "000 D.3.1, Eq 99-100");
  c.says("Stricter reading: $log2 C - 1$ iterations, with the logarithm rounded down, invert $I + A$ at any $C$.");
  c.is_refuted(outside("D.3.1, Eq 99-100: $log2 C - 1$ iterations.", "'under the setting of [48], $C$ is generally 64'",
                       "Eq 98 holds with $A^C = 0$ for $C$ a power of two, which is the case treated."));
  c.exactly(
      "$ceil(log2 C) - 1$ iterations suffice. With the logarithm rounded down, $(I + A) X = I - A^{2^floor(log2 C)}$.");
  c.because("The paper assumes $C = 64$.");
  c.runs({"delta_former"}), c.takes({integer_param("C", 12, 3, 255, "chunk length, no power of two")});
  c.at(sizes({3, 5, 12}), sizes({3, 5, 12, 63}));
  return measure(c, [](Points &points, Seed seed, int C) {
    const int down = floor_log2(C) - 1, up = ceil_log2(C) - 1;
    if (C < 3 || down == up) usage_error("C is a power of two: see neumann_doubling");
    const System x(C, seed);
    points.rounding(x.units).statement("U after $floor(log2 C) - 1$ iterations, against substitution",
                                       doubling(x.A, down).X * x.V, x.U);
    points.obligation("U after $ceil(log2 C) - 1$ iterations, against substitution", doubling(x.A, up).X * x.V, x.U);
    points.wrong_system("$I + A$ in place of $I - A$", doubling(-1 * x.A, up).X * x.V, x.U);
    points.obligation("U of delta_former in its form doubling, against substitution", by_layer(x.A, x.V), x.U);
    points
        .obligation("$(I + A) X$ after $floor(log2 C) - 1$ iterations, against $I - A^{2^floor(log2 C)}$",
                    x.remainder(down, 2 << down))
        .but_not("$(I + A) X = I$", exact_point(((x.I + x.A) * doubling(x.A, down).X * x.V).data, x.V.data, x.units));
  });
}

/// One key, repeated: A is all ones below the diagonal, A^m(i,j) = binomial(i-j-1, m-1), and (I + A)^{-1} is 1 on the
/// diagonal, -1 just below it, and 0 elsewhere.
Sequence repeated_key(int T, std::uint64_t seed) {
  Sequence s = random_sequence({1, 1, T, 4, 3}, seed);
  for (size_t i = 0; i < s.k.size(); ++i) s.k[i] = i % 4 == 0;
  s.q = s.w = s.k, s.alpha.clear(), s.beta.clear();
  return s;
}

double binomial(int n, int k) {
  double product = 1;
  for (int i = 1; i <= k; ++i) product = product * (n - k + i) / i;
  return product;
}

Claim rounding() {
  ClaimBuilder c("neumann-fp-error", "000 D.3.1");
  c.says("Stricter reading: the doubling replaces forward substitution without loss of accuracy.");
  c.is_refuted(stricter("D.3.1: the iteration calculates $(I + A)^{-1}$ on GPUs, where forward substitution does not "
                        "use their parallelism.",
                        "A strictly lower triangular", "The text does not mention accuracy in floating point."));
  c.exactly("The doubling is exact algebra but not backward stable. With one unit key repeated and the linear kernel, "
            "the powers of $A$ contain binomials up to $C(C-2, C/2-1)$, 4.65e17 at $C = 64$. Every digit is lost, "
            "while substitution is exact. For softmax rows the doubling is safe.");
  c.because("The text claims only efficiency on GPUs. The layer delta_former substitutes by default and has the "
            "doubling as a separate form.");
  c.runs({"delta_former"});
  return measure(c, [](Points &points, Seed seed) {
    const int C = 64;
    const Variant &layer = find_variant("delta_former");
    const Sequence same_key = repeated_key(C, seed);
    Sequence soft = random_sequence({1, 1, C, 16, 3}, seed, Keys::gaussian);
    soft.w = soft.k, soft.alpha.clear(), soft.beta.clear();
    const auto point = [&](const Sequence &s, const std::string &kappa1, const std::string &form, Real real) {
      const Params kernels = variant_params(layer, {{"kappa1", kappa1}});
      const Vector reference = forward(layer, s, {"recurrent", Real::f64, 1, kernels}).o;
      // The error of a backward stable solve is at most n eps kappa.
      return exact_point(forward(layer, s, {form, real, C, kernels}).o, reference,
                         accumulated_terms(s.shape, C) * input_condition(layer, s, kernels, 2) * max_abs(reference) *
                             epsilon_of(real) / epsilon_of(Real::f64));
    };
    for (Real real : {Real::f32, Real::f64}) {
      points.at(params_of(C).set("real", name_of(real)))
          .statement("reads with one key repeated, doubling against the recurrent form",
                     point(same_key, "linear", "doubling", real));
      points.obligation("reads with one key repeated, substitution against the recurrent form",
                        point(same_key, "linear", "chunked", real));
      points.obligation("reads with softmax rows, doubling against the recurrent form",
                        point(soft, "softmax", "doubling", real));
      points.wrong_system("the doubling in place of substitution", point(same_key, "linear", "doubling", real));
    }
    Dense ones(C, C);
    for (int t = 0; t < C; ++t)
      for (int i = 0; i < t; ++i) ones(t, i) = 1;
    const double largest = binomial(C - 2, C / 2 - 1);
    points.at(params_of(C))
        .rounding(4.0 * C * floor_log2(C) * largest)
        .obligation("largest entry of a power of A, one key repeated: $C(C-2, C/2-1)$",
                    doubling(ones, floor_log2(C) - 1).largest_power, largest)
        .but_not("$C(C-1, C/2-1)$", binomial(C - 1, C / 2 - 1))
        .but_not("$2^C$", std::exp2(C));
  });
}
} // namespace

std::vector<Claim> neumann() { return {identity(), other_sizes(), rounding()}; }
} // namespace recollect::theory
