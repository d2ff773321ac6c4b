// SPDX-License-Identifier: Apache-2.0
#include "harness/system/files.hpp"
#include "harness/core/error.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(files)

namespace fs = std::filesystem;

bool says(const Error &failure, const std::string &what) {
  return std::string(failure.what()).find(what) != std::string::npos;
}

BOOST_AUTO_TEST_CASE(a_file_is_absent_old_or_whole) {
  const Folder folder;
  const std::string path = folder / "r.h5";
  OutputFile file(path);
  file.checkpoint("half");
  BOOST_TEST(!fs::exists(path));
  BOOST_TEST(read_file(path + ".partial") == "half");
  file.checkpoint("more");
  BOOST_TEST(read_file(path + ".partial") == "more");
  file.publish("whole");
  BOOST_TEST(read_file(path) == "whole");
  BOOST_TEST(!fs::exists(path + ".partial"));
  BOOST_TEST(!fs::exists(path + ".partial.new"));
}

BOOST_AUTO_TEST_CASE(a_second_writer_is_refused_and_a_dead_one_is_not_in_the_way) {
  const Folder folder;
  const std::string path = folder / "r.h5";
  {
    OutputFile first(path), second(path);
    first.checkpoint("first");
    BOOST_CHECK_EXCEPTION(second.checkpoint("second"), Error,
                          [](const Error &e) { return says(e, "another process"); });
    BOOST_CHECK_EXCEPTION(second.adopt(), Error, [](const Error &e) { return says(e, "another process"); });
    first.checkpoint("first again"); // the lock belongs to the new file
    BOOST_CHECK_EXCEPTION(second.adopt(), Error, [](const Error &e) { return says(e, "another process"); });
  } // the process dies; its file is kept until another adopts it
  OutputFile third(path);
  BOOST_CHECK_EXCEPTION(third.checkpoint("third"), Error, [](const Error &e) { return says(e, "--resume"); });
  BOOST_TEST(read_file(path + ".partial") == "first again");
  BOOST_TEST(third.adopt());
  third.publish("third");
  BOOST_TEST(read_file(path) == "third");
  BOOST_TEST(!OutputFile(path).adopt());
}

BOOST_AUTO_TEST_CASE(who_dies_between_link_and_unlink_can_be_taken_over) {
  const Folder folder;
  const std::string path = folder / "r.h5";
  OutputFile(path).checkpoint("half");
  fs::create_hard_link(path + ".partial", path + ".partial.new");
  OutputFile other(path);
  BOOST_TEST(other.adopt());
  other.checkpoint("more");
  BOOST_TEST(read_file(path + ".partial") == "more");
  other.publish("whole");
  BOOST_TEST(read_file(path) == "whole");
  BOOST_TEST(!fs::exists(path + ".partial"));
  BOOST_TEST(!fs::exists(path + ".partial.new"));
}

BOOST_AUTO_TEST_CASE(readers_of_a_run_under_way_are_not_locked_out) {
  const Folder folder;
  OutputFile file(folder / "r.h5");
  file.checkpoint("half");
  const int reader = open((folder / "r.h5.partial").c_str(), O_RDONLY | O_CLOEXEC);
  BOOST_TEST(flock(reader, LOCK_SH | LOCK_NB) == 0); // the lock that HDF5's library asks for
  file.checkpoint("more");
  char first[4];
  BOOST_TEST(read(reader, first, 4) == 4); // still the whole earlier record
  BOOST_TEST(std::string(first, 4) == "half");
  close(reader);
}

BOOST_AUTO_TEST_CASE(an_interrupted_run_survives_a_file_written_at_once) {
  const Folder folder;
  OutputFile(folder / "r").checkpoint("half");
  OutputFile(folder / "r").publish("other");
  BOOST_TEST(read_file(folder / "r.partial") == "half");
}

BOOST_AUTO_TEST_CASE(modes_are_kept_and_write_protection_is_respected) {
  const Folder folder;
  const std::string path = folder / "r";
  OutputFile(path).publish("old");
  chmod(path.c_str(), 0600);
  OutputFile(path).publish("new");
  BOOST_TEST((fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write)));
  chmod(path.c_str(), 0444);
  BOOST_CHECK_EXCEPTION(OutputFile{path}, Error, [](const Error &e) { return says(e, "write-protected"); });
  BOOST_TEST(read_file(path) == "new");
}

BOOST_AUTO_TEST_CASE(links_are_followed_and_partials_are_not) {
  const Folder folder;
  fs::create_directory(folder / "there");
  fs::create_symlink("there/target.h5", folder / "link.h5");
  OutputFile(folder / "link.h5").publish("x");
  BOOST_TEST(fs::is_symlink(folder / "link.h5"));
  BOOST_TEST(read_file(folder / "there/target.h5") == "x");

  OutputFile(folder / "mine").publish("precious");
  fs::create_symlink("mine", folder / "r.h5.partial.new");
  OutputFile(folder / "r.h5").publish("y");
  BOOST_TEST(read_file(folder / "mine") == "precious");
}

BOOST_AUTO_TEST_CASE(what_is_no_regular_file_is_refused) {
  const Folder folder;
  BOOST_CHECK_THROW(OutputFile(folder / "no/such/r.h5"), Error);
  BOOST_CHECK_THROW(OutputFile("/dev/null"), Error);
  fs::create_directory(folder / "d");
  BOOST_CHECK_THROW(OutputFile(folder / "d"), Error);
  mkfifo((folder / "pipe").c_str(), 0600);
  BOOST_CHECK_THROW(read_regular_file(folder / "pipe"), Error); // and does not wait for a writer
  BOOST_CHECK_THROW(write_file(folder / "pipe", "x"), Error);   // nor for a reader
  BOOST_CHECK_THROW(read_regular_file(folder / "d"), Error);
  BOOST_CHECK_THROW(read_regular_file(folder / "absent"), Error);
}

BOOST_AUTO_TEST_CASE(overlaps_are_found_under_any_name) {
  const Folder folder;
  OutputFile(folder / "a").publish("a");
  fs::create_symlink("a", folder / "also_a");
  fs::create_hard_link(folder / "a", folder / "a_too");
  OutputFile(folder / "o.partial").publish("input");
  OutputFile(folder / "old").publish("old");
  refuse_overlap({folder / "x", "", folder / "y", folder / "old"}, {folder / "a", ""});
  BOOST_CHECK_THROW(refuse_overlap({folder / "a"}, {folder / "a"}), Error);
  BOOST_CHECK_THROW(refuse_overlap({folder / "also_a"}, {folder / "a"}), Error);
  BOOST_CHECK_THROW(refuse_overlap({folder / "a_too"}, {folder / "a"}), Error);
  BOOST_CHECK_THROW(refuse_overlap({folder / "./a"}, {folder / "a"}), Error);
  BOOST_CHECK_THROW(refuse_overlap({folder / "o"}, {folder / "o.partial"}),
                    Error); // files written next to an output count
  BOOST_CHECK_THROW(refuse_overlap({folder / "x", folder / "x"}, {}), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
