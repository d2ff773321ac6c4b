// SPDX-License-Identifier: Apache-2.0
// U = (I + A)^{-1} V, the matrix form of DeltaFormer (000 D.3, Eq 96-97). Three measurements: whether U equals the
// recursion; the condition number of I + A (§3.2); and whether the swaps of Theorem 1 stay exact if the system is
// solved by chunks.
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"
#include "theory/associative_memory/tracking/swaps.hpp"
#include "theory/support/quadrature.hpp"
#include "theory/support/sampling.hpp"

namespace recollect::theory {
namespace {
Claim matrix_form_of_the_recursion() {
  ClaimBuilder c("eq97-matrix-form", "000 D.3, Eq 96-97");
  c.says("Let the lower triangular $A$ hold the weights $A(t,i)$ of $u_i$ in $u_t$. Then the recursion $U = V - A U$ "
         "is $U = (I + A)^{-1} V$.");
  c.exactly("An identity; $A$ is strictly lower triangular.");
  c.runs({"delta_former"});
  c.takes({steps_param(20, 3, 512), key_width_param(8, 2, 512), value_width_param(4, 1, 512)});
  return measure(c, [](Points &points, Seed seed, int T, int d, int dv) {
    const Dense K = unit_rows(T, d, seed, "eq97/keys"), V = normal_matrix(T, dv, seed, "eq97/values"),
                I = Dense::identity(T);
    const auto add = [&](const std::string &kernel, const Dense &k, const Kernel &f) {
      const auto weights = [&](Triangle triangle) {
        const Dense A = causal_weights(k, k, f, triangle);
        return kernel == "softmax" ? normalise_sums(A) : A;
      };
      const Dense A = weights(Triangle::strict), recursion = written(k, k, V, {kernel});
      points.at({{"kernel", kernel}, {"T", T}, {"d", d}, {"dv", dv}}).rounding(solve_units(A, recursion));
      points.statement("u of delta_former against $(I + A)^-1 V$", recursion, inverse(I + A) * V)
          .but_not("$(I - A)^-1 V$", inverse(I - A) * V)
          .but_not("the diagonal of A kept", inverse(I + weights(Triangle::with_diagonal)) * V)
          .but_not("$(I - A) V$", (I - A) * V);
    };
    add("linear", K, linear_kernel);
    add("softmax", K, exp_kernel);
    add("round", 2 * K, round_kernel); // the kernel is round(4 cosine)
  });
}

/// E log |(I - k k^T) x| over k ~ N(0, I_d), |x| = 1: let g = k.x and s = |k|^2 - g^2 ~ chi^2_{d-1}; then |x - g k|^2 =
/// (1 - g^2)^2 + g^2 s. `excess` is added to s; excess = 2 gives a rival law with |k|^2 in place of |k|^2 - 2.
double growth_of_gaussian_keys(int d, double excess = 0) {
  const Rule root = length_rule(d - 1, 0, 0); // quadrature over sqrt(s)
  const auto given_g = [&](double g) {
    return root.integral([&](double x) { return 0.5 * std::log(std::pow(1 - g * g, 2) + g * g * (x * x + excess)); })
        .value;
  };
  return integrate([&](double g) { return 2 * std::exp(-g * g / 2) / std::sqrt(2 * M_PI) * given_g(g); }, 0, 1).value +
         integrate([&](double g) { return 2 * std::exp(-g * g / 2) / std::sqrt(2 * M_PI) * given_g(g); }, 1, 13).value;
}

/// The log growth per step, over 50 steps, of a row of DeltaNet's state that is only erased (v = 0, beta = 1). Each
/// head gives one sample. The keys are isotropic, so the factor of every step follows the law above, independently of
/// earlier steps.
Vector erasures(size_t first, size_t heads, int d, bool unit, std::uint64_t seed) {
  const int T = 50;
  Vector keys = Stream(seed, "conditioning/keys").normals(heads * T * d, first * T * d);
  if (unit) normalise_rows(keys, d);
  Sequence s = stored({1, int(heads), T, d, 1}, keys, Vector(heads * T, 0.0));
  s.state.assign(heads * d, 0.0);
  for (size_t head = 0; head < heads; ++head) s.state[head * d] = 1;
  const Vector end = run("delta_net", s).state;
  Vector growth;
  for (size_t head = 0; head < heads; ++head)
    growth.push_back(0.5 * std::log(inner(&end[head * d], &end[head * d], d)) / T);
  return growth;
}

/// The growth of log cond(I + A) per step between T = 8 and T = 24, over 64 draws of 24 keys.
Mean growth_of_condition(const Kernel &f, bool unit, bool normalised, const Protocol &protocol) {
  Vector growth;
  for (int draw = 0; draw < (protocol.full() ? 1024 : 64); ++draw) {
    Dense K(24, 16, Stream(protocol.seed, "conditioning/sets", draw).normals(24 * 16));
    if (unit) normalise_rows(K.data, 16);
    const auto log_condition = [&](int T) {
      const Dense first(T, 16, {K.data.begin(), K.data.begin() + size_t(T) * 16});
      const Dense A = causal_weights(first, first, f, Triangle::strict);
      // by substitution, because for condition numbers above 1 / eps the smallest singular value is lost in rounding
      const Dense one = Dense::identity(T), rows = normalised ? normalise_sums(A) : A;
      return std::log(spectral_norm(one + rows) * spectral_norm(solve_unit_lower(rows, one)));
    };
    growth.push_back((log_condition(24) - log_condition(8)) / 16);
  }
  return mean_of(growth);
}

Claim conditioning() {
  ClaimBuilder c("deltaformer-exp-conditioning", "000 §3.2 after Eq 49");
  c.says("With an unsuitable similarity $kappa_1$ errors accumulate in the update of $u$: the matrix that is inverted "
         "is likely to be ill-conditioned.");
  c.exactly("With unsuitable kernels cond$(I + A)$ grows exponentially in $T$. If one unit key is repeated with the "
            "exp kernel, the bottom left entry of the inverse is $-e (1 - e)^{T-2}$. With Gaussian keys and the linear "
            "kernel, $E log |(I - k k^T) x| > 0$ for a unit vector $x$, at every step. For softmax rows, and for unit "
            "keys with the linear kernel, the growth is polynomial.");
  c.runs({"delta_former", "delta_net"}), c.takes({key_width_param(16, 8, 64)});
  c.first([](Points &points, const Protocol &) {
    const double e = std::exp(1.0);
    for (int T : {4, 8, 16}) {
      const Dense same(T, 1, Vector(T, 1.0)), inverse = written(same, same, Dense::identity(T), {"exp"});
      const double law = -e * std::pow(1 - e, T - 2);
      points.at({{"T", T}}).rounding(8.0 * T * T * std::fabs(law));
      points
          .statement("bottom left entry of $(I + A)^-1$, one unit key repeated, exp kernel: $-e (1 - e)^{T-2}$",
                     inverse(T - 1, 0), law)
          .but_not("exponent $T-1$ in place of $T-2$", -e * std::pow(1 - e, T - 1))
          .but_not("$-e e^{T-2}$", -e * std::exp(T - 2.0));
    }
  });
  c.last([](Points &points, const Protocol &protocol) {
    // rivals: if the condition number is T^p, its logarithm grows by p ln 3 between T = 8 and T = 24, p ln 3 / 16 per
    // step
    const double square = 2 * std::log(3.0) / 16, fifth = 5 * std::log(3.0) / 16;
    const auto keys = [](const char *law, const char *kernel) { return labels({{"keys", law}, {"kernel", kernel}}); };
    const Mean soft = growth_of_condition([](double x) { return std::exp(x / 4); }, false, true, protocol),
               unit = growth_of_condition(linear_kernel, true, false, protocol),
               line = growth_of_condition(linear_kernel, false, false, protocol),
               exponential = growth_of_condition(exp_kernel, false, false, protocol);
    points.at(keys("Gaussian", "softmax"))
        .obligation("growth of log cond$(I + A)$ per step, at most as for $T^2$", at_most_point(soft, square));
    points.at(keys("unit", "linear"))
        .obligation("growth of log cond$(I + A)$ per step, at most as for $T^2$", at_most_point(unit, square));
    points.at(keys("Gaussian", "linear"))
        .wrong_system("Gaussian keys in place of unit keys", at_most_point(line, square));
    points.obligation("growth of log cond$(I + A)$ per step, at least as for $T^5$", at_least_point(line, fifth));
    points.at(keys("Gaussian", "exp"))
        .obligation("growth of log cond$(I + A)$ per step, at least as for $T^5$", at_least_point(exponential, fifth));
    points.at(keys("unit", "linear")).wrong_system("unit keys in place of Gaussian keys", at_least_point(unit, fifth));
  });
  return measure(c, [](Points &points, const Protocol &protocol, int d) {
    const double law = growth_of_gaussian_keys(d), nearest = growth_of_gaussian_keys(d, 2);
    const auto grown = [&](bool unit) {
      return sample_mean(std::min(wanted_sensitivity(protocol), 0.6 * (nearest / law - 1)), 200, 100000,
                         in_blocks(cached_block(50 * d), [&, unit](size_t first, size_t n) {
                           return erasures(first, n, d, unit, protocol.seed);
                         }));
    };
    points
        .statement("growth of $log |x|$ per erasure $I - k k^T$, Gaussian keys", sampled_point(grown(false), law, 1e-6))
        .but_not("$|k|^2$ in place of $|k|^2 - 2$", nearest)
        .but_not("0, as for polynomial growth", 0);
    points.wrong_system("unit keys", sampled_point(grown(true), law, 1e-6));
  });
}

Claim swaps_by_chunks() {
  ClaimBuilder c("chunked-round-swaps", "000 D.3 with f = round");
  c.says("The chunked and the sequential form agree on the construction of Theorem 1.");
  c.exactly("An identity. With integer values the forms agree bit for bit in every type. With other values they agree "
            "within $n eps$ cond$(I + A)$.");
  c.draws({"swap"}), c.runs({"delta_former"});
  c.takes({integer_param("n", 10, 3, 256, "elements, keys of cosine 0.12"),
           integer_param("swaps", 100, 4, 2000, "exchanges")});
  return measure(c, [](Points &points, const Protocol &protocol, int elements, int swaps) {
    const KeySet set =
        protocol.point ? KeySet{"equicorrelated", elements, elements, 0.12} : KeySet{"hadamard", 140, 128};
    const SwapStory story = tell_swaps(key_rows(set, protocol.seed), protocol.point ? swaps : 116, protocol.seed);
    const Shape &n = story.sequence.shape;
    Sequence gaussian = story.sequence;
    for (int t = 0; t < set.n; ++t) gaussian.v[t] = Stream(protocol.seed, "chunked swaps/values").normal(t);
    const Vector sequential = reads_by("round", gaussian, "recurrent");
    const Dense k = head_rows(gaussian.k, n, 0, n.Dk),
                system = Dense::identity(n.T) + causal_weights(k, k, round_kernel, Triangle::strict);
    const double conditioning = spectral_norm(system) * spectral_norm(inverse(system));
    const int cut = n.T / 2; // a step among the swaps
    const Sequence second = slice_steps(story.sequence, cut, n.T);
    const Vector wanted(story.target.begin() + cut, story.target.end());
    for (const char *form : {"recurrent", "chunked", "doubling"})
      for (Real real : {Real::f32, Real::f64}) {
        points.at({{"form", form}, {"real", name_of(real)}, {"T", n.T}})
            .statement("every read, integer values",
                       exactly_tracked(reads_by("round", story.sequence, form, real), story));
        points.rounding(0).wrong_system("a chunk without the earlier chunks", reads_by("round", second, form, real),
                                        wanted);
        if (std::string(form) == "recurrent") continue;
        const double units = accumulated_terms(n, 64) * conditioning * max_abs(sequential);
        points.rounding(units * epsilon_of(real) / epsilon_of(Real::f64))
            .statement("every read, Gaussian values, against the recurrent form",
                       reads_by("round", gaussian, form, real), sequential);
      }
  });
}
} // namespace

std::vector<Claim> matrix_form() { return {matrix_form_of_the_recursion(), conditioning(), swaps_by_chunks()}; }
} // namespace recollect::theory
