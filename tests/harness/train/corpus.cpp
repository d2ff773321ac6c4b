// SPDX-License-Identifier: Apache-2.0
#include "harness/train/corpus.hpp"
#include "harness/core/error.hpp"
#include "harness/system/files.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(corpora)

BOOST_AUTO_TEST_CASE(a_file_is_its_bytes) {
  const Folder folder;
  const std::string bytes("a\0\xff\n", 4);
  write_file(folder / "x", bytes);
  BOOST_TEST(load_corpus(folder / "x")->bytes == bytes);
  BOOST_CHECK_THROW(load_corpus(folder / "absent"), Error);
}

BOOST_AUTO_TEST_CASE(the_last_tenth_is_held_out) {
  BOOST_TEST(Corpus{std::string(100, 'x')}.held_out() == 90u);
  BOOST_TEST(Corpus{std::string(109, 'x')}.held_out() == 99u);
}

BOOST_AUTO_TEST_CASE(another_text_is_told_from_it) { // FNV-1a's published values of "" and "a"
  BOOST_TEST(Corpus{""}.identity() == "0 bytes, cbf29ce484222325");
  BOOST_TEST(Corpus{"a"}.identity() == "1 bytes, af63dc4c8601ec8c");
  BOOST_TEST(Corpus{"ab"}.identity() != Corpus{"ba"}.identity());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
