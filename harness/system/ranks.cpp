// SPDX-License-Identifier: Apache-2.0
#include "harness/system/ranks.hpp"
#include "build_config.hpp"
#include "harness/core/error.hpp"
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <limits>
#include <thread>
#if RECOLLECT_MPI
#define OMPI_SKIP_MPICXX 1 // omits the C++ bindings, which MPI removed, and their library
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

namespace recollect::ranks {
namespace {

/// The number in the first of these environment variables that is set. Launchers set them: Open MPI, MPICH, and Slurm
/// with PMIx.
int told(std::initializer_list<const char *> names, int otherwise) {
  for (const char *name : names)
    if (const char *text = std::getenv(name)) return std::atoi(text);
  return otherwise;
}
int launched_rank() { return told({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}, 0); }
int launched_size() {
  const int size = told({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 0);
  return size ? size : std::getenv("PMIX_RANK") ? told({"SLURM_STEP_NUM_TASKS"}, 1) : 1;
}

bool joined = false;

} // namespace

int rank() { return launched_rank(); }
int size() { return joined ? launched_size() : 1; }

#if RECOLLECT_MPI

std::string library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  return std::string(text).substr(0, std::string(text).find_first_of(",\n"));
}

void join() {
  if (joined || launched_size() < 2) return;
  int level = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) input_error("MPI does not start");
  joined = true;
  int found = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &found);
  if (found != launched_size())
    input_error("the launcher reports " + std::to_string(launched_size()) + " ranks, " + library() + " of " +
                std::to_string(found) + ": start it with this library's own mpirun");
}

void leave(bool failed, int status) {
  if (!joined) return;
  if (failed) MPI_Abort(MPI_COMM_WORLD, status);
  MPI_Finalize();
  joined = false;
}

