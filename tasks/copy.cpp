// SPDX-License-Identifier: Apache-2.0
// Copying (004 §6.3): write L tokens under the keys of their positions, then give them back in order.
//
// Example with L = 2 (p: position keys):
//   t      1      2      3      4
//   k,v    p1,a   p2,b   p3,0   p4,0     beta = 0 at steps 3 and 4
//   q      p1     p2     p1     p2
//   o  ->                a      b
#include "tasks/copying.hpp"

namespace recollect::tasks {

Task copy() {
  Task t;
  t.summary = "give back a list of tokens in order";
  t.source = "004 §6.3";
  t.params = with_gates(copying_params());
  t.metrics = {accuracy, mse, cosine, {"exact", Metric::larger}};
  t.ends = guess_among_words;
  t.shape = [](const Params &p) { return copying_shape(p, 0); };
  t.generate = [](const Params &p, std::uint64_t seed) { return copying(p, seed, 0, 0); };
  t.score = score_copy;
  return t;
}

} // namespace recollect::tasks
