// SPDX-License-Identifier: Apache-2.0
#include "harness/system/lock_file.hpp"
#include "harness/core/error.hpp"
#include "harness/system/files.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(lock_file)

namespace fs = std::filesystem;

auto says(const std::string &what) {
  return [what](const Error &e) { return std::string(e.what()).find(what) != std::string::npos; };
}

int no_locks_here(int) { return errno = EOPNOTSUPP, -1; }

BOOST_AUTO_TEST_CASE(one_holds_it_and_leaves_nothing) {
  const Folder folder;
  {
    const LockFile first(folder / "r", "no: ");
    BOOST_CHECK_EXCEPTION(LockFile(folder / "r", "no: "), Error, says("no: another process"));
    const LockFile elsewhere(folder / "s", "no: ");
  }
  const LockFile again(folder / "r", "no: ");
  BOOST_TEST(!fs::exists(folder / "s.lock"));
}

BOOST_AUTO_TEST_CASE(what_a_killed_process_leaves_is_no_obstacle) {
  const Folder folder;
  write_file(folder / "r.lock", "");
  { const LockFile taken(folder / "r", "no: "); }
  BOOST_TEST(!fs::exists(folder / "r.lock"));
}

/// The race found in the audit: the file is open, its owner removes it, and only then is it locked.
BOOST_AUTO_TEST_CASE(a_lock_on_a_file_that_was_removed_meanwhile_is_tried_again) {
  const Folder folder;
  int tries = 0;
  const LockFile lock(folder / "r", "no: ", [&](int descriptor) {
    if (++tries == 1) fs::remove(folder / "r.lock");
    return flock(descriptor, LOCK_EX | LOCK_NB);
  });
  BOOST_TEST(tries == 2);
  BOOST_CHECK_EXCEPTION(LockFile(folder / "r", "no: "), Error, says("another process"));
}

BOOST_AUTO_TEST_CASE(without_locks_a_lease_is_held) {
  const Folder folder;
  {
    const LockFile first(folder / "r", "no: ", no_locks_here);
    BOOST_TEST(fs::exists(folder / "r.lease"));
    BOOST_TEST(!fs::exists(folder / "r.lock"));
    BOOST_CHECK_EXCEPTION(LockFile(folder / "r", "no: ", no_locks_here), Error,
                          says("names process " + std::to_string(getpid())));
  }
  BOOST_TEST(fs::is_empty(folder / "."));
  if (const pid_t child = fork(); child == 0) { // it is killed: its lease stays
    const LockFile lost(folder / "r", "no: ", no_locks_here);
    _exit(0);
  } else
    waitpid(child, nullptr, 0);
  BOOST_CHECK_EXCEPTION(LockFile(folder / "r", "no: ", no_locks_here), Error, says("has ended: remove that file"));
  fs::remove(folder / "r.lease");
  const LockFile again(folder / "r", "no: ", no_locks_here);
}

BOOST_AUTO_TEST_CASE(a_folder_that_takes_no_files_is_refused) {
  const Folder folder;
  BOOST_CHECK_EXCEPTION(LockFile(folder / "no/r", "no: "), Error, says("no: cannot create"));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
