// SPDX-License-Identifier: Apache-2.0
// The chunk-wise DeltaFormer of 000 Appendix D.3 and its Listing 1, against the sequential sums, and how well
// conditioned the system I + A is that it solves.
//
// Listing 1 is followed in host algebra (softmax kernel, logits over sqrt d, old keys and own chunk merged through
// their log sums), so that its own statements can be tested; the variant `delta_former` is held beside it.
#include "harness/core/registry.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/statistics.hpp"
#include "harness/pipeline/conditioning.hpp"
#include "theory/associative_memory/swaps.hpp"
#include "theory/support/claims.hpp"
#include "theory/support/delta_recursion.hpp"

namespace recollect::theory {
namespace {

Dense gaussian(int rows, int columns, std::uint64_t seed, std::uint64_t stream) {
  return Dense(rows, columns, Stream(seed, stream).normals(size_t(rows) * columns));
}

Dense slice(const Dense &m, int begin, int end) {
  return Dense(end - begin, m.columns,
               {m.data.begin() + size_t(begin) * m.columns, m.data.begin() + size_t(end) * m.columns});
}

/// Softmax weights over i < t of k_i . k_t / sqrt d: the A of Eq 96.
Dense softmax_weights(const Dense &K) {
  const double root = std::sqrt(double(K.columns));
  return normalise_sums(causal_weights(
      K, K, [root](double x) { return std::exp(x / root); }, Triangle::strict));
}

/// What Listing 1 does with the chunk's block of A: `own_mass_only` leaves the older keys out of the normaliser (a
/// wrong block).
enum class Block { whole_row, own_mass_only };

/// Listing 1 over the first `rows` rows (T // C * C in the listing, T once the tail is handled): each chunk subtracts
/// what it reads of older rows, then multiplies by the inverse of its diagonal block. All blocks are inverted before
/// the first chunk is solved: they depend on the keys alone.
Dense listing1(const Dense &K, const Dense &V, int C, int rows, Block block = Block::whole_row) {
  const Dense A = softmax_weights(K);
  std::vector<Dense> inverses;
  for (int begin = 0; begin < rows; begin += C) {
    const int n = std::min(C, rows - begin);
    Dense I_plus_A = Dense::identity(n);
    for (int t = 1; t < n; ++t) {
      double own = 0;
      for (int i = 0; i < t; ++i) own += A(begin + t, begin + i);
      for (int i = 0; i < t; ++i) I_plus_A(t, i) = A(begin + t, begin + i) / (block == Block::own_mass_only ? own : 1);
    }
    inverses.push_back(inverse(I_plus_A));
  }
  Dense U(V.rows, V.columns);
  for (int begin = 0; begin < rows; begin += C) {
    const int n = std::min(C, rows - begin);
    Dense old(n, begin);
    for (int t = 0; t < n; ++t)
      for (int i = 0; i < begin; ++i) old(t, i) = A(begin + t, i);
    const Dense P = begin ? slice(V, begin, begin + n) - old * slice(U, 0, begin) : slice(V, 0, n);
    const Dense solved = inverses[begin / C] * P;
    std::copy(solved.data.begin(), solved.data.end(), U.data.begin() + size_t(begin) * U.columns);
  }
  return U;
}

/// Rounding units for U = (I + A)^{-1} V by two routes: n |(I + A)^{-1}| |I + A| of the largest u, by Eq 51.
double units_of(const Dense &A) {
  const Dense I_plus_A = Dense::identity(A.rows) + A;
  return 4.0 * A.rows * frobenius_norm(inverse(I_plus_A)) * frobenius_norm(I_plus_A);
}

Params sized(int T, int C, int d) {
  Params p;
  return p.set("T", T).set("C", C).set("d", d);
}

std::vector<Point> listing_equivalence(const Protocol &protocol, Block block) {
  std::vector<Point> points;
  const int T = 128, C = 32, d = 16;
  const Dense K = gaussian(T, d, protocol.seed, 1), V = gaussian(T, d, protocol.seed, 2), A = softmax_weights(K);
  const Dense U = substitute(A, V);
  const double apart = max_difference(listing1(K, V, C, T, block).data, U.data) / max_abs(U.data);
  points.push_back(at(exact_point(apart, 0, units_of(A), 1e-3), "exact", sized(T, C, d).set("program", "Listing 1")));
  if (block != Block::whole_row) return points;
  // verify_equivalence(): B = H = 2, T = 1024, D = 64, C = 32, standard Gaussian, float32, torch's allclose with atol
  // 1e-5.
  const Variant &v = find_variant("delta_former");
  const Shape shape{2, 2, 1024, 64, 64};
  Sequence s = random_sequence(shape, protocol.seed);
  s.k = Stream(protocol.seed, 3).normals(s.k.size());
  s.q = s.w = s.k, s.alpha.clear(), s.beta.clear();
  const Params params = variant_params(v, {{"kappa1", "softmax"}, {"kappa2", "softmax"}, {"scale", "0.125"}});
  const std::vector<double> naive = forward(v, s, {"recurrent", Real::f32, 1, params}).o,
                            chunked = forward(v, s, {"chunked", Real::f32, 32, params}).o;
  double beyond = -1; // largest |difference| - (atol + rtol |naive|)
  for (size_t i = 0; i < naive.size(); ++i)
    beyond = std::max(beyond, std::fabs(naive[i] - chunked[i]) - 1e-5 - 1e-5 * std::fabs(naive[i]));
  points.push_back(at(bounded_point(beyond, Point::at_most, 0, 0, 1e-5), "exact",
                      sized(1024, 32, 64).set("program", "delta_former, float32")));
  return points;
}

std::vector<Point> listing_tail(const Protocol &protocol) {
  const int T = 3, C = 2, d = 2; // the smallest ragged case
  const Dense K = gaussian(T, d, protocol.seed, 1), V = gaussian(T, d, protocol.seed, 2), A = softmax_weights(K),
              U = substitute(A, V);
  const auto error = [&](int rows) { return max_difference(listing1(K, V, C, rows).data, U.data) / max_abs(U.data); };
  std::vector<Point> points{at(exact_point(error(T / C * C), 0, units_of(A), 1e-3), "paper",
                               sized(T, C, d).set("program", "Listing 1, T // C chunks")),
                            at(exact_point(error(T), 0, units_of(A), 1e-3), "corrected",
                               sized(T, C, d).set("program", "Listing 1 with a ragged last chunk"))};
  const Variant &v = find_variant("delta_former");
  const Sequence s = random_sequence({1, 1, 70, 8, 5}, protocol.seed);
  const double apart = deviation(forward(v, s, {"chunked", Real::f64, 32, variant_params(v)}), forward(v, s)).outputs;
  const double units = accumulated_terms(s.shape, 32) * input_condition(v, s, variant_params(v), 2);
  points.push_back(
      at(exact_point(apart, 0, units, 1e-3), "corrected", sized(70, 32, 8).set("program", "delta_former")));
  return points;
}

/// The matrix form with each kernel; `sign` = -1 solves I - A instead.
std::vector<Point> matrix_form(const Protocol &protocol, double sign) {
  std::vector<Point> points;
  Dense K = gaussian(48, 12, protocol.seed, 1);
  normalise_rows(K.data, 12);
  const Dense V = gaussian(48, 5, protocol.seed, 2);
  const std::vector<std::pair<std::string, Dense>> systems{
      {"linear", causal_weights(K, K, linear_kernel, Triangle::strict)},
      {"softmax", softmax_weights(K)},
      {"round", causal_weights(2 * K, K, round_kernel, Triangle::strict)}};
  for (const auto &[name, A] : systems) {
    const Dense U = substitute(A, V), solved = inverse(Dense::identity(48) + sign * A) * V;
    Params p;
    p.set("kernel", name);
    points.push_back(at(exact_point(max_difference(solved.data, U.data) / max_abs(U.data), 0, units_of(A), 1e-3),
                        "exact", p.set("quantity", "(I + A)^-1 V against the recursion")));
    const Dense residual = U + sign * (A * U) - V;
    points.push_back(at(exact_point(max_abs(residual.data) / max_abs(U.data), 0, units_of(A), 1e-3), "exact",
                        p.set("quantity", "U + A U - V")));
  }
  return points;
}

/// log cond(I + A) a further step, between two lengths.
double log_growth(const std::function<Dense(int)> &A, int shorter, int longer) {
  const auto log_cond = [&](int T) {
    const std::vector<double> s = singular_values(Dense::identity(T) + A(T));
    return std::log(s.front() / s.back());
  };
  return (log_cond(longer) - log_cond(shorter)) / (longer - shorter);
}

std::vector<Point> conditioning(const Protocol &protocol) {
  std::vector<Point> points;
  Params p;
  // One unit key repeated: A = e below the diagonal, and (I + A)^{-1} has -e (1 - e)^(T-2) in its corner.
  for (int T : {4, 8, 16}) {
    Dense A(T, T);
    for (int t = 0; t < T; ++t)
      for (int i = 0; i < t; ++i) A(t, i) = std::exp(1.0);
    const double corner = -std::exp(1.0) * std::pow(1 - std::exp(1.0), T - 2);
    p = {};
    points.push_back(at(exact_point(inverse(Dense::identity(T) + A)(T - 1, 0) / corner, 1, units_of(A), 1e-3), "exact",
                        p.set("keys", "one unit key repeated")
                            .set("kernel", "exp")
                            .set("T", T)
                            .set("quantity", "corner of the inverse over its law")));
  }
  // Drawn keys: the mean growth over 64 draws, d = 16.
  const auto add = [&](const std::string &keys, const std::string &kernel, const std::function<Dense(const Dense &)> &A,
                       Point::Relation relation, double bound) {
    std::vector<double> growth;
    for (int draw = 0; draw < 64; ++draw) {
      Dense K = gaussian(24, 16, protocol.seed, 100 + draw);
      if (keys == "unit") normalise_rows(K.data, 16);
      growth.push_back(log_growth([&](int T) { return A(slice(K, 0, T)); }, 8, 24));
    }
    const Mean mean = mean_of(growth);
    p = {};
    p.set("keys", keys).set("kernel", kernel).set("quantity", "growth of log cond(I + A) a step, T = 8 to 24");
    Point point = bounded_point(mean.mean, relation, bound, allowed_standard_errors * mean.standard_error,
                                4 * allowed_standard_errors * mean.standard_error);
    point.standard_error = mean.standard_error;
    points.push_back(at(point, "exact", p));
  };
  const auto by = [](const Kernel &kernel) {
    return [kernel](const Dense &K) { return causal_weights(K, K, kernel, Triangle::strict); };
  };
  add("standard Gaussian", "linear", by(linear_kernel), Point::at_least, 0.5);
  add("standard Gaussian", "exp", by(exp_kernel), Point::at_least, 0.5);
  add("standard Gaussian", "softmax", softmax_weights, Point::at_most, 0.2);
  add("unit", "linear", by(linear_kernel), Point::at_most, 0.2);
  return points;
}

/// The swap construction in every form: integers throughout, so the forms agree to the last bit; with Gaussian values
/// they agree within the conditioning of the system.
std::vector<Point> chunked_swaps(const Protocol &protocol, double sign) {
  std::vector<Point> points;
  const KeySet set{"hadamard", 140, 128};
  const SwapStory story =
      tell_swaps(key_rows(set, protocol.seed), 116, protocol.seed, Order::later_minus_earlier, sign);
  const Variant &v = find_variant("delta_former");
  const Params round = variant_params(v, {{"kappa1", "round"}, {"kappa2", "round"}});
  Sequence gaussian_values = story.sequence;
  for (int t = 0; t < set.n; ++t) gaussian_values.v[t] = Stream(protocol.seed, 33).normal(t);
  const Shape &n = story.sequence.shape;
  const Dense k = head_rows(story.sequence.k, n, 0, n.Dk), A = causal_weights(k, k, round_kernel, Triangle::strict);
  const Dense I_plus_A = Dense::identity(n.T) + A;
  const double cond = spectral_norm(I_plus_A) * spectral_norm(inverse(I_plus_A));
  const std::vector<double> sequential = forward(v, gaussian_values, {"recurrent", Real::f64, 1, round}).o;
  for (const Form &form : v.forms)
    for (Real real : {Real::f32, Real::f64}) {
      Params p;
      p.set("form", form.name).set("real", name_of(real)).set("T", n.T).set("cond", cond);
      points.push_back(
          at(exact_point(worst_read(forward(v, story.sequence, {form.name, real, 64, round}).o, story), 0, 0, 0.5),
             "exact", p.set("values", "integers")));
      if (sign > 0) continue;
      const double apart =
          max_difference(forward(v, gaussian_values, {form.name, real, 64, round}).o, sequential) / max_abs(sequential);
      points.push_back(
          at(bounded_point(apart, Point::at_most, 0, accumulated_terms(n, 64) * cond * epsilon_of(real), 1e-2), "exact",
             p.set("values", "Gaussian")));
    }
  return points;
}

std::vector<Point> parallel_blocks(const Protocol &protocol) {
  const int T = 96, C = 16, d = 8;
  const Dense K = gaussian(T, d, protocol.seed, 1), V = gaussian(T, d, protocol.seed, 2), A = softmax_weights(K),
              U = substitute(A, V);
  const double apart = max_difference(listing1(K, V, C, T).data, U.data) / max_abs(U.data);
  return {at(exact_point(apart, 0, units_of(A), 1e-3), "exact", sized(T, C, d))};
}

} // namespace

std::vector<Claim> chunking() {
  Claim listing =
      ledger_row("listing1-equivalence", "000 Listing 1, verify_equivalence",
                 "The chunked program gives what the naive one gives, allclose with atol 1e-5 at B = H = 2, T = "
                 "1024, D = 64, C = 32.",
                 "Identity. The printed text has a docstring on the def line and lost brackets; its logic is right.",
                 [](const Protocol &p) { return listing_equivalence(p, Block::whole_row); });
  listing.control = [](const Protocol &p) { return listing_equivalence(p, Block::own_mass_only); };

  Claim tail = refuted_row("listing1-tail", Scope::paper, "000 Listing 1 (chunk_nums = T // C)",
                           "The chunked program gives what the naive one gives, for any T.",
                           "The last T mod C rows are left zero; a ragged last chunk mends it.", listing_tail);

  Claim blocks =
      ledger_row("listing1-parallel-blocks", "000 Listing 1, comment at the inverse",
                 "Each block can be solved in parallel if the normalisation of softmax is not used.",
                 "True, and the condition is not needed: Z_t depends on the keys alone, so the softmax blocks can all "
                 "be inverted beforehand as well.",
                 parallel_blocks);
  blocks.control = [](const Protocol &p) { return listing_equivalence(p, Block::own_mass_only); };

  Claim form = ledger_row("eq97-matrix-form", "000 Eq 96-97", "U = V - A U is U = (I + A)^{-1} V.",
                          "Identity; A is strictly lower triangular (the text says lower triangular).",
                          [](const Protocol &p) { return matrix_form(p, 1); });
  form.control = [](const Protocol &p) { return matrix_form(p, -1); };

  Claim condition =
      ledger_row("deltaformer-exp-conditioning", "000 §3.2 (perturbation of an inverse)",
                 "With an unsuited kernel I + A is likely to be ill-conditioned.",
                 "cond(I + A) then grows exponentially in T: by |1 - e| a step for one unit key and exp. Softmax "
                 "rows and unit keys with the linear kernel stay well behaved.",
                 conditioning);

  Claim swaps = ledger_row(
      "chunked-round-swaps", "000 D.3 with f = round", "Chunked and sequential agree on the swap construction.",
      "Identity, bit for bit with integer values in every form, the doubling inverse included; within n eps "
      "cond(I + A) otherwise.",
      [](const Protocol &p) { return chunked_swaps(p, -1); });
  swaps.tasks = {"swap"};
  swaps.control = [](const Protocol &p) { return chunked_swaps(p, +1); };
  for (Claim *c : {&listing, &tail, &swaps}) c->variants = {"delta_former"};
  return {listing, tail, blocks, form, condition, swaps};
}

} // namespace recollect::theory
