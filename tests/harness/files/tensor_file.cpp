// SPDX-License-Identifier: Apache-2.0
#include "harness/files/tensor_file.hpp"
#include "harness/core/error.hpp"
#include "harness/files/npy.hpp"
#include "harness/system/files.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(tensor_files)

const Arrays two{{"o", {{1, 2}, {0.1, -3}}}, {"state", {{1}, {5e-324}}}};

BOOST_AUTO_TEST_CASE(every_container_gives_back_what_it_got) {
  const Folder folder;
  for (const char *name : {"x.h5", "x.npz", "x.safetensors"}) {
    write_arrays(folder / name, two, Real::f64, {});
    const Arrays back = read_arrays(folder / name, {{"o", 2, "[a,b]"}, {"state", 1, "[a]"}, {"absent", 1, "[a]"}});
    BOOST_TEST_REQUIRE(back.size() == 2u, name);
    for (const auto &[key, array] : two)
      BOOST_TEST((back.at(key).dims == array.dims && back.at(key).data == array.data), name << " " << key);
  }
  BOOST_CHECK_THROW(write_arrays(folder / "x.npy", two, Real::f64, {}),
                    Error); // this format holds one array, without a name
  OutputFile(folder / "x.npy").publish(npy_bytes(two.at("o"), Real::f32));
  BOOST_TEST(read_arrays(folder / "x.npy", {{"o", 2, "[a,b]"}}).at("o").data[0] == double(0.1f));
}

BOOST_AUTO_TEST_CASE(what_nobody_asked_for_is_not_looked_at) {
  const Folder folder;
  write_arrays(folder / "x.npz", two, Real::f64, {});
  BOOST_TEST(read_arrays(folder / "x.npz", {{"o", 2, "[a,b]"}}).size() == 1u);
}

BOOST_AUTO_TEST_CASE(other_ranks_and_damage_are_refused) {
  const Folder folder;
  for (const std::string name : {"x.h5", "x.npz", "x.safetensors"}) {
    write_arrays(folder / name, two, Real::f64, {});
    BOOST_CHECK_THROW(read_arrays(folder / name, {{"o", 3, "[a,b,c]"}}), Error);
    std::string bytes = read_file(folder / name);
    OutputFile(folder / ("cut-" + name)).publish(bytes.substr(0, bytes.size() / 2));
    BOOST_CHECK_THROW(read_arrays(folder / ("cut-" + name), {{"o", 2, "[a,b]"}}), Error);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
