// SPDX-License-Identifier: Apache-2.0
// 2411.12537 §4.1: parity needs a transition with an eigenvalue that is not a nonnegative real number. DeltaNet has one
// for beta > 1, and with beta = 2 and the value 1/2, a step of DeltaNet is the paper's own solution h -> 1 - h.
#include "theory/negative_eigenvalues/householder.hpp"
#include "theory/support/measure.hpp"

namespace recollect::theory {
namespace {
Vector key_of(int d, Seed seed) { return random_units(1, d, Stream(seed, "parity/key")); }

/// The reads of DeltaNet with scalar values at a unit key of width d, the same for all tokens. A bit of 1 writes
/// `value` with strength beta, a bit of 0 writes nothing.
Vector reads_of(const std::vector<int> &bits, int d, double beta, Seed seed, double value = 0.5) {
  const int T = int(bits.size());
  Sequence s = stored({1, 1, T, d, 1}, repeated(key_of(d, seed), T), Vector(T, value), beta);
  for (int t = 0; t < T; ++t) s.beta[t] *= bits[t];
  return run("delta_net", s).o;
}

std::vector<int> random_bits(int T, Seed seed) {
  std::vector<int> bits;
  for (int t = 0; t < T; ++t) bits.push_back(int(Stream(seed, "parity/bits").below(t, 2)));
  return bits;
}

/// The number of ones up to each token, modulo m.
Vector counts(const std::vector<int> &bits, int m) {
  Vector all;
  for (int bit : bits) all.push_back(std::fmod((all.empty() ? 0 : all.back()) + bit, m));
  return all;
}

/// Bound on the rounding error of T additions of numbers of size 1, in units of eps. Each number comes from an inner
/// product of width d.
double units(int T, int d) { return 8.0 * T * (d + 4); }

const std::vector<ParamSpec> text{integer_param("T", 512, 32, 4096, "tokens"),
                                  integer_param("d", 4, 1, 64, "key width")};

Claim negative_eigenvalue_parity() {
  ClaimBuilder c("negative-eigenvalue-parity", "2411.12537 §4.1, §4.2, Theorem 3");
  c.says("A finite-precision linear RNN with one layer and a scalar state solves parity by $h_t = a(x_t) h_{t-1} + "
         "b(x_t)$ with $a(1) = -1$, $b(1) = a(0) = 1$, $b(0) = h_0 = 0$; DeltaNet can do this if beta may be 2.");
  c.exactly("Take one unit key $k$, the value $v = 1/2$ and $beta_t = 2 x_t$ for the bit $x_t$. Each 1 changes $S k$ "
            "to $1 - S k$, so the read at $k$ is the parity of the bits so far, at any length.");
  c.because("The eigenvalue of $I - beta k k^T$ along $k$ is $1 - beta = -1$, which neither decays nor grows. At beta "
            "= 1.9 the eigenvalue is $-0.9$, and the state forgets early bits.");
  c.runs({"delta_net"}), c.takes(text);
  return measure(c, [](Points &points, Seed seed, int T, int d) {
    const std::vector<int> bits = random_bits(T, seed);
    const Vector expected = counts(bits, 2);
    Vector last(bits.begin(), bits.end());
    points.rounding(units(T, d));
    points
        .statement("reads of DeltaNet, $beta = 2$: the parity of the bits so far", reads_of(bits, d, 2, seed), expected)
        .but_not("the latest bit", last)
        .but_not("the count of ones modulo 3", counts(bits, 3));
    points.wrong_system("reads of DeltaNet, $beta = 1$, an eigenvalue of 0: the parity", reads_of(bits, d, 1, seed),
                        expected);
    points.wrong_system("reads of DeltaNet, $beta = 1.9$, an eigenvalue of -0.9: the parity",
                        reads_of(bits, d, 1.9, seed), expected);
  });
}

/// Differences of consecutive reads on T ones.
Vector differences(int T, int d, double beta, Seed seed) {
  const Vector reads = reads_of(std::vector<int>(T, 1), d, beta, seed, 1);
  Vector all;
  for (int t = 0; t + 1 < T; ++t) all.push_back(reads[t + 1] - reads[t]);
  return all;
}

Claim parity_needs_negative_eigenvalue() {
  ClaimBuilder c("parity-needs-negative-eigenvalue", "2411.12537 Theorem 1, §4.1");
  c.says("A finite-precision linear RNN with finitely many layers solves parity for arbitrary lengths only if in some "
         "layer some transition $A(x)$ has an eigenvalue that is not a real number >= 0. The argument for one layer: "
         "without such an eigenvalue, on the text 1, 1, 1, ... the state becomes constant in finite precision, whereas "
         "parity alternates.");
  c.exactly("For DeltaNet with beta in (0, 1], the reads at steps $j$ and $j + 1$ differ by $beta (1 - beta)^j$, which "
            "is below a rounding unit from some $j$ on. The condition is necessary, not sufficient: at beta = 1.5 the "
            "differences alternate and vanish too. Only with an eigenvalue of modulus 1 do the differences persist.");
  c.because("The statement is measured for one layer, the case of the argument in §4.1. The induction over layers is "
            "in Appendix B.1, which was not read.");
  c.runs({"delta_net"});
  c.takes({integer_param("T", 256, 64, 1024, "ones in a row"), real_param("beta", 0.3, 0.2, 0.9, "write strength"),
           integer_param("d", 4, 1, 64, "key width")});
  return measure(c, [](Points &points, Seed seed, int T, double beta, int d) {
    const double single = std::ldexp(1.0, -24); // rounding unit of float32
    const auto law = [&](double beta, double rate) {
      Vector all;
      for (int t = 1; t < T; ++t) all.push_back(beta * std::pow(rate, t));
      return all;
    };
    const auto last = [&](double beta) {
      return at_most_point(std::fabs(differences(T, d, beta, seed).back()), single,
                           units(T, d) * epsilon_of(Real::f64));
    };
    if (beta * std::pow(1 - beta, T - 1) > single / 2)
      usage_error("the last states still differ in float32: take a larger T or beta");
    points.statement("difference of the last two reads: at most a rounding unit of float32", last(beta));
    points.statement("difference of the last two reads, $beta = 1$: at most a rounding unit of float32", last(1));
    points.rounding(units(T, d));
    points
        .obligation("differences of successive reads: $beta (1 - beta)^j$", differences(T, d, beta, seed),
                    law(beta, 1 - beta))
        .but_not("$beta (1 - beta / 2)^j$", law(beta, 1 - beta / 2))
        .but_not("$beta (1 - beta)^(2j)$", law(beta, (1 - beta) * (1 - beta)));
    points.obligation("$beta = 1.5$, an eigenvalue of -0.5: differences of successive reads, $beta (1 - beta)^j$",
                      differences(T, d, 1.5, seed), law(1.5, 1 - 1.5));
    points.wrong_system("difference of the last two reads, $beta = 2$: at most a rounding unit of float32", last(2));
  });
}

Claim parity_neither_real() {
  ClaimBuilder c("parity-neither-real", "2411.12537 §4.1");
  c.says("To solve parity, a transition must have an eigenvalue that is neither real nor positive.");
  c.exactly("A transition must have an eigenvalue that is not a real number >= 0. The eigenvalue $-1$ is real, and a "
            "layer with it solves parity.");
  c.is_refuted(
      slip("§4.1, before Theorem 1: to solve parity, the state transition matrices must allow at least one "
           "eigenvalue to be neither real nor positive.",
           "none beyond those of Theorem 1",
           "The next sentence says that for non-diagonal matrices the eigenvalue could simply have a nonzero "
           "imaginary part; Theorem 1 has it right: an eigenvalue outside {x real, $x >= 0$}. The solution two "
           "sentences before has the eigenvalue -1."));
  c.runs({"delta_net"}), c.takes(text);
  return measure(c, [](Points &points, Seed seed, int T, int d) {
    const std::vector<int> bits = random_bits(T, seed);
    const Vector key = key_of(d, seed);
    const Dense A = product({{key, 2}});
    // |A - A^T| / 2 bounds the imaginary parts of the eigenvalues of A: it is the distance of A from its symmetric
    // part, whose eigenvalues are real.
    const double imaginary = frobenius_norm(A - transpose(A)) / 2;
    points.statement("imaginary part of an eigenvalue of $A(1)$: at least 0.1", at_least_point(imaginary, 0.1, 0));
    points.rounding(units(T, d));
    points.obligation("reads of DeltaNet, $beta = 2$: the parity", reads_of(bits, d, 2, seed), counts(bits, 2));
    points.rounding(16.0 * d);
    points.obligation("smallest eigenvalue of $A(1)$: -1", symmetric_eigenvalues(product({{key, 2}})).front(), -1);
    points.rounding(units(T, d));
    points.wrong_system("reads of DeltaNet, $beta = 1$: the parity", reads_of(bits, d, 1, seed), counts(bits, 2));
    points.rounding(16.0 * d);
    points.wrong_system("smallest eigenvalue of $A(1)$ with $beta = 1.5$: -1",
                        symmetric_eigenvalues(product({{key, 1.5}})).front(), -1);
  });
}
} // namespace

std::vector<Claim> theorem_1_parity() {
  return {negative_eigenvalue_parity(), parity_needs_negative_eigenvalue(), parity_neither_real()};
}
} // namespace recollect::theory
