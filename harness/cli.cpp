#include "cli.hpp"
#include "backend.hpp"
#include "registry.hpp"
#include "verdict.hpp"
#include <cstdio>
namespace recollect {
int run_command_line(int argc, char **argv) {
  const Backend backend;
  for (auto *c : select_claims({argc > 1 ? argv[1] : "all"})) {
    auto f = examine(*c, {});
    std::printf("%s %s %s %d %zu\n", c->id.c_str(), name_of(f.verdict), name_of(f.control_verdict), f.passed, f.points.size());
  }
  return 0;
}
}
