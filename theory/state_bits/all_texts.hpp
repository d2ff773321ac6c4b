// SPDX-License-Identifier: Apache-2.0
// A layer writes every text of L signs, one head per text. Measured: the number of different final states, and the
// share of texts that are misread.
#pragma once
#include "theory/support/one_head.hpp"
#include "theory/support/stored.hpp"
#include <cmath>
#include <set>

namespace recollect::theory {
struct Written {
  int L, d;
  Output out;
  size_t texts() const { return size_t(1) << L; }
  double sign(size_t text, int t) const { return (text >> t) & 1 ? 1 : -1; }
  const double *state(size_t text) const { return &out.state[text * d]; }

  size_t different_states() const {
    std::set<Vector> states;
    for (size_t text = 0; text < texts(); ++text) states.insert({state(text), state(text) + d});
    return states.size();
  }
  /// The share of texts that are misread. A text is misread if the read at the key of some token does not have the
  /// token's sign. Only the first `kept` channels of the state are read; the tokens of other channels are read as +1.
  double misread(int kept) const {
    size_t wrong = 0;
    for (size_t text = 0; text < texts(); ++text) {
      bool right = true;
      for (int t = 0; t < L; ++t) right &= (t % d < kept ? state(text)[t % d] : 1) * sign(text, t) > 0;
      wrong += !right;
    }
    return double(wrong) / double(texts());
  }
};

/// All texts of L signs: token t has the key e_(t mod d), its sign as value, and beta = 1.
inline Written write_all(const std::string &variant, int L, int d) {
  Written written{L, d, {}};
  Vector keys, values;
  for (size_t text = 0; text < written.texts(); ++text)
    for (int t = 0; t < L; ++t) {
      for (int c = 0; c < d; ++c) keys.push_back(c == t % d);
      values.push_back(written.sign(text, t));
    }
  written.out = run(variant, stored({1, int(written.texts()), L, d, 1}, keys, values));
  return written;
}

inline double power_of_two(int exponent) { return std::ldexp(1.0, exponent); }
} // namespace recollect::theory
