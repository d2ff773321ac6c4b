// SPDX-License-Identifier: Apache-2.0
#include "theory/support/claim_builder.hpp"

namespace recollect::theory {
DEFINE_SPECIAL_MEMBERS(Change);
Change::Change(const char *name_of, const Params::Value &value_of) : name(name_of), value(value_of) {}

Params changed(Params p, const Changes &changes) {
  for (const auto &[name, value] : changes) value.text.empty() ? p.set(name, value.number) : p.set(name, value.text);
  return p;
}

Points::Points(Params at) : at_(std::move(at)) {}
Points &Points::at(Params place) { return at_ = std::move(place), *this; }
void Points::append(const std::vector<Point> &more) { all_.insert(all_.end(), more.begin(), more.end()); }
size_t Points::add(Cast cast, std::string label, const Point &compared) {
  all_.push_back(cast(compared, at_, std::move(label)));
  return all_.size() - 1;
}
void Points::add_rival(size_t index, std::string name, double law) {
  all_.push_back(rival_law(all_[index], std::move(name), law));
}
void Points::add_rival(size_t index, std::string name, const Point &compared) {
  all_.push_back(rival_law(compared, all_[index].params, std::move(name)));
}

ClaimBuilder::ClaimBuilder(const std::string &row, const std::string &source) {
  claim_.id = canonical(row), claim_.covers = {row}, claim_.source = source;
}
ClaimBuilder::~ClaimBuilder() = default;
void ClaimBuilder::says(const std::string &statement) { claim_.statement = statement; }
void ClaimBuilder::exactly(const std::string &form) { claim_.exact = form; }
void ClaimBuilder::because(const std::string &explanation) { claim_.explanation = explanation; }

void ClaimBuilder::is_refuted(Reading reading) {
  claim_.expected = Verdict::refuted, claim_.scope = scope_of(reading), claim_.reading = std::move(reading);
}
void ClaimBuilder::holds_asymptotically() { claim_.expected = Verdict::holds_asymptotically; }
void ClaimBuilder::holds_under(const std::string &condition) {
  claim_.expected = Verdict::holds_under, claim_.condition = condition;
}
Claim ClaimBuilder::is_not_tested(Reason reason) {
  claim_.expected = Verdict::not_tested, claim_.reason = reason;
  return claim_;
}
void ClaimBuilder::is_reduced() { claim_.covers = {}, claim_.suite = Effort::full; }
void ClaimBuilder::runs(std::vector<std::string> layers) { claim_.variants = std::move(layers); }
void ClaimBuilder::draws(std::vector<std::string> tasks) { claim_.tasks = std::move(tasks); }
void ClaimBuilder::takes(std::vector<ParamSpec> params, const std::vector<ParamSpec> &more) {
  claim_.params = std::move(params);
  claim_.params.insert(claim_.params.end(), more.begin(), more.end());
}
void ClaimBuilder::at(std::vector<Changes> points) { full_ = quick_ = std::move(points); }
void ClaimBuilder::at(std::vector<Changes> quick, std::vector<Changes> full) {
  quick_ = std::move(quick), full_ = std::move(full);
}

void ClaimBuilder::first(std::function<void(Points &, const Protocol &)> more) { first_ = std::move(more); }
void ClaimBuilder::last(std::function<void(Points &, const Protocol &)> more) { last_ = std::move(more); }
void ClaimBuilder::also(std::function<void(Points &, const Protocol &)> more) { also_ = std::move(more); }

Claim not_tested(const std::string &row, const std::string &source, Reason reason, const std::string &statement,
                 const std::string &form, const std::string &because) {
  ClaimBuilder c(row, source);
  c.says(statement), c.exactly(form), c.because(because);
  return c.is_not_tested(reason);
}

Claim ClaimBuilder::measure(std::function<void(Points &, const Params &, const Protocol &)> at_point) {
  claim_.measure = [quick = resolved(quick_), full = resolved(full_), at_point, first = first_, also = also_,
                    last = last_](const Protocol &protocol) {
    Points points;
    if (first) first(points, protocol);
    for (const Params &p : points_of(protocol, protocol.full() ? full : quick)) at_point(points.at(p), p, protocol);
    if (also && !protocol.point) also(points, protocol);
    if (last) last(points, protocol);
    return points.all();
  };
  return claim_;
}

std::vector<Params> ClaimBuilder::resolved(const std::vector<Changes> &points) const {
  std::vector<Params> all;
  for (const Changes &changes : points) all.push_back(changed(resolve(claim_.params, {}, claim_.id), changes));
  return all;
}
} // namespace recollect::theory
