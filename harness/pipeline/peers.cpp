// SPDX-License-Identifier: Apache-2.0
#include "harness/pipeline/peers.hpp"
#include "build_config.hpp"
#include "harness/core/error.hpp"
#include "harness/core/files.hpp"
#include "harness/core/subprocess.hpp"
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

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

std::string question(const BenchCase &c, const TemporaryFolder &folder, double min_seconds) {
  const Shape &n = c.shape;
  return json{{"folder", folder.path},      {"variant", c.variant->name},
              {"form", c.form->name},       {"shape", {n.B, n.H, n.T, n.Dk, n.Dv}},
              {"real", name_of(c.real)},    {"chunk", c.chunk},
              {"min_seconds", min_seconds}, {"given", write_tensors(c, folder.path)},
              {"backward", c.backward},     {"parameters", set_parameters(c)}}
      .dump();
}

} // namespace

void bench_peers(const std::vector<BenchCase> &plan, double min_seconds,
                 const std::function<void(const BenchCase &)> &begin, const std::function<void(BenchResult)> &keep) {
  const std::string python = python_with_torch(), script = RECOLLECT_SOURCE_DIR "/ci/peers.py";
  std::unique_ptr<Dialogue> peers; // one for many cases: PyTorch takes seconds to start
  for (const BenchCase &c : plan) {
    begin(c);
    const TemporaryFolder folder;
    if (!peers) peers = std::make_unique<Dialogue>(std::vector<std::string>{python, script});
    std::string answer;
    if (!peers->ask(question(c, folder, min_seconds), answer))
      input_error(script + " did not run to its end for " + name_of(c));
    for (const json &peer : json::parse(answer)) {
      BenchResult r;
      r.bench_case = &c, r.source = peer.at("source"), r.status = peer.at("status"), r.reason = peer.at("reason");
      r.seconds = peer.at("seconds").get<std::vector<double>>();
      if (!r.seconds.empty()) r.timing = summarise(r.seconds);
      if (r.status != "ok") peers.reset(); // what failed on a GPU may have left nothing usable behind it
      keep(std::move(r));
    }
  }
}

} // namespace recollect
