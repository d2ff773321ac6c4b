// SPDX-License-Identifier: Apache-2.0
#include "harness/files/safetensors.hpp"
#include "harness/core/error.hpp"
#include "harness/files/tensor_file.hpp"
#include "harness/system/memory.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <cmath>
#include <fstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(safetensors)

std::string raw(std::initializer_list<int> values) {
  std::string out;
  for (int v : values) out.push_back(char(v));
  return out;
}
std::string file_with(const std::string &header, const std::string &data) {
  return raw({int(header.size() & 255), int(header.size() >> 8), 0, 0, 0, 0, 0, 0}) + header + data;
}
/// One tensor of one number.
std::string one_number(const std::string &type, const std::string &data) {
  return file_with(
      R"({"x":{"dtype":")" + type + R"(","shape":[1],"data_offsets":[0,)" + std::to_string(data.size()) + "]}}", data);
}
std::string refusal(const std::string &bytes) {
  try {
    const Safetensors file(bytes, "f");
    for (const std::string &name : file.names()) file.array(name);
  } catch (const Error &failure) {
    BOOST_TEST(failure.code == exit_input);
    return failure.what();
  }
  return "";
}

BOOST_AUTO_TEST_CASE(every_type_is_read_from_bytes_worked_by_hand) {
  const auto number = [](const std::string &type, const std::string &data) {
    return Safetensors(one_number(type, data), "f").array("x").data.at(0);
  };
  BOOST_TEST(number("F16", raw({0, 0xc0})) == -2);
  BOOST_TEST(number("BF16", raw({0x49, 0xc0})) == -3.140625);
  BOOST_TEST(number("U16", raw({0x49, 0xc0})) == -3.140625); // the bits of a bfloat16
  BOOST_TEST(number("F32", raw({0, 0, 0x80, 0x3f})) == 1);
  BOOST_TEST(number("F64", raw({0, 0, 0, 0, 0, 0, 0, 0x40})) == 2);
  BOOST_TEST(number("I32", raw({0xfe, 0xff, 0xff, 0xff})) == -2);
  BOOST_TEST(number("I64", raw({0, 1, 0, 0, 0, 0, 0, 0})) == 256);
}

BOOST_AUTO_TEST_CASE(shapes_names_and_metadata_are_read_in_any_order) {
  const std::string header =
      R"({"b":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]},)"
      R"("__metadata__":{"seed":"7","no text":7},"a":{"dtype":"I32","shape":[],"data_offsets":[0,4]}}  )";
  const Safetensors file(file_with(header, raw({5, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40})), "f");
  BOOST_TEST(file.names() == (std::vector<std::string>{"a", "b"}), boost::test_tools::per_element());
  BOOST_TEST((file.array("a").dims.empty() && file.array("a").data == std::vector<double>{5}));
  BOOST_TEST((file.array("b").dims == std::vector<std::uint64_t>{2, 1}));
  BOOST_TEST((file.array("b").data == std::vector<double>{1, 2}));
  BOOST_TEST((file.meta() == Facts{{"seed", "7"}}));
  BOOST_TEST((file.has("a") && !file.has("__metadata__")));
}

