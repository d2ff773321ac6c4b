// SPDX-License-Identifier: Apache-2.0
#include "harness/files/tensors.hpp"
#include "harness/core/error.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <algorithm>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(tensors)

UsersArray counted(Dims dims) {
  UsersArray array{std::move(dims), {}, ""};
  size_t size = 1;
  for (std::uint64_t n : array.dims) size *= size_t(n);
  for (size_t i = 0; i < size; ++i) array.data.push_back(double(i));
  return array;
}

Convention with_layout(Layout layout, bool state_kv = false) {
  Convention c;
  c.layout = layout, c.state_kv = state_kv;
  return c;
}

bool says(const Error &error, const std::string &what) {
  return std::string(error.what()).find(what) != std::string::npos;
}

BOOST_AUTO_TEST_CASE(an_order_of_dimensions_is_what_it_says) {
  const UsersArray q{{1, 2, 3, 1}, {0, 1, 2, 10, 11, 12}, ""}, beta{{1, 2, 3}, {0, 1, 2, 10, 11, 12}, ""},
      state{{1, 1, 2, 3}, {0, 1, 2, 10, 11, 12}, ""}; // head h, step t: 10 h + t; row i, column j: 10 i + j
  const UsersArrays layer{{"q", q}, {"beta", beta}, {"state", state}};
  UsersArrays file = in_file_order(layer, with_layout(Layout::bthd));
  BOOST_TEST((file["q"].dims == Dims{1, 3, 2, 1} && file["q"].data == std::vector<double>{0, 10, 1, 11, 2, 12}));
  BOOST_TEST((file["beta"].dims == Dims{1, 3, 2} && file["beta"].data == std::vector<double>{0, 10, 1, 11, 2, 12}));
  BOOST_TEST((file["state"].dims == state.dims && file["state"].data == state.data));
  file = in_file_order(layer, with_layout(Layout::thd, true));
  BOOST_TEST((file["q"].dims == Dims{3, 2, 1} && file["q"].data == std::vector<double>{0, 10, 1, 11, 2, 12}));
  BOOST_TEST((file["beta"].dims == Dims{3, 2}));
  BOOST_TEST((file["state"].dims == Dims{1, 1, 3, 2}));
  BOOST_TEST((file["state"].data == std::vector<double>{0, 10, 1, 11, 2, 12}));
}

BOOST_AUTO_TEST_CASE(every_order_comes_back) {
  const UsersArrays layer{{"q", counted({1, 2, 3, 4})},      {"alpha", counted({1, 2, 3})},
                          {"dstate", counted({1, 2, 5, 4})}, {"A_log", counted({2})},
                          {"dt_bias", counted({2, 4})},      {"cu_seqlens", counted({3})}};
  for (Layout layout : {Layout::bhtd, Layout::bthd, Layout::thd})
    for (bool state_kv : {false, true}) {
      const Convention c = with_layout(layout, state_kv);
      const UsersArrays back = in_layer_order(in_file_order(layer, c), c);
      for (const auto &[name, array] : layer)
        BOOST_TEST((back.at(name).dims == array.dims && back.at(name).data == array.data), name);
      for (const auto &[name, array] : in_file_order(layer, c))
        BOOST_TEST((dims_in_file(name, layer.at(name).dims, c) == array.dims), name);
    }
}

BOOST_AUTO_TEST_CASE(messages_give_the_name_and_the_shape_in_the_file) {
  UsersArrays arrays{{"alpha", counted({1, 3, 2})}, {"D", counted({2})}};
  arrays["alpha"].name = "g";
  BOOST_TEST((find(arrays, "D") == &arrays["D"] && !find(arrays, "z")));
  BOOST_TEST((spoken(arrays, "alpha") == "dataset g" && spoken(arrays, "D") == "dataset D"));
  const Shape shape{1, 4, 2, 5, 6};
  BOOST_TEST(
      (over_steps(Tensor::beta, 3, shape) == Dims{1, 3, 2} && over_steps(Tensor::v, 3, shape) == Dims{1, 3, 2, 6}));
  BOOST_TEST((checked_heads(arrays, "alpha", 6) == 3 && checked_heads(arrays, "D", 6) == 2));
  BOOST_CHECK_EXCEPTION(checked_heads(arrays, "D", 3), Error, [](const Error &error) {
    return says(error, "dataset D has 2 heads, which do not divide the 3 heads of the others");
  });
  const Convention c = with_layout(Layout::thd);
  check_dims(arrays, "alpha", dims_of({1, 3, 2}), "to match q", c);
  BOOST_CHECK_EXCEPTION(
      check_dims(arrays, "alpha", dims_of({1, 4, 2}), "to match q", c), Error,
      [](const Error &error) { return says(error, "dataset g has shape [2,3], needs [2,4] to match q"); });
}

