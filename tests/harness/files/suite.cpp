// SPDX-License-Identifier: Apache-2.0
#include "harness/files/suite.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/run/plan.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <fstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(suite)

std::vector<std::string> ids(const std::vector<Measurement> &all) {
  std::vector<std::string> found;
  for (const Measurement &m : all) found.push_back(m.claim->id);
  return found;
}

BOOST_AUTO_TEST_CASE(a_file_says_what_how_hard_and_where) {
  const Folder folder;
  std::ofstream(folder / "s.toml") << "claims = [\"a_*\"]\neffort = \"full\"\nseed = 7\n"
                                      "[[point]]\nclaim = \"a-b\"\nd = 48\nkernel = \"exp\"\n"
                                      "[[point]]\nclaim = \"c\"\nd = \"8:16:*2\"\nn = \"3,4\"\n";
  const Suite suite = load_suite(folder / "s.toml");
  BOOST_TEST((suite.claims == std::vector<std::string>{"a_*"} && suite.effort == Effort::full && suite.seed == 7u));
  BOOST_TEST_REQUIRE(suite.points.size() == 5u);
  BOOST_TEST((suite.points[0].claim == "a-b" && suite.points[0].parameters.at("d") == "48"));
  BOOST_TEST((suite.points[4].claim == "c" && suite.points[4].parameters == Assignments{{"d", "16"}, {"n", "4"}}));
  BOOST_TEST(load_suite("quick").points.empty());
  BOOST_TEST((load_suite("full").effort == Effort::full));
}

BOOST_AUTO_TEST_CASE(a_type_is_one_that_arrays_are_stored_in) {
  const Folder folder;
  const auto real = [&](const std::string &value) {
    std::ofstream(folder / "s.toml") << "[[run]]\nname = \"e\"\nvariants = \"linear\"\ntasks = \"recall\"\ndtype = "
                                     << value;
    return load_suite(folder / "s.toml").experiments.at(0).request.real;
  };
  BOOST_TEST((real("\"f32\"") == Real::f32 && real("\"f64\"") == Real::f64));
  BOOST_TEST((real("\"bf16\"") == Real::bf16 && real("\"f16\"") == Real::f16));
  for (const char *wrong : {"\"tf32\"", "\"F32\"", "32", "\"\"", "[\"f32\"]"}) BOOST_CHECK_THROW(real(wrong), Error);
}

/// The error for a suite with these lines: "LINE: ...", without the file's name.
std::string refusal(const std::string &lines) {
  const Folder folder;
  const std::string path = folder / "s.toml";
  std::ofstream(path) << lines;
  try {
    load_suite(path);
  } catch (const Error &failure) {
    return std::string(failure.what()).substr(path.size() + 1);
  }
  return "";
}

BOOST_AUTO_TEST_CASE(a_suite_that_is_absent_is_a_name_or_a_file) {
  const auto says = [](const std::string &name, ExitCode code, const std::string &what) {
    BOOST_CHECK_EXCEPTION(load_suite(name), Error,
                          [&](const Error &e) { return e.code == code && std::string(e.what()).rfind(what, 0) == 0; });
  };
  says("quik", exit_usage, "unknown suite 'quik', did you mean 'quick'?");
  says("absent.toml", exit_input, "no such suite file: absent.toml");
  says("absent/suite", exit_input, "no such suite file: absent/suite");
}

BOOST_AUTO_TEST_CASE(misspelt_keys_are_named_with_their_line) {
  BOOST_TEST(refusal("effort = \"full\"\nclaim = \"a\"\n") ==
             "2: claim is not a key of a suite, did you mean 'claims'?");
  BOOST_TEST(refusal("[[run]]\nname = \"e\"\ndtyp = \"f32\"\n") ==
             "3: dtyp is not a key of [[run]], did you mean 'dtype'?");
  BOOST_TEST(refusal("[[train]]\nname = \"e\"\ndtype = \"f32\"\n").find("3: dtype is not a key of [[train]]") == 0u);
  BOOST_TEST(refusal("[[statement]]\nrows = \"r\"\n") == "2: rows is not a key of [[statement]], did you mean 'row'?");
}

