// SPDX-License-Identifier: Apache-2.0
// Sets of keys for tasks and claims. The kinds of sets differ in the inner products of their keys.
#pragma once
#include "harness/core/params.hpp"
#include <cstdint>

namespace recollect {

/// n keys of width d. Only some kinds use `cosine`:
///   unit            uniform on the unit sphere; inner products of size 1/sqrt(d)
///   gaussian        N(0, I), norm about sqrt(d) (000 §2.1)
///   orthonormal     the vectors of a random orthonormal basis; for n > d, each further d keys are a new basis
///   correlated      unit keys that share one random direction; inner products about `cosine`
///   equicorrelated  unit keys with inner products equal to `cosine`, from -1/(n-1) to 1; n <= d
///   hadamard        the standard basis, then the rows of the Hadamard matrix / sqrt(d);
///                   inner products 0 or +-1/sqrt(d); d a power of two, n <= 2d
///                   (this set satisfies the premise of 000 Theorem 1 at n > d)
///   packed          unit keys pushed apart until no |inner product| exceeds `cosine`. At n > d `cosine` cannot be
///                   below the Welch bound sqrt((n-d)/(d(n-1))). Well above the bound, packing takes tens of steps
///                   of 4 n^2 d flops each.
struct KeySet {
  std::string kind;
  int n = 1, d = 1;
  double cosine = 0;
};

/// An array [sets,n,d] of independent sets. Usage error if this kind of keys is impossible at this n, d and cosine.
std::vector<double> make_keys(const KeySet &keys, int sets, std::uint64_t seed);

/// The parameter `keys` of a task or claim, which chooses a kind; `fallback` is its default.
ParamSpec keys_param(const std::string &fallback);
/// The parameter `cosine` of a task or claim.
ParamSpec cosine_param(double fallback);

/// Coherence: the largest |inner product| of two different rows of an n x d matrix (0 for n = 1).
double coherence(const std::vector<double> &keys, int n, int d);

} // namespace recollect
