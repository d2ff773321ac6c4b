// SPDX-License-Identifier: Apache-2.0
#include "build_config.hpp"
#include "harness/core/error.hpp"
#include "harness/core/lookup.hpp"
#include "tests/testing.hpp"
#include <filesystem>
#include <map>
#include <set>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(registry)

std::set<std::string> stems(const std::string &folder) {
  std::set<std::string> found;
  for (const auto &entry : std::filesystem::directory_iterator(RECOLLECT_SOURCE_DIR "/" + folder))
    if (entry.path().extension() == ".cpp") found.insert(entry.path().stem().string());
  return found;
}

BOOST_AUTO_TEST_CASE(lists_are_the_folders) {
  std::set<std::string> variants, tasks;
  for (const Variant &v : all_variants()) variants.insert(v.name);
  for (const Task &t : all_tasks()) tasks.insert(t.name);
  BOOST_TEST(variants == stems("variants"), boost::test_tools::per_element());
  BOOST_TEST(tasks == stems("tasks"), boost::test_tools::per_element());
}

/// Every source below `folder`, relative to the root. A main file needs no test.
std::vector<std::string> sources(const std::string &folder) {
  std::vector<std::string> found;
  const std::filesystem::path root = RECOLLECT_SOURCE_DIR;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(root / folder))
    if (entry.path().extension() == ".cpp" && entry.path().stem() != "main")
      found.push_back(std::filesystem::relative(entry.path(), root).string());
  return found;
}

/// Whether the source defines a line of a table of kernels; tests/ci/test_kernel_tables.py checks these.
bool is_line_of_a_table(const std::string &source) {
  const std::string stem = std::filesystem::path(source).stem().string();
  const auto ends = [&](const std::string &end) {
    return stem.size() > end.size() && stem.compare(stem.size() - end.size(), end.size(), end) == 0;
  };
  if (source.rfind("variants/kernels/", 0) == 0 && (ends("_float") || ends("_double"))) return true;
  if (source.rfind("variants/kernels/attention/", 0) == 0) return stem.find("_stored_") != std::string::npos;
  return source.rfind("variants/kernels/chunked/", 0) == 0 &&
         (ends("_bf16") || ends("_f16") || ends("_tf32") || ends("_exact") || stem == "steps");
}

BOOST_AUTO_TEST_CASE(every_source_has_its_test_at_the_same_place) {
  for (const char *folder : {"harness", "variants", "tasks"})
    for (const std::string &source : sources(folder))
      if (source.rfind("harness/check/mistakes/", 0) != 0 && // tests/harness/check/mistakes.cpp tests the catalogue
          !is_line_of_a_table(source))
        BOOST_TEST(std::filesystem::exists(RECOLLECT_SOURCE_DIR "/tests/" + source),
                   "tests/" << source << " is missing");
}

/// tests/theory/verdicts.cpp tests every claim; a source has a separate test file if there is a computation by hand.
BOOST_AUTO_TEST_CASE(every_source_of_theory_defines_a_claim_and_its_test_is_at_the_same_place) {
  std::set<std::string> with_claims;
  for (const Claim &claim : all_claims()) with_claims.insert(claim.file);
  for (const std::string &source : sources("theory"))
    BOOST_TEST(with_claims.count(source) == (source.rfind("theory/support/", 0) == 0 ? 0u : 1u), source);
  const std::filesystem::path root = RECOLLECT_SOURCE_DIR;
  for (const std::string &test : sources("tests/theory")) {
    std::filesystem::path source = std::filesystem::relative(test, "tests");
    if (source.parent_path() == "theory") continue; // files about all claims
    const bool is_there = std::filesystem::exists(root / source);
    BOOST_TEST((is_there || std::filesystem::exists(root / source.replace_extension(".hpp"))),
               test << " tests nothing");
  }
}

