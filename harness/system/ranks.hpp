// SPDX-License-Identifier: Apache-2.0
// The processes that one `mpirun` started, or only this process. All of MPI is in ranks.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace recollect::ranks {

/// Initialises MPI if a launcher started this process; called before anything is shared. Input error if there are other
/// ranks and the program was built without MPI.
void join();
/// Called last in the program. Ranks end together. `failed`: this rank ended by an exception, so it ends the others.
void leave(bool failed, int status);

/// Read from the launcher's environment, so they are known before join().
int rank();
int size();

/// MPI's version: "Open MPI v4.1.4 ..."; "none" if the program was built without MPI.
std::string library();

/// Broadcast: rank 0's bytes, on every rank.
std::string shared(std::string bytes);
/// Gather: the bytes of ranks 0, 1, ... on rank 0; nothing elsewhere.
std::vector<std::string> gathered(const std::string &bytes);
/// Sends to another rank, which receives with received().
void send(std::string bytes, int to);
std::string received(int from);
/// All-reduce: the largest number of all ranks, on every rank.
double largest(double number);
/// Seconds that `work` takes on the slowest rank, from when all ranks are ready. Called by all ranks.
double seconds_of_slowest(const std::function<void()> &work);

/// Combines two arrays of the same size, `earlier` of lower ranks. Must be associative.
using Combine =
    std::function<std::vector<double>(const std::vector<double> &earlier, const std::vector<double> &later)>;
/// Exclusive scan: the arrays of the ranks before this one, combined in order; empty on rank 0.
std::vector<double> combined_before(const std::vector<double> &mine, const Combine &combine);

/// A shared counter 0, 1, 2, ...: every number goes to the one rank that asks first. Made and destroyed by all ranks
/// together.
class Counter {
public:
  Counter();
  ~Counter();
  Counter(const Counter &) = delete;
  Counter &operator=(const Counter &) = delete;
  std::size_t next();

private:
  struct Window;
  Window *window_ = nullptr;
  std::int64_t alone_ = 0;
};

} // namespace recollect::ranks
