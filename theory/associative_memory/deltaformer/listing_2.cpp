// SPDX-License-Identifier: Apache-2.0
// The toy model of 000 Listing 2 (E.4): the sign of its triangular solve, and its softmax over masked entries.
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"
#include "theory/associative_memory/deltaformer/listing_1.hpp"

namespace recollect::theory {
namespace {
const std::vector<ParamSpec> sizes{steps_param(20, 2, 256), key_width_param(8, 2, 256), value_width_param(4, 1, 256)};

struct Data {
  Dense k, w, v;
  Data(int T, int d, int dv, Seed seed)
      : k(unit_rows(T, d, seed, "listing 2/keys")), w(unit_rows(T, d, seed, "listing 2/lookups")),
        v(normal_matrix(T, dv, seed, "listing 2/values")) {}
  /// kernel(w_t . k_i) for i < t. Other elements are kernel(0), because the listing masks with zeros before it applies
  /// the kernel.
  Dense stored(const Kernel &kernel) const {
    Dense A = causal_weights(k, w, linear_kernel, Triangle::strict);
    for (double &x : A.data) x = kernel(x);
    return A;
  }
};

/// torch.linalg.solve_triangular(A, b, upper=False, unitriangular=True).
Dense solve_triangular(const Dense &A, const Dense &b) {
  Grid<double> U = listing::grid<double>(b);
  listing::substitute(listing::grid<double>(A), U);
  Dense u(b.rows, b.columns);
  for (int t = 0; t < b.rows; ++t)
    for (int c = 0; c < b.columns; ++c) u(t, c) = U[t][c];
  return u;
}

Claim solve_sign() {
  ClaimBuilder c("listing2-solve-sign", "000 Listing 2");
  c.says("$u$ = solve_triangular($beta A$, $alpha v$, upper=False, unitriangular=True) is Eq 41, $u_t = alpha v_t - "
         "beta sum_{i<t} kappa_1(k_i, w_t) u_i$.");
  c.exactly("The call solves $(I + beta tril(A, -1)) u = alpha v$. The diagonal and the upper part of $A$, where exp "
            "turns the masked zeros into 1, are not read.");
  c.runs({"delta_former"}), c.takes(sizes);
  return measure(c, [](Points &points, Seed seed, const Params &p, int T, int d, int dv) {
    const Data x(T, d, dv, seed);
    const double alpha = 0.7, beta = 0.4;
    for (const char *kernel : {"linear", "exp"}) {
      const Dense A = x.stored(std::string(kernel) == "exp" ? exp_kernel : linear_kernel), I = Dense::identity(A.rows);
      DeltaFormerRun run{kernel};
      run.alpha = alpha, run.beta = beta;
      const Dense layer = written(x.k, x.w, x.v, run), u = solve_triangular(beta * A, alpha * x.v);
      Dense lower = A; // a solve that is not unit triangular reads this matrix
      for (int t = 0; t < T; ++t)
        for (int i = t + 1; i < T; ++i) lower(t, i) = 0;
      Dense strict = lower;
      for (int t = 0; t < T; ++t) strict(t, t) = 0, lower(t, t) = 1;
      points.at(changed(p, {{"kernel", kernel}})).rounding(solve_units(beta * strict, u));
      auto stated = points.statement("u of delta_former, against the solve", layer, u)
                        .but_not("$beta$ with the opposite sign", solve_triangular(-beta * A, alpha * x.v))
                        .but_not("the diagonal of A used", inverse(I + beta * lower) * (alpha * x.v));
      if (std::string(kernel) == "exp") // the linear kernel leaves zeros there
        stated.but_not("the upper part of A used", inverse(I + beta * A) * (alpha * x.v));
    }
  });
}

Claim softmax_mask() {
  ClaimBuilder c("listing2-softmax-mask", "000 Listing 2, kernel_1 = 'softmax'");
  c.says("Stricter reading: the branch kernel_1 = 'softmax', which neither of the two kernel pairs of the listing "
         "takes, is the normalisation of Eq 94.");
  c.is_refuted(stricter(
      "Listing 2, branch kernel_1 == 'softmax': entries at and above the diagonal are set to 0 before the softmax.",
      "the branch is not among the pairs that the listing runs",
      "The listing is 'a reference code'; it does not say that the branch is Eq 94."));
  c.exactly("Masked logits are 0 instead of $-inf$, so that each adds $e^0$ to the normaliser of the row. The weight "
            "of the first step at the second, with logit $x$, is $e^x / (e^x + T - 1)$ and depends on the length $T$ "
            "of the whole sequence. Listing 1 has the causal normaliser.");
  c.because("For kernels without a normaliser the masked entries do no harm, because the solve reads only below the "
            "diagonal (listing2_solve_sign). For softmax the mask must be minus infinity.");
  c.runs({"delta_former"}), c.takes(sizes), c.at({{{"T", 2}}, {{"T", 32}}});
  return measure(c, [](Points &points, Seed seed, int T, int d, int dv) {
    const Data x(T, d, dv, seed);
    const double e_x = std::exp(recollect::inner(&x.k.data[0], &x.w.data[d], d));
    // torch.softmax over whole rows in which the masked logits are 0
    const Dense listed = normalise_sums(x.stored(exp_kernel)),
                causal = normalise_sums(causal_weights(x.k, x.w, exp_kernel, Triangle::strict));
    const double weight = listed(1, 0);
    points.rounding(8).statement("weight of the first step at the second, against the causal weight 1", weight, 1);
    points.rounding(8.0 * T)
        .obligation("weight of the first step at the second, against $e^x / (e^x + T - 1)$", weight,
                    e_x / (e_x + T - 1))
        .but_not("$T$ in place of $T - 1$", e_x / (e_x + T))
        .but_not("1, as if masked by $-inf$", 1);
    const Dense u = solve_unit_lower(causal, x.v);
    points.rounding(solve_units(causal, u));
    points.obligation("$u$ of delta_former, against masking by $-inf$", written(x.k, x.w, x.v, {"softmax"}), u)
        .but_not("u with the weights of the listing's branch", solve_triangular(listed, x.v));
  });
}
} // namespace

std::vector<Claim> listing_2() { return {solve_sign(), softmax_mask()}; }
} // namespace recollect::theory
