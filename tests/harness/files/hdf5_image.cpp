// SPDX-License-Identifier: Apache-2.0
// What only the writer decides. tests/harness/files/hdf5_file.cpp reads back what was written.
#include "harness/files/digest.hpp"
#include "harness/files/hdf5_file.hpp"
#include "harness/system/files.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(hdf5_image)

BOOST_AUTO_TEST_CASE(the_digest_is_that_of_the_facts_and_tables) {
  const Folder folder;
  const Facts facts{{"b", "2"}, {"a", "1"}};
  Table one{"one", {{"n", Kind::integer}}, {}}, two{"two", {{"t", Kind::text}}, {}};
  one.add(7), two.add("x");
  Hdf5Image image;
  image.attributes("some schema", 4, facts);
  image.table(one), image.table(two);
  OutputFile(folder / "x.h5").publish(image.bytes());
  BOOST_TEST(Hdf5File(folder / "x.h5").stored_digest() == digest(facts) + digest(one) + digest(two));
}

BOOST_AUTO_TEST_CASE(tables_are_deflated) {
  Table table{"t", {{"run", Kind::integer}, {"value", Kind::real}}, {}};
  for (int i = 0; i < 10000; ++i) table.add(i, 0.25);
  Hdf5Image image;
  image.table(table);
  BOOST_TEST(image.bytes().size() < 10000 * 16 / 4);
}

BOOST_AUTO_TEST_CASE(nothing_touches_the_disk) {
  const Folder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder / ".");
  Hdf5Image image;
  image.attributes("some schema", 4, {});
  image.array("o", {1, 2}, {2}, Real::f32);
  BOOST_TEST(image.bytes().substr(1, 3) == "HDF");
  std::filesystem::current_path(before);
  BOOST_TEST(std::filesystem::is_empty(folder / "."));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