BOOST_AUTO_TEST_CASE(values_are_of_their_keys_types) {
  const std::vector<std::pair<std::string, std::string>> suite{
      {"claims = 3", "claims needs a text"},
      {"claims = []", "claims needs at least one value"},
      {"claims = [3]", "claims needs a text"},
      {"effort = \"fast\"", "effort cannot be 'fast'; known: quick, full"},
      {"seed = -1", "seed needs a whole number of at least 0"},
      {"seed = 1.5", "seed needs a whole number of at least 0"},
      {"seed = \"1\"", "seed needs a whole number of at least 0"},
      {"run = 1", "run needs tables: [[run]]"},
      {"[run]\nname = \"e\"", "run needs tables: [[run]]"},
      {"[[point]]\nd = 3", "every [[point]] names its claim"},
      {"[[run]]\nseeds = 3", "a name is missing"}};
  for (const auto &[lines, message] : suite) BOOST_TEST(refusal(lines + "\n") == "1: " + message);
  const std::vector<std::pair<std::string, std::string>> runs{
      {"title = 3", "title needs a text"},
      {"variants = []", "variants needs at least one value"},
      {"tasks = 1", "tasks needs a text"},
      {"form = \"\"", "form needs a text that is not empty"},
      {"dtype = \"f65\"", "dtype cannot be 'f65', did you mean 'f64'?"},
      {"dtype = 32", "dtype needs a text"},
      {"chunk = \"8\"", "chunk needs a whole number of at least 1"},
      {"chunk = 0", "chunk needs a whole number of at least 1"},
      {"seeds = 2.5", "seeds needs a whole number of at least 1"},
      {"tune = 1", "tune needs true or false"},
      {"set = 1", "set needs a table { name = value }"},
      {"set = { d = true }", "set.d needs a number or a text"},
      {"set = { d = [] }", "set.d needs at least one value"},
      {"set = { d = inf }", "set.d needs a finite number"}};
  for (const auto &[line, message] : runs)
    BOOST_TEST(refusal("[[run]]\nname = \"e\"\n" + line + "\n") == "3: " + message);
  BOOST_TEST(refusal("[[run]]\nname = \"e\"\n[[run]]\nname = \"e\"\n") == "3: another [[run]] is named 'e' as well");
  BOOST_TEST(refusal("[[run]]\nname = \"e\"\n[[train]]\nname = \"e\"\n") == "");
}

BOOST_AUTO_TEST_CASE(statements_are_of_trainings_that_the_suite_has) {
  const std::string suite = "[[train]]\nname = \"mqar\"\n[[statement]]\nrow = \"r\"\nat_most = 1\n";
  BOOST_TEST(refusal(suite + "of = {}\nexperiment = \"mqar\"\n") == "");
  BOOST_TEST(refusal(suite + "of = {}\nexperiment = \"mqr\"\n") ==
             "3: no [[train]] is named 'mqr', did you mean 'mqar'?");
  BOOST_TEST(refusal(suite + "of = { experiment = \"mqr\" }\nexperiment = \"mqar\"\n") ==
             "3: no [[train]] is named 'mqr', did you mean 'mqar'?");
}

BOOST_AUTO_TEST_CASE(statements_are_comparisons_or_numbers) {
  const Folder folder;
  const auto load = [&](const std::string &keys) {
    std::ofstream(folder / "s.toml") << "[[train]]\nname = \"e\"\n[[statement]]\nrow = \"r\"\nexperiment = \"e\"\n"
                                     << keys;
    return load_suite(folder / "s.toml").statements;
  };
  const auto compared =
      load("above = { mixer = \"vla\" }\nbelow = { mixer = [\"a\", \"b\"] }\nwhere = { lr = [3e-4, 1] }\n");
  BOOST_TEST_REQUIRE(compared.size() == 4u);
  BOOST_TEST((compared[3].compares && compared[3].first.at("mixer") == "vla" && compared[3].second.at("mixer") == "b"));
  BOOST_TEST((compared[0].where.at("lr") == number(3e-4) && compared[3].where.at("lr") == "1"));
  const auto between = load("paper = \"T 1\"\nof = {}\nbetween = [0.5, 1]\nstep = 200\nmeasure = \"loss\"\n");
  BOOST_TEST((!between[0].compares && between[0].least == 0.5 && between[0].most == 1 && between[0].step == 200));
  BOOST_TEST((between[0].measure == "loss" && between[0].paper == "T 1" && between[0].row == "r"));
  BOOST_TEST(
      (load("of = {}\nat_least = 0.5\n")[0].most == HUGE_VAL && load("of = {}\nat_most = 1\n")[0].least == -HUGE_VAL));
  std::ofstream(folder / "s.toml") << "[[train]]\nname = \"e\"\n[[train]]\nname = \"f\"\n[[statement]]\nrow = "
                                      "\"r\"\nexperiment = [\"e\", \"f\"]\nof = { lr = [1, 2] }\nat_most = 1\n";
  const auto several = load_suite(folder / "s.toml").statements;
  BOOST_TEST_REQUIRE(several.size() == 4u);
  BOOST_TEST((several[1].experiment == "e" && several[2].experiment == "f" && several[2].first.at("lr") == "1"));
  for (const char *wrong : {"", "of = {}\n", "above = {}\n", "above = {}\nbelow = {}\nat_least = 1\n", "at_least = 1\n",
                            "of = 1\nat_least = 1\n", "of = {}\nbetween = 1\n", "of = {}\nat_least = \"x\"\n",
                            "of = {}\nat_least = 1\nmeasure = \"speed\"\n", "of = {}\nat_least = 1\nnote = \"x\"\n",
                            "of = { lr = {} }\nat_least = 1\n", "of = {}\nat_least = 1\nstep = 1e300\n",
                            "of = {}\nat_least = 1\nstep = -1\n", "of = {}\nat_least = 1\nstep = 2.5\n",
                            "of = {}\nabove = {}\nat_least = 1\n", "of = {}\nbetween = [1, 0.5]\n",
                            "of = {}\nat_least = 2\nat_most = 1\n", "of = {}\nat_least = nan\n"})
    BOOST_CHECK_THROW(load(wrong), Error);
}

