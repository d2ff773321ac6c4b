// SPDX-License-Identifier: Apache-2.0
#include "harness/pipeline/peers.hpp"
#include "build_config.hpp"
#include "harness/core/error.hpp"
#include "harness/core/files.hpp"
#include "harness/core/subprocess.hpp"
#include "harness/pipeline/plan.hpp"
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

namespace recollect {
namespace {

using json = nlohmann::json;
namespace fs = std::filesystem;

struct TemporaryFolder {
  std::string path;
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "recollect-peers-XXXXXX").string();
    if (!mkdtemp(pattern.data())) input_error("cannot make a folder for the peers' tensors in " + pattern);
    path = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

template <class Real> std::string as_bytes(const std::vector<double> &values) {
  const std::vector<Real> cast(values.begin(), values.end());
  return std::string(reinterpret_cast<const char *>(cast.data()), cast.size() * sizeof(Real));
}

/// q.bin, k.bin ... of the case: raw, row-major, in its real type. Returns the names of those that it has.
std::vector<std::string> write_tensors(const BenchCase &c, const std::string &folder) {
  const Sequence s = inputs_of(c);
  std::vector<std::string> given;
  const std::pair<const char *, const std::vector<double> *> tensors[] = {
      {"q", &s.q},         {"k", &s.k},           {"v", &s.v}, {"beta", &s.beta},
      {"alpha", &s.alpha}, {"lambda", &s.lambda}, {"w", &s.w}};
  for (const auto &[name, data] : tensors) {
    if (data->empty()) continue;
    given.push_back(name);
    write_file(folder + "/" + name + ".bin", c.real == Real::f32 ? as_bytes<float>(*data) : as_bytes<double>(*data));
  }
  return given;
}

std::string python_with_torch() {
  const std::string has_both =
      "from importlib.util import find_spec as f; raise SystemExit(not (f('torch') and f('numpy')))";
  for (const std::string candidate : {"python3", RECOLLECT_PYTHON, "/usr/bin/python3"})
    if (!candidate.empty() && run_quietly({candidate, "-c", has_both}) == 0) return candidate;
  input_error("--peers needs a python3 with PyTorch and NumPy, and none was found");
}

/// {"kappa1": "softmax", "tau": 0.5}: those that differ from the layer's defaults.
json set_parameters(const BenchCase &c) {
  json set = json::object();
  const Params defaults = resolve(c.variant->params, {}, c.variant->name);
  for (const auto &[name, value] : c.params)
    if (!value.text.empty() && value.text != defaults.text(name))
      set[name] = value.text;
    else if (value.number == value.number && value.number != defaults.real(name)) // NaN is left automatic
      set[name] = value.number;
  return set;
}

/// Once for the peers that answer at once and once for those that are `tuned` first.
std::string question(const BenchCase &c, const TemporaryFolder &folder, const PeerTimes &times, bool tuned) {
  const Shape &n = c.shape;
  return json{{"folder", folder.path},
              {"variant", c.variant->name},
              {"form", c.form->name},
              {"shape", {n.B, n.H, n.T, n.Dk, n.Dv}},
              {"real", name_of(c.real)},
              {"chunk", c.chunk},
              {"min_seconds", times.min_seconds},
              {"limit", times.first_call},
              {"given", write_tensors(c, folder.path)},
              {"backward", c.backward},
              {"parameters", set_parameters(c)},
              {"tuned", tuned}}
      .dump();
}

/// The definitions' peers, loops in Python, come last, and before them the smallest cases first.
std::vector<const BenchCase *> quickest_first(const std::vector<BenchCase> &plan) {
  std::vector<const BenchCase *> order;
  for (const BenchCase &c : plan) order.push_back(&c);
  const auto slowness = [](const BenchCase *c) {
    return std::make_pair(c->form->name == "recurrent", work_of(*c->variant, c->shape, c->params));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const BenchCase *a, const BenchCase *b) { return slowness(a) < slowness(b); });
  return order;
}

} // namespace

void bench_peers(const std::vector<BenchCase> &plan, const PeerTimes &times,
                 const std::function<void(const BenchCase &)> &begin, const std::function<void(BenchResult)> &keep) {
  const std::string python = python_with_torch(), script = RECOLLECT_SOURCE_DIR "/ci/peers.py";
  std::unique_ptr<Dialogue> peers; // one for many cases: PyTorch takes seconds to start
  std::vector<const BenchCase *> cases = quickest_first(plan), with_more;
  for (const bool tuned : {false, true}) {
    for (const BenchCase *c : cases) {
      begin(*c);
      const TemporaryFolder folder;
      if (!peers) peers = std::make_unique<Dialogue>(std::vector<std::string>{python, script});
      std::string said;
      if (!peers->ask(question(*c, folder, times, tuned), said))
        input_error(script + " did not run to its end for " + name_of(*c));
      const json answer = json::parse(said);
      if (answer.at("more")) with_more.push_back(c);
      for (const json &peer : answer.at("results")) {
        BenchResult r;
        r.bench_case = c, r.source = peer.at("source"), r.status = peer.at("status"), r.reason = peer.at("reason");
        r.seconds = peer.at("seconds").get<std::vector<double>>();
        if (!r.seconds.empty()) r.timing = summarise(r.seconds);
        if (r.status == "failed") peers.reset(); // what failed on a GPU may have left nothing usable behind it
        keep(std::move(r));
      }
    }
    cases = std::exchange(with_more, {});
  }
}

} // namespace recollect
