// SPDX-License-Identifier: Apache-2.0
// The same layers in other libraries, timed on the same tensors by bench/peers.py: PyTorch, fla and others that are
// installed.
#pragma once
#include "harness/bench/bench.hpp"
#include <functional>
#include <memory>

namespace recollect {

/// What peers get to know of a case.
struct PeerCase {
  const BenchCase *bench_case;
  const Sequence *inputs;       // q and k may have fewer heads than v
  std::vector<double> expected; // the definition's o of the last batch's first head, [expected_steps, Dv]; may be empty
  int expected_steps;
};

/// A Python process that holds the tensors and peers of one case at a time. It takes samples on request, so that the
/// program decides who runs when and how many samples are enough.
class Peers {
public:
  /// `first_call`: seconds allowed for a peer's first call, which compiles and tunes. `tuning`: milliseconds per Triton
  /// configuration while tuning; 0: Triton's default, 100. Input error if no Python with PyTorch is found.
  explicit Peers(double first_call, double tuning = 0);
  ~Peers();
  Peers(const Peers &) = delete;
  Peers &operator=(const Peers &) = delete;

  /// A row for every peer that knows the case and its parameters: "ok" if it can be timed, else with the reason.
  std::vector<BenchResult> enter(const PeerCase &asked, const std::function<void(const std::string &)> &told);
  /// `count` samples of a peer that is ready. If the peer fails, there are fewer, and `row` gets the reason.
  std::vector<Sample> take(size_t peer, size_t count, BenchResult &row);
  /// Sets the row's timing method and error. A peer whose output differs from the definition is "wrong".
  void finish(size_t peer, BenchResult &row);

private:
  struct Process;
  std::unique_ptr<Process> process_;
};

} // namespace recollect