BOOST_AUTO_TEST_CASE(an_alias_is_another_name_of_the_same_layer) {
  BOOST_TEST(&find_variant("gla") == &find_variant("gated_linear"));
  BOOST_TEST((select_variants({"gl[a]"}) == select_variants({"gated_linear"})));
  BOOST_TEST(select_variants({"gla", "gated-linear"}).size() == 1u);
  std::map<std::string, const Variant *> owners; // one layer may have two spellings of its name
  for (const Variant &v : all_variants())
    for (const std::string &name : lookup::names(v))
      BOOST_TEST(owners.emplace(lookup::folded(name), &v).first->second == &v, name);
}

BOOST_AUTO_TEST_CASE(separators_and_case_of_a_name_do_not_matter) {
  for (const char *name : {"delta_net", "delta-net", "DeltaNet", "Delta Net", "DELTANET"})
    BOOST_TEST(&find_variant(name) == &find_variant("delta_net"), name);
  BOOST_TEST(&find_task("LongMQAR") == &find_task("long_mqar"));
  BOOST_TEST(&find_claim("SnrLinear") == &find_claim("snr_linear"));
  BOOST_TEST(&find_form(find_variant("linear"), "Chunked") == &find_form(find_variant("linear"), "chunked"));
  BOOST_TEST((select_variants({"Delta-N*"}) == select_variants({"delta_n*"}))); // globs respect separators
  for (const Variant *v : select_variants({"delta_*"})) BOOST_TEST(v->name.rfind("delta_", 0) == 0u, v->name);
  std::set<std::string> names;
  for (const Claim &c : all_claims()) BOOST_TEST(names.insert(lookup::folded(c.id)).second, c.id);
  for (const Variant &v : all_variants()) {
    std::set<std::string> params;
    for (const ParamSpec &spec : v.params) BOOST_TEST(params.insert(lookup::folded(spec.name)).second, v.name);
  }
}

BOOST_AUTO_TEST_CASE(layers_go_by_the_names_that_people_type) {
  const std::pair<const char *, const char *> typed[] = {
      {"gdn", "gated_delta_net"},
      {"Gated-DeltaNet", "gated_delta_net"},
      {"gated_delta_rule", "gated_delta_net"},
      {"DeltaNet", "delta_net"},
      {"delta-net", "delta_net"},
      {"delta_rule", "delta_net"},
      {"ssd", "mamba2"},
      {"Mamba-2", "mamba2"},
      {"simple_gla", "gated_linear"},
      {"GLA", "gated_linear"},
      {"attention", "softmax"},
      {"sdpa", "softmax"},
      {"linear_attn", "linear"},
      {"retention", "retnet"},
      {"ABC", "abc"},
      {"PaTH", "path_attention"},
      {"RWKV-6", "rwkv6"},
      {"rwkv-7", "rwkv7"},
      {"Mamba-3", "mamba3"},
      {"FoX", "gated_softmax"},
      {"MesaNet", "mesa"},
      {"DeltaProduct", "delta_product"},
      {"DeltaFormer", "delta_former"},
      {"KDA", "kda"},
      {"GSA", "gated_slot_attention"},
      {"log-linear attention", "log_linear_mamba2"},
      {"power retention", "power_attention"},
      {"Kimi-Delta-Attention", "kda"},
      {"ATLAS", "atlas"},
      {"Omega rule", "atlas"},
      {"native sparse attention", "nsa"},
  };
  for (const auto &[word, layer] : typed) {
    BOOST_TEST(find_variant(word).name == layer, word);
    BOOST_TEST((select_variants({word}) == select_variants({layer})), word);
  }
}

BOOST_AUTO_TEST_CASE(a_layer_with_a_setting_is_no_layer_and_the_error_names_the_setting) {
  for (const auto &[word, setting] : {std::pair{"mqa", "softmax with --kv-heads 1"},
                                      {"MQA", "softmax with --kv-heads 1"},
                                      {"gqa", "softmax with --kv-heads N"}}) {
    const std::string told = setting;
    const auto names_it = [&](const Error &e) {
      return e.code == exit_usage && std::string(e.what()).find(told) != std::string::npos;
    };
    BOOST_CHECK_EXCEPTION(find_variant(word), Error, names_it);
    BOOST_CHECK_EXCEPTION(select_variants({word}), Error, names_it);
    BOOST_CHECK_EXCEPTION(find_task(word), Error, [&](const Error &e) { return !names_it(e); });
  }
}

