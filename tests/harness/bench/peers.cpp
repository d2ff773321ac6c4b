// SPDX-License-Identifier: Apache-2.0
// How the program talks to its peers. tests/files/test_peers.py compares the peers' outputs with ours.
#include "harness/bench/peers.hpp"
#include "harness/core/error.hpp"
#include "harness/system/files.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <cstdlib>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(peers)

constexpr const char *none_found = "--peers needs a python3 with PyTorch and NumPy, but none was found";

std::vector<BenchCase> cases(const std::string &variant, const std::string &form, const Assignments &set = {}) {
  BenchRequest request;
  request.variants = {variant}, request.forms = {form}, request.shapes = {{2, 1, 64, 8, 6}}, request.settings = set;
  return bench_plan(request);
}

std::vector<BenchResult> timed_with(Peers &peers, const BenchCase &c) {
  BenchSettings settings;
  settings.rule.least_seconds = 0, settings.rule.most = 5, settings.peers = &peers;
  return bench(c, settings);
}

BOOST_AUTO_TEST_CASE(peers_take_turns_with_ours_or_their_absence_is_said, *slow) {
  try {
    Peers peers(60);
    for (const char *variant : {"linear", "gated_delta_net"}) {
      const auto plan = cases(variant, "chunked");
      const std::vector<BenchResult> rows = timed_with(peers, plan[0]);
      BOOST_TEST_REQUIRE(rows.size() >= 2u);
      BOOST_TEST((rows[0].source == "recollect" && rows[0].status == "ok"), rows[0].reason);
      for (size_t i = 1; i < rows.size(); ++i) {
        BOOST_TEST((rows[i].status == "ok" || rows[i].status == "skipped"), rows[i].reason);
        if (rows[i].status == "skipped") continue; // its reason says so
        BOOST_TEST((rows[i].seconds.size() >= 5u && rows[i].timing.median > 0 && rows[i].storage == "f32"));
        BOOST_TEST((rows[i].error > 0 && rows[i].error < 1e-2)); // its outputs agree with the layer's
        BOOST_TEST(!rows[i].method.empty());
      }
    }
    const auto nobodys = cases("dijiang", "chunked");
    BOOST_TEST(timed_with(peers, nobodys[0]).size() == 1u);
  } catch (const Error &none) {
    BOOST_TEST(std::string(none.what()) == none_found);
  }
}

BOOST_AUTO_TEST_CASE(no_peer_answers_for_parameters_that_it_does_not_take, *slow) {
  const auto answered = [&](Peers &peers, const std::string &variant, const Assignments &settings) {
    const auto plan = cases(variant, "recurrent", settings);
    return timed_with(peers, plan[0]).size() - 1;
  };
  try {
    Peers peers(60);
    BOOST_TEST((answered(peers, "delta_former", {}) == 1u && answered(peers, "rls", {}) == 1u));
    BOOST_TEST(answered(peers, "rls", {{"ridge", "2"}}) == 0u);
    BOOST_TEST(answered(peers, "delta_former", {{"kappa1", "softmax"}, {"tau", "0.5"}}) == 1u);
    BOOST_TEST(answered(peers, "delta_former", {{"kappa1", "exp"}}) == 0u);
  } catch (const Error &none) {
    BOOST_TEST(std::string(none.what()) == none_found);
  }
}

/// Installs itself first on the PATH as python3 while it lives.
struct StandIn {
  Folder folder;
  std::string path = std::getenv("PATH");
  explicit StandIn(const std::string &script) {
    write_file(folder / "python3", "#!/bin/sh\n" + script);
    std::filesystem::permissions(folder / "python3", std::filesystem::perms::owner_all);
    setenv("PATH", (folder / "" + ":" + path).c_str(), 1);
  }
  ~StandIn() { setenv("PATH", path.c_str(), 1); }
};

