// SPDX-License-Identifier: Apache-2.0
#include "harness/files/hdf5_file.hpp"
#include "harness/core/error.hpp"
#include "harness/numerics/random.hpp"
#include "harness/system/files.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(hdf5)

struct Example {
  Folder folder;
  std::string path = folder / "x.h5";
  Table table{"a/b", {{"w", Kind::whole}, {"i", Kind::integer}, {"r", Kind::real}, {"t", Kind::text}}, {}};
  Example() {
    table.add(std::uint64_t(-1), std::int64_t(-5), 5e-324, std::string(70000, 'x'));
    table.add(3, 0, 0.123456789, "");
    table.add(0, std::int64_t(1) << 62, std::nan(""), "κ <&>");
    Hdf5Image image;
    image.attributes("some schema", 7, {{"b", "2"}, {"a", ""}});
    image.table(table);
    image.table(Table{"empty", {{"n", Kind::integer}}, {}});
    image.array("o", {1, -2.5, 0.1, 4}, {2, 2}, Real::f64);
    image.array("single", {0.1}, {1}, Real::f32);
    OutputFile(path).publish(image.bytes());
  }
};

BOOST_AUTO_TEST_CASE(what_was_put_in_comes_out) {
  const Example x;
  const Hdf5File file(x.path);
  BOOST_TEST((file.schema() == "some schema" && file.schema_version() == 7));
  BOOST_TEST((file.meta() == Facts{{"a", ""}, {"b", "2"}})); // by name
  BOOST_TEST((file.tables() == std::vector<std::string>{"a/b", "empty"}));
  BOOST_TEST((file.table("a/b") == x.table));
  BOOST_TEST((file.table("empty").rows.empty() && file.table("empty").columns.size() == 1));
  const NumericArray o = file.array("o", 2, "[a,b]");
  BOOST_TEST((o.dims == std::vector<std::uint64_t>{2, 2} && o.data == std::vector<double>{1, -2.5, 0.1, 4}));
  BOOST_TEST(file.array("single", 1, "[a]").data[0] == double(0.1f));
}

BOOST_AUTO_TEST_CASE(what_is_not_there_or_of_another_rank_is_refused) {
  const Example x;
  const Hdf5File file(x.path);
  BOOST_TEST((file.has("o") && !file.has("p")));
  BOOST_CHECK_THROW(file.array("p", 2, "[a,b]"), Error);
  BOOST_CHECK_THROW(file.array("o", 3, "[a,b,c]"), Error);
  BOOST_CHECK_THROW(file.table("o"), Error);
  BOOST_CHECK_THROW(Hdf5File(x.folder / "absent.h5"), Error);
}

BOOST_AUTO_TEST_CASE(a_changed_byte_of_a_table_is_noticed) {
  const Folder folder;
  Table table{"t", {{"n", Kind::whole}}, {}};
  std::string lowest; // shuffled bytes of a column are adjacent, and random ones do not compress
  for (std::uint64_t i = 0; i < 256; ++i) {
    const std::uint64_t number = Stream(1, "hdf5").bits(i);
    table.add(number), lowest += char(number);
  }
  Hdf5Image image;
  image.table(table);
  std::string bytes = image.bytes();
  const size_t at = bytes.find(lowest);
  BOOST_TEST_REQUIRE(at != std::string::npos);
  OutputFile(folder / "x.h5").publish(bytes);
  BOOST_TEST((Hdf5File(folder / "x.h5").table("t") == table));
  bytes[at] ^= 1;
  OutputFile(folder / "y.h5").publish(bytes);
  BOOST_CHECK_THROW(Hdf5File(folder / "y.h5").table("t"), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