BOOST_AUTO_TEST_CASE(fast_is_the_definition_where_that_takes_less_work) {
  Variant v;
  v.name = "two forms", v.forms = {{"recurrent", nullptr, nullptr}, {"chunked", nullptr, nullptr}};
  v.cost = 6 * cost::Dv * cost::Dk;
  v.forms[1].work = 2 * cost::Dv * cost::Dk + 80 * cost::Dk; // slower than the definition below Dv = 20
  const Shape narrow{1, 1, 64, 100, 19}, wide{1, 1, 64, 100, 20};
  BOOST_TEST(find_form(v, "fast", narrow, {}).name == "recurrent");
  BOOST_TEST(find_form(v, "fast", wide, {}).name == "chunked");
  BOOST_TEST(find_form(v, "chunked", narrow, {}).name == "chunked"); // named explicitly
  BOOST_TEST(find_form(v, "fast").name == "chunked");                // without a shape: for the backward pass
  v.forms[1].work = 0;
  BOOST_TEST(find_form(v, "fast", narrow, {}).name == "chunked");
  BOOST_CHECK_THROW(find_form(v, "sideways", narrow, {}), Error);
}

BOOST_AUTO_TEST_CASE(an_approximation_is_run_by_its_name_alone) {
  Variant v;
  v.name = "two forms", v.forms = {{"recurrent", nullptr, nullptr}, {"minibatch", nullptr, nullptr}};
  v.forms[1].exact = false;
  BOOST_TEST(find_form(v, "fast").name == "recurrent");
  BOOST_TEST(find_form(v, "minibatch").name == "minibatch");
  v.forms.push_back({"chunked", nullptr, nullptr});
  BOOST_TEST(find_form(v, "fast").name == "chunked");
  for (const Variant &each : all_variants()) BOOST_TEST(find_form(each, "fast").exact, each.name);
}

BOOST_AUTO_TEST_CASE(heads_of_64_are_never_too_narrow) {
  for (const Variant &v : all_variants()) {
    if (v.forms.size() == 1 || !v.forms[1].exact) continue;
    const Params params = variant_params(v);
    BOOST_TEST((&find_form(v, "fast", {1, 1, 64, 64, 64}, params) == &v.forms[1]), v.name);
  }
}

BOOST_AUTO_TEST_CASE(descriptors_are_complete) {
  for (const Variant &v : all_variants()) {
    BOOST_TEST_INFO(v.name);
    BOOST_TEST((!v.family.empty() && !v.update.empty() && !v.source.empty()));
    BOOST_TEST_REQUIRE(!v.forms.empty());
    BOOST_TEST(v.forms[0].name == "recurrent");
    for (const Form &f : v.forms) BOOST_TEST((f.f32 && f.f64));
  }
  for (const Task &t : all_tasks()) {
    BOOST_TEST_INFO(t.name);
    BOOST_TEST((!t.summary.empty() && !t.source.empty() && !t.metrics.empty() && t.shape && t.generate && t.score));
  }
  std::set<std::string> ids;
  for (const Claim &c : all_claims()) {
    BOOST_TEST_INFO(c.id);
    BOOST_TEST((!c.source.empty() && !c.statement.empty() && !c.exact.empty()));
    BOOST_TEST(ids.insert(c.id).second); // unique
    BOOST_TEST((c.reason == Reason::none) == bool(c.measure));
    BOOST_TEST((c.expected == Verdict::refuted) == (c.scope != Scope::none));
    BOOST_TEST((c.expected == Verdict::holds_under) == !c.condition.empty());
    BOOST_TEST((c.expected == Verdict::not_tested) == (c.reason != Reason::none));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