namespace {
/// Calls pass(pointer, count) for pieces of at most 2^30 bytes, because MPI's counts are of type int.
template <class Pass> void in_pieces(std::string &bytes, const Pass &pass) {
  constexpr std::size_t most = 1u << 30;
  for (std::size_t at = 0; at < bytes.size(); at += most) pass(&bytes[at], int(std::min(most, bytes.size() - at)));
}

/// Waits until a message from rank `from` is here. MPI itself waits by polling, which during a wait of minutes would
/// take processor time from the ranks that still work.
void await(int from) {
  for (int here = 0;;) {
    MPI_Iprobe(from, 0, MPI_COMM_WORLD, &here, MPI_STATUS_IGNORE);
    if (here) return;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}
} // namespace

void send(std::string bytes, int to) {
  const std::uint64_t length = bytes.size();
  MPI_Send(&length, 1, MPI_UINT64_T, to, 0, MPI_COMM_WORLD);
  in_pieces(bytes, [&](char *at, int n) { MPI_Send(at, n, MPI_BYTE, to, 0, MPI_COMM_WORLD); });
}

std::string received(int from) {
  await(from);
  std::uint64_t length = 0;
  MPI_Recv(&length, 1, MPI_UINT64_T, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::string bytes(length, '\0');
  in_pieces(bytes, [&](char *at, int n) { MPI_Recv(at, n, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); });
  return bytes;
}

std::string shared(std::string bytes) {
  if (!joined) return bytes;
  if (rank() != 0) return received(0);
  for (int to = 1; to < size(); ++to) send(bytes, to);
  return bytes;
}

std::vector<std::string> gathered(const std::string &bytes) {
  if (!joined) return {bytes};
  if (rank() != 0) { // a send would poll until rank 0 receives, so the rank first waits for rank 0's request
    received(0);
    send(bytes, 0);
    return {};
  }
  std::vector<std::string> all{bytes};
  for (int from = 1; from < size(); ++from) send("", from), all.push_back(received(from));
  return all;
}

double largest(double number) {
  if (joined) MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return number;
}

namespace {
/// These are global, because MPI passes no user data to an operator.
const Combine *combining = nullptr;
std::size_t combined_size = 0;

void combine_arrays(void *earlier, void *later, int *count, MPI_Datatype *) {
  auto *in = static_cast<const double *>(earlier);
  auto *inout = static_cast<double *>(later);
  for (int i = 0; i < *count; ++i, in += combined_size, inout += combined_size) {
    const std::vector<double> result = (*combining)({in, in + combined_size}, {inout, inout + combined_size});
    std::copy(result.begin(), result.end(), inout);
  }
}
} // namespace

std::vector<double> combined_before(const std::vector<double> &mine, const Combine &combine) {
  if (!joined) return {};
  if (mine.size() > std::size_t(std::numeric_limits<int>::max())) input_error("a state is too large for MPI");
  combining = &combine, combined_size = mine.size();
  MPI_Datatype array;
  MPI_Type_contiguous(int(mine.size()), MPI_DOUBLE, &array);
  MPI_Type_commit(&array);
  MPI_Op op;
  MPI_Op_create(combine_arrays, 0, &op);
  std::vector<double> before(mine.size());
  MPI_Exscan(mine.data(), before.data(), 1, array, op, MPI_COMM_WORLD);
  MPI_Op_free(&op);
  MPI_Type_free(&array);
  if (rank() == 0) before.clear(); // MPI leaves rank 0's result undefined
  return before;
}

struct Counters::Window {
  MPI_Win win = MPI_WIN_NULL;
};

Counters::Counters(std::size_t count) : values_(count) {
  if (!joined) return;
  std::int64_t *counters = nullptr; // rank 0 holds the counters; other ranks access them one-sidedly
  window_ = new Window;
  MPI_Win_allocate(rank() == 0 ? MPI_Aint(count * sizeof *counters) : 0, sizeof *counters, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &counters, &window_->win);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window_->win);
  if (rank() == 0) std::fill_n(counters, count, 0), MPI_Win_sync(window_->win);
  MPI_Barrier(MPI_COMM_WORLD);
}

Counters::~Counters() {
  if (!window_) return;
  if (!std::uncaught_exceptions()) { // during stack unwinding the other ranks do not arrive here; leave() ends them
    MPI_Win_unlock_all(window_->win);
    MPI_Win_free(&window_->win);
  }
  delete window_;
}

std::size_t Counters::next(std::size_t counter) {
  if (!window_) return std::size_t(values_.at(counter)++);
  const std::int64_t one = 1;
  std::int64_t mine = 0;
  MPI_Fetch_and_op(&one, &mine, MPI_INT64_T, 0, MPI_Aint(counter), MPI_SUM, window_->win);
  MPI_Win_flush(0, window_->win);
  return std::size_t(mine);
}

std::vector<std::size_t> Counters::values() {
  if (window_) {
    const int count = int(values_.size());
    MPI_Get_accumulate(nullptr, 0, MPI_INT64_T, values_.data(), count, MPI_INT64_T, 0, 0, count, MPI_INT64_T, MPI_NO_OP,
                       window_->win);
    MPI_Win_flush(0, window_->win);
  }
  return {values_.begin(), values_.end()};
}

#else

std::string library() { return "none"; }
void join() {
  if (launched_size() > 1)
    input_error("this program was built without MPI: run its parts with --shard i/n, or build it where MPI is found");
}
void leave(bool, int) {}
std::string shared(std::string bytes) { return bytes; }
std::vector<std::string> gathered(const std::string &bytes) { return {bytes}; }
void send(std::string, int) {}
std::string received(int) { return ""; }
double largest(double number) { return number; }
std::vector<double> combined_before(const std::vector<double> &, const Combine &) { return {}; }
Counters::Counters(std::size_t count) : values_(count) {}
Counters::~Counters() = default;
std::size_t Counters::next(std::size_t counter) { return std::size_t(values_.at(counter)++); }
std::vector<std::size_t> Counters::values() { return {values_.begin(), values_.end()}; }

#endif

double seconds_of_slowest(const std::function<void()> &work) {
  largest(0); // a barrier: all ranks start together
  const auto start = std::chrono::steady_clock::now();
  work();
  return largest(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

} // namespace recollect::ranks
