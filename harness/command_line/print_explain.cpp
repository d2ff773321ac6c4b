// SPDX-License-Identifier: Apache-2.0 Prints a claim in full: statement, exact form, counter-example, rivals with their
// distances, and how to repeat and cite it.
#include "harness/command_line/evidence.hpp"
#include "harness/command_line/print.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/claim_version.hpp"
#include "harness/core/registry.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <cmath>
#include <ostream>

namespace recollect {
namespace {

void paragraph(std::ostream &out, const std::string &name, const std::string &text) {
  if (!text.empty()) out << wrapped(unmarked(text), name, 12) << '\n';
}

std::string compared(const Point &p) {
  const std::string relation = p.relation == Point::equal ? "" : p.relation == Point::at_most ? "<= " : ">= ";
  return brief(p.measured) + (p.standard_error > 0 ? " +- " + brief(p.standard_error) : "") + " against " + relation +
         brief(p.predicted) + (p.params.str().empty() ? "" : " at " + p.params.str());
}

void print_rivals(std::ostream &out, const Finding &f) {
  std::vector<const Point *> rivals;
  for (const Point &p : f.points)
    if (p.role == Role::rival) rivals.push_back(&p);
  std::sort(rivals.begin(), rivals.end(), [](const Point *a, const Point *b) { return distance(*a) < distance(*b); });
  if (rivals.empty()) return;
  out << "rivals, the nearest first (" << rivals.size() << " in all):\n";
  Rows rows{{"  rival", "kind", "apart (tolerances)", "verdict"}};
  for (size_t i = 0; i < std::min<size_t>(rivals.size(), 8); ++i)
    rows.push_back({"  " + unmarked(rivals[i]->label), name_of(rivals[i]->rival), brief(distance(*rivals[i])),
                    name_of(rivals[i]->verdict)});
  print_table(out, rows);
}

} // namespace

void explain(std::ostream &out, const Claim &c, const Finding *finding, const Facts &meta) {
  paragraph(out, "claim", address_of(c));
  paragraph(out, "source", c.source);
  paragraph(out, "statement", c.statement);
  const std::string verdict = finding ? name_of(finding->verdict) : name_of(c.expected);
  const std::string passed = !finding ? "" : finding->passed ? ", as expected" : ", FAILED";
  out << alarmed(wrapped(qualified(finding ? finding->verdict : c.expected, c) + passed, "verdict", 12)) << '\n';
  paragraph(out, c.expected == Verdict::refuted ? "instead" : "exact", c.exact);
  paragraph(out, "why", c.explanation);
  paragraph(out, "read", c.reading.paragraph);
  paragraph(out, "conditions", c.reading.conditions);
  paragraph(out, "then", c.reading.next);
  paragraph(out, "answer", c.reading.answer.empty() ? "" : "The authors could answer: " + c.reading.answer);
  const Point *const example = finding ? counter_example(*finding) : nullptr;
  if (example) paragraph(out, "shown by", compared(*example));
  paragraph(out, "layers", c.variants.empty() ? "none: " + std::string(system_of(c)) : join(c.variants, ", "));
  paragraph(out, "covers", join(c.covers, ", "));
  if (finding) print_rivals(out, *finding);
  paragraph(out, "repeat", repeat_command(c, {c.suite, std::stoull(fact(meta, "seed")), {}}) + " --points");
  out << folded("cite        @misc{recollect_" + c.id + ",\n              author = {{The recollect developers}},\n" +
                "              title = {" + address_of(c) + ": " + c.source + ", " + verdict + "},\n" +
                "              howpublished = {recollect " + fact(meta, "version") + ", commit " +
                fact(meta, "git_commit").substr(0, 12) + ", seed " + fact(meta, "seed") + "},\n" +
                "              year = {" + fact(meta, "start_utc").substr(0, 4) + "}}\n");
}

void explain_claims(std::ostream &out, const Variant &variant) {
  Rows rows{{"  claim", "expected", "source"}};
  for (const Claim &c : all_claims())
    if (std::find(c.variants.begin(), c.variants.end(), variant.name) != c.variants.end())
      rows.push_back({"  " + c.id, name_of(c.expected), c.source});
  if (rows.size() == 1) return;
  out << "claims that run this layer:\n";
  print_table(out, rows);
}

} // namespace recollect
