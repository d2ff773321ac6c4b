// SPDX-License-Identifier: Apache-2.0
#include "harness/files/tensor_file.hpp"
#include "harness/core/error.hpp"
#include "harness/files/npy.hpp"
#include "harness/system/files.hpp"
#include "harness/system/memory.hpp"
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

std::string why_not(const std::string &path, const std::vector<Wanted> &wanted) {
  try {
    read_arrays(path, wanted);
  } catch (const Error &failure) {
    BOOST_TEST(failure.code == exit_input);
    return std::string(failure.what()).substr(path.size());
  }
  return "";
}

BOOST_AUTO_TEST_CASE(sizes_are_from_1_to_2_to_the_31) {
  const Folder folder;
  for (const char *name : {"x.npz", "x.safetensors"}) {
    write_arrays(folder / name, {{"none", {{0, 2}, {}}}, {"long", {{std::uint64_t(1) << 31, 0}, {}}}}, Real::f64, {});
    BOOST_TEST(why_not(folder / name, {{"none", 2, "[a,b]"}}).find("none has a size of 0, needs [a,b]") !=
               std::string::npos);
    BOOST_TEST(why_not(folder / name, {{"long", 2, "[a,b]"}}).find("has a size of 2147483648") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(members_of_an_npz_that_are_damaged_or_too_large_are_refused) {
  const Folder folder;
  const std::string path = folder / "x.npz";
  write_arrays(path, two, Real::f64, {});
  set_memory_limit(100); // less than a header
  BOOST_CHECK_EXCEPTION(read_npz(path, {{"o", 2, "[a,b]"}}), Error, [](const Error &e) {
    return std::string(e.what()).find("array o is more than --memory allows") != std::string::npos;
  });
  set_memory_limit(0);
  const std::string bytes = read_file(path), number("\x9a\x99\x99\x99\x99\x99\xb9\x3f", 8); // 0.1
  std::string flipped = bytes;
  flipped[bytes.find(number)] ^= 1; // the archive has a checksum of each member
  OutputFile(folder / "flipped.npz").publish(flipped);
  BOOST_TEST(why_not(folder / "flipped.npz", {{"o", 2, "[a,b]"}}) == ": array o cannot be read: the file is damaged");
}

BOOST_AUTO_TEST_CASE(names_and_metadata_of_every_container) {
  using Names = std::vector<std::string>;
  const Folder folder;
  for (const char *name : {"x.h5", "x.npz", "x.safetensors"}) {
    write_arrays(folder / name, two, Real::f64, {{"seed", "7"}});
    BOOST_TEST((array_names(folder / name) == Names{"o", "state"}), name);
    BOOST_TEST((read_meta(folder / name) == (name[2] == 'n' ? Facts{} : Facts{{"seed", "7"}})), name);
  }
  OutputFile(folder / "x.npy").publish(npy_bytes(two.at("o"), Real::f32));
  BOOST_TEST((array_names(folder / "x.npy").empty() && read_meta(folder / "x.npy").empty()));
  std::string bytes = read_file(folder / "x.npz"); // a member that NumPy did not write
  for (size_t at; (at = bytes.find("o.npy")) != std::string::npos;) bytes.replace(at, 5, "o.txt");
  OutputFile(folder / "other.npz").publish(bytes);
  BOOST_TEST((array_names(folder / "other.npz") == Names{"o.txt", "state"}));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
