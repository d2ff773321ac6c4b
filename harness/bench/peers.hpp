// SPDX-License-Identifier: Apache-2.0 Peers: the same layers in other libraries (PyTorch, fla and others that are
// installed). bench/peers.py times them on the same tensors.
#pragma once
#include "harness/bench/bench.hpp"
#include <functional>
#include <memory>

namespace recollect {

/// What peers need to know of a case.
struct PeerCase {
  const BenchCase *bench_case;
  const Sequence *inputs;       // q and k may have fewer heads than v
  std::vector<double> expected; // the definition's o of head 0 of the last batch entry, [expected_steps,Dv], or empty
  int expected_steps;
};

/// A Python process that holds the tensors and peers of one case at a time. It takes samples on request, so that the
/// program decides who runs when and how many samples are enough.
class Peers {
public:
  /// `first_call` is the time in seconds that the first call of a peer may take; this call compiles and tunes. `tuning`
  /// is the time in milliseconds for which Triton times each configuration; 0 stands for Triton's default, 100. Input
  /// error if no Python with PyTorch is found.
  explicit Peers(double first_call, double tuning = 0);
  ~Peers();
  Peers(const Peers &) = delete;
  Peers &operator=(const Peers &) = delete;

  /// A row for every peer that knows the case and its parameters. Its status is "ok" if the peer can be timed; if not,
  /// the row has the reason.
  std::vector<BenchResult> enter(const PeerCase &asked, const std::function<void(const std::string &)> &told);
  /// `count` samples of a peer that is ready. If the peer fails, there are no samples, and `row` gets the reason.
  std::vector<Sample> take(size_t peer, size_t count, BenchResult &row);
  /// Sets the row's timing method and error. A peer whose output differs from the definition is "wrong".
  void finish(size_t peer, BenchResult &row);

private:
  struct Process;
  std::unique_ptr<Process> process_;
};

} // namespace recollect