BOOST_AUTO_TEST_CASE(what_breaks_the_parsers_own_assertions_is_refused) {
  const Folder folder;
  for (const std::string &bad :
       {std::string("[[\0point]]\n", 11), std::string("[~[point]]\n"), std::string("seed = \u00c7\n")}) {
    std::ofstream(folder / "s.toml") << bad;
    BOOST_CHECK_THROW(load_suite(folder / "s.toml"), Error);
  }
}

BOOST_AUTO_TEST_CASE(the_quick_suite_leaves_out_what_only_the_full_one_carries) {
  Claim quick, full;
  quick.id = "a_b", full.id = "c", full.suite = Effort::full;
  quick.params = {integer_param("d", 4, 1, 100, "width")};
  VerifyRequest request;
  BOOST_TEST((ids(measurements(request, {&quick, &full})) == std::vector<std::string>{"a_b"}));
  request.claims = {"c"}; // named
  BOOST_TEST((ids(measurements(request, {&full})) == std::vector<std::string>{"c"}));
  request.claims.clear(), request.suite.effort = Effort::full, request.seed = 9;
  const auto both = measurements(request, {&quick, &full});
  BOOST_TEST((both.size() == 2u && both[0].protocol.full() && both[1].protocol.seed == 9u));
  BOOST_TEST(!both[0].protocol.point.has_value());
}

BOOST_AUTO_TEST_CASE(claims_that_run_more_are_thought_to_take_longer) {
  Claim algebra, layer, task, layers, full;
  layer.variants = task.variants = {"linear"}, layers.variants = {"linear", "rls"};
  task.tasks = layers.tasks = {"mqar"}, full.suite = Effort::full;
  const std::vector<double> work{work_of(algebra), work_of(layer), work_of(task), work_of(layers), work_of(full)};
  BOOST_TEST((longest_first(work) == std::vector<size_t>{4, 3, 2, 1, 0}));
}

BOOST_AUTO_TEST_CASE(points_are_resolved_against_the_claim) {
  Claim claim;
  claim.id = "a_b", claim.params = {integer_param("d", 4, 1, 100, "width"), integer_param("n", 3, 1, 9, "pairs")};
  VerifyRequest request;
  request.points = {{{"d", "8"}}, {{"n", "5"}}};
  request.suite.points = {{"a-b", {{"d", "16"}}}, {"other", {{"d", "32"}}}};
  BOOST_CHECK_THROW(measurements(request, {&claim}), Error); // a point that would be ignored silently
  request.claims = {"a_b"};                                  // named claims replace the suite's list
  const auto all = measurements(request, {&claim});
  BOOST_TEST_REQUIRE(all.size() == 3u);
  BOOST_TEST((all[0].protocol.point->str() == "d=8,n=3" && all[1].protocol.point->str() == "d=4,n=5"));
  BOOST_TEST(all[2].protocol.point->str() == "d=16,n=3");
  request.points = {{{"m", "1"}}};
  BOOST_CHECK_THROW(measurements(request, {&claim}), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
