// SPDX-License-Identifier: Apache-2.0
// Results of a run with made-up scores, for tests of code that uses results.
#pragma once
#include "harness/run/ensembles.hpp"
#include "harness/run/run.hpp"
#include <functional>

namespace recollect {

/// The headline of every case is score(case); a second metric, "mse", is twice that.
inline Results made_up(const RunRequest &request, const std::function<double(const Case &)> &score) {
  const std::vector<Case> plan = make_plan(request);
  Results results = Results::planned(plan, {});
  for (const Case &c : plan) {
    Record r;
    r.case_index = c.index, r.status = "ok", r.shape = c.task->shape(c.task_params);
    r.state_bytes = state_bytes(*c.variant, r.shape, c.variant_params, c.real);
    r.score.metrics = {{c.task->metrics[0].name, score(c)}, {"mse", 2 * score(c)}};
    results.add(r);
  }
  return results;
}

inline RunRequest recall_of(const std::vector<std::string> &variants, int seeds, const Assignments &settings = {}) {
  RunRequest request;
  request.variants = variants, request.tasks = {"recall"}, request.seeds = seeds, request.settings = settings;
  return request;
}

} // namespace recollect
