// SPDX-License-Identifier: Apache-2.0
// Selective copying: the tokens to copy are scattered among noise, which a write gate can suppress.
//
// Example with L = 2 tokens and 2 noise steps (p: position keys, x: random keys, y: random words):
//   t      1      2      3      4      5      6
//   k,v    p1,a   x,y    x,y    p2,b   p3,0   p4,0     beta = 0 at steps 5 and 6, `noise_beta` at 2 and 3
//   q                                  p1     p2
//   o  ->                              a      b
//
// With noise_beta = 0, a layer that reads beta solves an ordinary copy task; a layer without a write strength writes
// the noise as well.
#include "tasks/copying.hpp"

namespace recollect::tasks {

Task selective_copy() {
  Task t;
  t.summary = "give back in order the tokens that lie among noise";
  t.source = "Gu and Dao 2023 (Mamba); 002 §5 on gates";
  t.params = with_gates(copying_params());
  t.params.push_back(integer_param("noise", 96, 0, 1e8, "noise steps among the tokens"));
  t.params.push_back(real_param("noise_beta", 0, 0, 2, "write strength at the noise steps"));
  t.metrics = {accuracy, mse, cosine, {"exact", Metric::larger}};
  t.ends = guess_among_words;
  t.shape = [](const Params &p) { return copying_shape(p, p.integer("noise")); };
  t.generate = [](const Params &p, std::uint64_t seed) {
    return copying(p, seed, p.integer("noise"), p.real("noise_beta"));
  };
  t.score = score_copy;
  return t;
}

} // namespace recollect::tasks
