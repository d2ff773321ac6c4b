// SPDX-License-Identifier: Apache-2.0
#include "harness/pipeline/tensors.hpp"
#include "harness/check/samples.hpp"
#include "harness/core/error.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(tensors)

BOOST_AUTO_TEST_CASE(every_convention_gives_back_the_sequence) {
  const Folder folder;
  for (const char *name : {"gated_delta_net", "gla", "delta_former"}) {
    const Variant &v = find_variant(name);
    Sequence s = sample(v, {2, 3, 5, 4, 2}, "random", 1);
    for (bool bthd : {false, true})
      for (bool log_gates : {false, true}) {
        const Convention c{bthd, log_gates};
        write_sequence(folder / "x.h5", s, c, Real::f64, {}, {});
        const Sequence back = read_sequence(folder / "x.h5", v.inputs, c);
        BOOST_TEST((back.shape.B == 2 && back.shape.H == 3 && back.shape.T == 5));
        BOOST_TEST((back.q == s.q && back.k == s.k && back.v == s.v && back.beta == s.beta && back.w == s.w));
        check_close(back.alpha, s.alpha, 1e-15), check_close(back.lambda, s.lambda, 1e-15);
      }
  }
}

BOOST_AUTO_TEST_CASE(an_order_of_dimensions_is_what_it_says) {
  const Folder folder;
  Sequence s;
  s.shape = {1, 2, 3, 1, 1};
  s.q = s.k = s.v = {0, 1, 2, 10, 11, 12}; // head h, step t: 10 h + t
  write_sequence(folder / "x.h5", s, {true, false}, Real::f64, {}, {});
  const NumericArray stored = read_arrays(folder / "x.h5", {{"q", 4, ""}}).at("q");
  BOOST_TEST((stored.dims == std::vector<std::uint64_t>{1, 3, 2, 1}));
  BOOST_TEST((stored.data == std::vector<double>{0, 10, 1, 11, 2, 12}));
}

BOOST_AUTO_TEST_CASE(outputs_and_gradients_come_back) {
  const Folder folder;
  Sequence s = sample(find_variant("gated_delta_net"), {2, 3, 5, 4, 2}, "random", 1), gradient = s;
  gradient.state.assign(2 * 3 * 2 * 4, 0.5);
  const Output output{s.v, std::vector<double>(2 * 3 * 2 * 4, 0.25), {2, 4}};
  for (bool bthd : {false, true}) {
    write_output(folder / "x.h5", s, output, gradient, {bthd, true}, Real::f64, {});
    const Output back = read_output(folder / "x.h5", s.shape, {2, 4}, {bthd, true});
    BOOST_TEST((back.o == output.o && back.state == output.state));
    const Computed found = read_computed(folder / "x.h5", s, {2, 4}, {bthd, true});
    BOOST_TEST((found.output.o == output.o && found.output.state == output.state));
    for (Tensor tensor : all_tensors) BOOST_TEST((found.gradient[tensor] == gradient[tensor]), name_of(tensor));
    BOOST_TEST((found.gradient.state == gradient.state));
  }
  s.w = s.k; // whose gradient the file lacks
  BOOST_TEST(read_computed(folder / "x.h5", s, {2, 4}, {true, true}).gradient.w.empty());
}

BOOST_AUTO_TEST_CASE(arrays_of_other_names_are_refused) {
  const Folder folder;
  const NumericArray one{{1}, {0.5}};
  for (const char *file : {"x.h5", "x.npz"}) {
    write_arrays(folder / file, {{"q", one}, {"final_state", one}}, Real::f64, {});
    BOOST_CHECK_NO_THROW(refuse_unknown(folder / file, {"q", "final_state"}, "known"));
    BOOST_CHECK_EXCEPTION(refuse_unknown(folder / file, {"q", "state"}, "an input"), Error, [](const Error &e) {
      return std::string(e.what()).find("dataset final_state is not an input, did you mean 'state'?") !=
             std::string::npos;
    });
  }
}

BOOST_AUTO_TEST_CASE(an_hdf5_file_tells_its_seed) {
  const Folder folder;
  write_arrays(folder / "x.h5", {{"q", {{1}, {0.5}}}}, Real::f64, {{"seed", "7"}});
  BOOST_TEST((read_meta(folder / "x.h5") == Facts{{"seed", "7"}}));
}

BOOST_AUTO_TEST_CASE(what_does_not_match_is_refused) {
  const Folder folder;
  const std::vector<Input> none;
  const NumericArray good{{1, 1, 3, 2}, std::vector<double>(6, 0.5)}, longer{{1, 1, 4, 2}, std::vector<double>(8, 0.5)};
  const auto refused = [&](const Arrays &arrays) {
    write_arrays(folder / "x.h5", arrays, Real::f64, {});
    BOOST_CHECK_THROW(read_sequence(folder / "x.h5", none), Error);
  };
  refused({{"q", good}, {"k", good}});
  refused({{"q", good}, {"k", longer}, {"v", good}});
  write_arrays(folder / "o.h5", {{"o", longer}}, Real::f64, {});
  BOOST_CHECK_THROW(read_output(folder / "o.h5", {1, 1, 3, 2, 2}, {}, {}), Error);
  BOOST_TEST(read_output(folder / "o.h5", {1, 1, 4, 2, 2}, {}, {}).o.size() == 8u);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