BOOST_AUTO_TEST_CASE(damage_is_refused_in_one_line_that_names_it) {
  const auto says = [](const std::string &bytes, const std::string &what) {
    const std::string said = refusal(bytes);
    BOOST_TEST((said.find(what) != std::string::npos && said.find('\n') == std::string::npos), said << " | " << what);
  };
  const std::string number = raw({0, 0, 0x80, 0x3f});
  says("junk", "no header");
  says(raw({100, 0, 0, 0, 0, 0, 0, 0}) + "{}", "truncated");
  says(raw({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}) + "{}", "truncated");
  says(file_with("{not json", ""), "not a JSON object");
  says(file_with("[1]", ""), "not a JSON object");
  says(file_with(R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", number), "lacks a dtype, a shape");
  for (const char *entry : {R"(5)", R"({})", R"({"dtype":5})", R"({"dtype":"F32"})", R"({"dtype":"F32","shape":3})",
                            R"({"dtype":"F32","shape":[1]})", R"({"dtype":"F32","shape":[1],"data_offsets":"0,4"})",
                            R"({"dtype":"F32","shape":[1],"data_offsets":[0,4,8]})",
                            R"({"dtype":"F32","shape":[1],"data_offsets":[0,"4"]})"})
    says(file_with(std::string("{\"x\":") + entry + "}", number), "x lacks a dtype, a shape or two data_offsets");
  says(file_with(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", number), "x ends past the end");
  says(file_with(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", number), "x ends past the end");
  says(file_with(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,18446744073709551615]}})", number), "truncated");
  says(file_with(R"({"x":{"dtype":"F32","shape":[3],"data_offsets":[0,4]}})", number), "shape and type need 12");
  says(file_with(R"({"x":{"dtype":"F32","shape":[4294967296,4294967297],"data_offsets":[0,4]}})", number), "need");
  says(one_number("Q9", number), "x is of the unknown type Q9");
  says(one_number("U8", "a"), "of type U8, needs F16");
  says(one_number("I64", raw({1, 0, 0, 0, 0, 0, 0x20, 0x10})), "beyond 2^53");
  const std::string two = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                          R"("b":{"dtype":"F32","shape":[1],"data_offsets":[)";
  says(file_with(two + "0,4]}}", number), "overlap");
  says(file_with(two + "2,6]}}", number + "ab"), "overlap");
  says(file_with(two + "6,10]}}", number + "ab" + number), "belong to none");
  says(file_with(two + "4,8]}}", number + number + "ab"), "last bytes");
  BOOST_TEST(refusal(file_with(two + "4,8]}}", number + number)) == "");
}

BOOST_AUTO_TEST_CASE(a_tensor_takes_no_more_memory_than_it_may) {
  const Safetensors file(one_number("F16", raw({0, 0xc0})), "f");
  set_memory_limit(7); // it becomes a number of 8 bytes
  BOOST_CHECK_THROW(file.array("x"), Error);
  set_memory_limit(8);
  BOOST_TEST(file.array("x").data.at(0) == -2);
  set_memory_limit(0);
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read_back) {
  const std::map<std::string, NumericArray> arrays{{"o", {{2, 1}, {0.1, -3}}}, {"state", {{1}, {5e-324}}}};
  const std::string bytes = safetensors_bytes(arrays, Real::f64, {{"seed", "1"}});
  const Safetensors file(bytes, "f");
  for (const auto &[name, array] : arrays)
    BOOST_TEST((file.array(name).dims == array.dims && file.array(name).data == array.data), name);
  BOOST_TEST((file.meta() == Facts{{"seed", "1"}}));
  BOOST_TEST((unsigned(static_cast<unsigned char>(bytes[0])) % 8 == 0)); // data are aligned to 8 bytes
  BOOST_TEST(Safetensors(safetensors_bytes(arrays, Real::f32, {}), "f").array("o").data[0] == double(0.1f));
}

BOOST_AUTO_TEST_CASE(arrays_of_16_bits_are_written_as_such_and_states_beside_them_in_float32) {
  const std::map<std::string, NumericArray> arrays{{"o", {{2}, {0.1, -3}}}, {"state", {{1}, {0.1}, "f32"}}};
  for (const auto &[real, type, o] :
       {std::tuple{Real::bf16, "BF16", 0.10009765625}, {Real::f16, "F16", 0.0999755859375}}) {
    const std::string bytes = safetensors_bytes(arrays, real, {});
    const Safetensors file(bytes, "f");
    BOOST_TEST((file.array("o").data == std::vector<double>{o, -3}));
    BOOST_TEST((file.array("state").data == std::vector<double>{double(0.1f)}));
    BOOST_TEST(bytes.find(std::string("\"dtype\":\"") + type + "\"") != std::string::npos);
    BOOST_TEST(bytes.size() % 8 == 0u); // 2 * 2 + 4 bytes after the header
  }
}

BOOST_AUTO_TEST_CASE(sample_forward_and_check_take_them) {
  const Folder folder;
  const std::string in = folder / "in.safetensors", out = folder / "out.safetensors";
  BOOST_TEST(run_program("sample delta_net --shape 1,2,9,4,3 --grad --dtype f32 -o " + in).status == 0);
  BOOST_TEST(run_program("forward delta_net --gradient -i " + in + " -o " + out).status == 0);
  const Outcome right = run_program("check delta_net --grad -i " + in + " -c " + out);
  BOOST_TEST(right.status == 0, right.out << right.err);
  BOOST_TEST(right.out.find("dq: right") != std::string::npos, right.out);
  const std::string whole = read_file(out);
  std::ofstream(out, std::ios::binary) << whole.substr(0, whole.size() - 1);
  const Outcome cut = run_program("check delta_net --grad -i " + in + " -c " + out);
  BOOST_TEST((cut.status == 3 && cut.err.find("truncated") != std::string::npos), cut.err);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
