// SPDX-License-Identifier: Apache-2.0
#include "harness/system/confine.hpp"
#include "harness/system/child.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(confine)

/// Whether a call failed because of the filter.
bool refused(long result) { return result < 0 && errno == EPERM; }

/// What a confined child could do but should not, or could not do but should; "" if there is nothing.
std::string found_in_a_confined_child(const Folder &folder) {
  const std::string old = folder / "old", made = folder / "made";
  std::ofstream(old) << "text";
  const pid_t parent = getpid();
  return in_child("x", [&]() -> std::string {
    std::string text;
    if (!(std::ifstream(old) >> text) || text != "text") return "cannot read a file";
    if (std::string(8 << 20, 'x').find('y') != std::string::npos) return "cannot allocate";
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || setrlimit(RLIMIT_AS, &limit) != 0) return "cannot limit itself";
    if (!refused(open(made.c_str(), O_WRONLY | O_CREAT, 0666))) return "makes a file";
    if (!refused(open(old.c_str(), O_WRONLY))) return "opens a file to write it";
    if (!refused(open(old.c_str(), O_RDWR | O_TRUNC))) return "empties a file";
    if (!refused(unlink(old.c_str()))) return "removes a file";
    if (!refused(rename(old.c_str(), made.c_str()))) return "renames a file";
    if (!refused(truncate(old.c_str(), 0))) return "cuts a file";
    if (!refused(chmod(old.c_str(), 0))) return "changes a mode";
    if (!refused(mkdir(made.c_str(), 0777))) return "makes a folder";
    if (!refused(symlink(old.c_str(), made.c_str()))) return "makes a link";
    if (!refused(memfd_create("x", 0))) return "makes a file in memory";
    if (!refused(socket(AF_INET, SOCK_STREAM, 0)) || !refused(socket(AF_UNIX, SOCK_STREAM, 0))) return "opens a socket";
    if (!refused(fork())) return "starts a process";
    if (!refused(execl("/bin/true", "true", nullptr))) return "starts a program";
    if (!refused(kill(parent, 0))) return "signals its parent";
    rlimit others{};
    if (!refused(prlimit(parent, RLIMIT_CORE, nullptr, &others))) return "asks for the limits of others";
    return "confined";
  });
}

BOOST_AUTO_TEST_CASE(a_child_reads_and_changes_nothing) {
  const Folder folder;
  BOOST_TEST(found_in_a_confined_child(folder) == "confined");
}

/// The child does not have the user's standard streams.
BOOST_AUTO_TEST_CASE(a_child_has_no_streams) {
  BOOST_TEST(in_child("x", []() -> std::string {
               struct stat s, nowhere;
               stat("/dev/null", &nowhere);
               for (int stream = 0; stream < 3; ++stream)
                 if (fstat(stream, &s) != 0 || s.st_rdev != nowhere.st_rdev) return "it has";
               return "none";
             }) == "none");
}

/// Without the filter the same calls succeed, so the test above can fail.
BOOST_AUTO_TEST_CASE(an_unconfined_process_can) {
  const Folder folder;
  BOOST_TEST(!refused(open((folder / "made").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)));
  BOOST_TEST(!refused(mkdir((folder / "folder").c_str(), 0777)));
  BOOST_TEST(!refused(kill(getppid(), 0)));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