/// Answers for four peers: one is timed, one refuses, one fails while it is prepared, one computes something else.
std::string four_peers(const std::string &folder) {
  std::string script = R"(test "$1" = -c && exit
while read -r asked; do
  peer=$(echo "$asked" | sed 's/.*"peer":\([0-9]*\).*/\1/')
  case $asked in
  *'"ask":"case"'*) echo case >>FOLDER/asked
    echo '{"peers":[{"source":"good","storage":"f32"},{"source":"refuses","storage":"bf16"},' \
         '{"source":"fails","storage":"f32"},{"source":"other","storage":"f32"}]}' ;;
  *'"ask":"ready"'*) echo "ready $peer" >>FOLDER/asked
    case $peer in
    1) echo '{"status":"skipped","reason":"no float32"}' ;;
    2) echo '{"status":"failed","reason":"CUDA error"}' ;;
    *) echo '{"status":"ok","reason":"its note"}' ;;
    esac ;;
  *'"ask":"take"'*) count=$(echo "$asked" | sed 's/.*"count":\([0-9]*\).*/\1/')
    all='[0.5,1]'; for i in $(seq 2 "$count"); do all="$all,[0.5,1]"; done
    echo "{\"status\":\"ok\",\"reason\":\"\",\"samples\":[$all]}" ;;
  *'"ask":"finish"'*)
    if test "$peer" = 0; then error=0.001; else error=0.7; fi
    echo "{\"status\":\"ok\",\"reason\":\"\",\"method\":\"events\",\"error\":$error}" ;;
  esac
done
)";
  for (size_t at; (at = script.find("FOLDER")) != std::string::npos;) script.replace(at, 6, folder);
  return script;
}

BOOST_AUTO_TEST_CASE(a_peer_that_refuses_fails_or_computes_something_else_is_a_row_with_its_reason, *slow) {
  const Folder where;
  const StandIn python(four_peers(where / ""));
  Peers peers(5);
  const auto plan = cases("linear", "chunked");
  BenchSettings settings;
  settings.rule.least_seconds = 0, settings.rule.most_seconds = 2, settings.peers = &peers;
  const std::vector<BenchResult> rows = bench(plan[0], settings);
  BOOST_TEST_REQUIRE(rows.size() == 5u);
  BOOST_TEST((rows[0].status == "ok" && rows[1].status == "ok"), rows[0].reason << rows[1].reason);
  BOOST_TEST((rows[1].timing.median == 0.5 && rows[1].reason == "its note" && rows[1].method == "events"));
  BOOST_TEST((rows[1].error == 0.001 && rows[1].storage == "f32" && rows[2].storage == "bf16"));
  BOOST_TEST((rows[2].status == "skipped" && rows[2].reason == "no float32"));
  BOOST_TEST((rows[3].status == "failed" && rows[3].reason == "CUDA error" && rows[3].seconds.empty()));
  BOOST_TEST((rows[4].status == "wrong" && rows[4].seconds.empty()));
  BOOST_TEST(rows[4].reason.find("it computes something else") != std::string::npos);
  // After the failure the process is restarted, and the other peers are prepared again.
  BOOST_TEST(read_file(where / "asked") == "case\nready 0\nready 1\nready 2\ncase\nready 0\nready 3\n");
}

BOOST_AUTO_TEST_CASE(peers_get_to_know_packed_texts_and_grouped_heads) {
  const Folder where;
  const StandIn python("test \"$1\" = -c && exit\nread -r asked\necho \"$asked\" >" + (where / "asked") +
                       "\necho '{\"peers\":[]}'\n");
  BenchRequest request;
  request.variants = {"linear"}, request.forms = {"chunked"}, request.shapes = {{{1, 4, 64, 8, 6}, "40,0,24", 2}};
  const auto plan = bench_plan(request);
  Peers peers(5);
  BOOST_TEST(timed_with(peers, plan[0]).size() == 1u);
  const std::string asked = read_file(where / "asked");
  BOOST_TEST(asked.find("\"starts\":[0,40,40,64]") != std::string::npos, asked);
  BOOST_TEST(asked.find("\"qk_heads\":2") != std::string::npos, asked);
}

BOOST_AUTO_TEST_CASE(a_process_that_ends_leaves_ours_with_its_time) {
  const StandIn python("test \"$1\" = -c && exit\nread -r asked\n"
                       "echo '{\"peers\":[{\"source\":\"fla\",\"storage\":\"f32\"}]}'\n");
  Peers peers(5);
  const auto plan = cases("linear", "chunked");
  BenchSettings settings;
  settings.rule.least_seconds = 0, settings.rule.most = 5, settings.peers = &peers;
  const std::vector<BenchResult> rows = bench(plan[0], settings);
  BOOST_TEST_REQUIRE(rows.size() == 2u);
  BOOST_TEST((rows[0].status == "ok" && rows[1].status == "failed"));
  BOOST_TEST(rows[1].reason == "the process of bench/peers.py ended");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
