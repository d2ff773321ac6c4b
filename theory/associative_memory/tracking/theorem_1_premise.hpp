// SPDX-License-Identifier: Apache-2.0
// Sets of keys that satisfy Assumption 1 of 000 Theorem 1; others are refused.
#pragma once
#include "theory/associative_memory/tracking/swaps.hpp"

namespace recollect::theory {
inline const KeySet leaning{"equicorrelated", 10, 10, 0.12}; // coherence just under 1/8

inline Params describe(const KeySet &keys) { return labels({{"keys", keys.kind}, {"n", keys.n}, {"d", keys.d}}); }

inline std::vector<ParamSpec> key_params(int swaps) {
  return {integer_param("n", 10, 2, 4096, "elements"), integer_param("d", 10, 1, 4096, "key width"),
          integer_param("swaps", swaps, 1, 100000, "exchanges"), keys_param("equicorrelated"),
          real_param("cosine", 0.12, -1, 1, "inner product of equicorrelated keys")};
}

/// The keys of this set. Assumption 1 must hold for them; otherwise it is a usage error.
inline Dense keys_at(const KeySet &keys, std::uint64_t seed) {
  const Dense rows = key_rows(keys, seed);
  if (!(coherence(rows) < 0.125))
    usage_error("Theorem 1 asks for unit keys of coherence below 1/8; at " + describe(keys).str() + " it is " +
                number(coherence(rows)));
  return rows;
}
inline KeySet keys_of(const Params &p) { return {p.text("keys"), p.integer("n"), p.integer("d"), p.real("cosine")}; }
} // namespace recollect::theory
