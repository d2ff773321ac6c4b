// SPDX-License-Identifier: Apache-2.0
// The same layers by others, timed on the same tensors by bench/peers.py: PyTorch, fla and what else is installed.
#pragma once
#include "harness/bench/bench.hpp"
#include <functional>
#include <memory>

namespace recollect {

/// What the peers of a case are asked for.
struct PeerCase {
  const BenchCase *bench_case;
  const Sequence *inputs;
  std::vector<double> expected; // the definition's o of the last batch's first head, [expected_steps, Dv]; may be empty
  int expected_steps;
};

/// A Python process that keeps the tensors and the peers of one case at a time. It takes samples when it is told to, so
/// that the program says who runs when, and when there are enough.
class Peers {
public:
  /// A peer's first call may take `first_call` seconds, with compiling and tuning. Triton times every configuration for
  /// `tuning` milliseconds; 0: as long as it does by itself, 100. Input error where no Python with PyTorch is found.
  explicit Peers(double first_call, double tuning = 0);
  ~Peers();
  Peers(const Peers &) = delete;
  Peers &operator=(const Peers &) = delete;

  /// A row for every peer that knows the case and its parameters: "ok" if it is ready to be timed, else with the reason.
  std::vector<BenchResult> enter(const PeerCase &asked, const std::function<void(const std::string &)> &told);
  /// Samples of a peer that is ready; fewer where it broke down, which its row then says.
  std::vector<Sample> take(size_t peer, size_t count, BenchResult &row);
  /// How it was timed, and how far its output is from what was expected: a row that computes something else is "wrong".
  void finish(size_t peer, BenchResult &row);

private:
  struct Process;
  std::unique_ptr<Process> process_;
};

} // namespace recollect