BOOST_AUTO_TEST_CASE(arrays_in_the_layers_order_are_not_copied) {
  const UsersArrays layer{{"q", counted({1, 2, 3, 4})}, {"state", counted({1, 2, 5, 4})}};
  UsersArrays converted;
  BOOST_TEST(&seen_in_layer_order(layer, {}, converted) == &layer);
  for (const Convention &c : {with_layout(Layout::bthd), with_layout(Layout::bhtd, true)}) {
    const UsersArrays file = in_file_order(layer, c), &seen = seen_in_layer_order(file, c, converted),
                      shapes = in_layer_order(shapes_of(file), c);
    for (const auto &[name, array] : layer)
      BOOST_TEST((seen.at(name).dims == array.dims && seen.at(name).data == array.data &&
                  shapes.at(name).dims == array.dims && shapes.at(name).data.empty()),
                 name);
  }
  BOOST_CHECK_THROW(seen_in_layer_order({{"q", counted({2, 3})}}, {}, converted), Error);
  BOOST_CHECK_THROW(seen_in_layer_order({{"D", counted({})}}, {}, converted), Error); // one number, without a head
}

BOOST_AUTO_TEST_CASE(arrays_are_written_and_read_under_the_conventions_names) {
  const Folder folder;
  const UsersArrays inputs{
      {"q", counted({1, 3, 2, 4})}, {"alpha", counted({1, 2, 3})}, {"state", counted({1, 2, 5, 4})}};
  const Convention fla = preset("fla");
  for (const char *file : {"x.npz", "x.h5"}) {
    write_users(folder / file, in_file_order(inputs, fla), fla, Real::f64, {});
    const auto names = array_names(folder / file);
    for (const char *name : {"q", "g", "initial_state"})
      BOOST_TEST((std::find(names.begin(), names.end(), name) != names.end()), name);
    const UsersArrays back =
        in_layer_order(read_users(folder / file, {"q", "alpha", "lambda", "state", "beta"}, fla), fla);
    BOOST_TEST_REQUIRE(back.size() == 3u); // g has one number per step: it is alpha, not lambda
    BOOST_TEST((back.at("alpha").name == "g" && back.at("state").name == "initial_state"));
    for (const auto &[name, array] : inputs) BOOST_TEST((back.at(name).data == array.data), name);
  }
}

BOOST_AUTO_TEST_CASE(gates_and_states_are_float32_beside_arrays_of_16_bits) {
  const Folder folder;
  const double third = 1.0 / 3, stored = 0.333984375; // 171 * 2^-9
  const UsersArray one{{1, 1, 1, 1}, {third}, ""}, step{{1, 1, 1}, {third}, ""};
  const Convention fla = preset("fla");
  write_users(folder / "x.safetensors",
              {{"o", one}, {"dq", one}, {"dlambda", one}, {"final_state", one}, {"dbeta", step}}, fla, Real::bf16, {});
  const UsersArrays back = read_users(folder / "x.safetensors", {"o", "dq", "dlambda", "final_state", "dbeta"}, fla);
  for (const auto &[name, array] : back)
    BOOST_TEST(array.data.at(0) == (name == "o" || name == "dq" ? stored : double(float(third))), name);
  BOOST_TEST(back.size() == 5u);
}

BOOST_AUTO_TEST_CASE(what_does_not_match_is_refused_by_name) {
  const Folder folder;
  const auto refused = [&](const Arrays &arrays, const Convention &c, const std::string &what) {
    write_arrays(folder / "x.h5", arrays, Real::f64, {});
    BOOST_CHECK_EXCEPTION(in_layer_order(read_users(folder / "x.h5", {"q", "state", "beta"}, c), c), Error,
                          [&](const Error &e) { return says(e, what); });
  };
  refused({{"q", {{1, 2}, {1, 2}}}}, {}, "dataset q has shape [1,2], needs [B,H,T,Dk]");
  refused({{"q", {{1, 2}, {1, 2}}}}, with_layout(Layout::thd), "needs [T,H,Dk]");
  refused({{"beta", {{1, 2}, {1, 2}}}}, with_layout(Layout::bthd), "dataset beta has shape [1,2], needs [B,T,H]");
  refused({{"h0", {{1, 1, 1, 1}, {1}}}, {"initial_state", {{1, 1, 1, 1}, {1}}}}, preset("fla"),
          "initial_state and h0 are two names of one array");
}

BOOST_AUTO_TEST_CASE(arrays_of_other_names_are_refused) {
  const Folder folder;
  const NumericArray one{{1}, {0.5}};
  for (const char *file : {"x.h5", "x.npz"}) {
    write_arrays(folder / file, {{"q", one}, {"final_state", one}}, Real::f64, {});
    BOOST_CHECK_NO_THROW(refuse_unknown(folder / file, {"q", "final_state"}, "known"));
    BOOST_CHECK_EXCEPTION(refuse_unknown(folder / file, {"q", "state"}, "an input"), Error, [](const Error &e) {
      return says(e, "dataset final_state is not an input, did you mean 'state'?; known are q, state");
    });
  }
}

BOOST_AUTO_TEST_CASE(an_hdf5_file_tells_its_seed) {
  const Folder folder;
  write_arrays(folder / "x.h5", {{"q", {{1}, {0.5}}}}, Real::f64, {{"seed", "7"}});
  BOOST_TEST((read_meta(folder / "x.h5") == Facts{{"seed", "7"}}));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
