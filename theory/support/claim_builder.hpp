// SPDX-License-Identifier: Apache-2.0
// Builds a claim in this order: source, text, verdict, layers, parameters, and the measurement at a point.
//
//   ClaimBuilder c("blog-shrink", "002 §4");
//   c.says("..."), c.exactly("..."), c.because("...");
//   c.runs({"delta_net"}), c.takes({real_param("beta", 0.3, 0, 4, "write strength")});
//   c.at({{}, {{"beta", 1}}});  // the suite's points: the defaults, and the defaults except for beta = 1
//   return c.measure([](Points &points, const Params &p, const Protocol &protocol) {
//     points.rounding(64); // rounding bound of all comparisons that follow, in units of eps
//     points.statement("label", measured, predicted).but_not("another law", other);
//     points.wrong_system("another layer", measured_there, predicted);
//   });
//
// This header includes what most claims use: layers and their random inputs, dense algebra, usage errors.
#pragma once
#include "harness/core/error.hpp"
#include "harness/numerics/inputs.hpp"
#include "theory/support/layer_points.hpp"
#include <cmath>

namespace recollect::theory {
/// A measurement compared with a prediction. Results of algebra may differ by `units` times eps (numerics/verdict.hpp),
/// and a mean by a multiple of its standard error; a Point is already compared.
inline Point compare(double measured, double law, double units) { return exact_point(measured, law, units); }
inline Point compare(const std::vector<double> &measured, const std::vector<double> &law, double units) {
  return exact_point(measured, law, units);
}
inline Point compare(const Dense &measured, const Dense &law, double units) {
  return exact_point(measured.data, law.data, units);
}
inline Point compare(const Point &compared, double) { return compared; }
inline Point compare(const Mean &measured, double law, double) { return sampled_point(measured, law); }

/// The points of a claim, in the order in which they are stated.
class Points {
public:
  explicit Points(Params at = {});
  /// A measurement to which rival laws can be added. If it was given as a Point, the measurement is the Point's
  /// measured number.
  template <class Measured> class Stated {
  public:
    Stated(Points &points, size_t index, Measured measured, double units)
        : points_(points), index_(index), measured_(std::move(measured)), units_(units) {}
    /// Adds a rival law, which predicts `law` for the same measurement and must be refuted.
    template <class Law> Stated &but_not(std::string name, const Law &law) {
      if constexpr (std::is_same_v<Law, Point>)
        points_.add_rival(index_, std::move(name), law);
      else if constexpr (std::is_same_v<Measured, Point> || std::is_same_v<Measured, Mean>)
        points_.add_rival(index_, std::move(name), double(law));
      else
        points_.add_rival(index_, std::move(name), compare(measured_, law, units_));
      return *this;
    }

  private:
    Points &points_;
    size_t index_;
    Measured measured_;
    double units_;
  };
  /// Sets the parameters that label the points added after this call.
  Points &at(Params place);
  Points &at(std::initializer_list<Change> place) { return at(labels(place)); }
  /// Sets the bound on the rounding error of all comparisons after this call, in units of eps. The caller derives it.
  Points &rounding(double units) { return units_ = units, *this; }
  // Each takes a measurement and its law, or a Point that is already compared (with a bound, by quadrature, or within
  // the tolerance of a layer).
  template <class M, class... Law> Stated<M> statement(std::string label, const M &measured, const Law &...law) {
    return hold(as_statement, std::move(label), measured, law...);
  }
  template <class M, class... Law> Stated<M> limit(std::string label, const M &measured, const Law &...law) {
    return hold(as_limit, std::move(label), measured, law...);
  }
  template <class M, class... Law> Stated<M> condition(std::string label, const M &measured, const Law &...law) {
    return hold(as_condition, std::move(label), measured, law...);
  }
  template <class M, class... Law> Stated<M> obligation(std::string label, const M &measured, const Law &...law) {
    return hold(as_obligation, std::move(label), measured, law...);
  }
  /// Adds a rival system, measured by the same code. The prediction for the right system must be refuted for it.
  template <class M, class... Law> void wrong_system(std::string name, const M &measured, const Law &...law) {
    hold(rival_system, std::move(name), measured, law...);
  }
  /// Adds points that already have their role, label and parameters.
  void append(const std::vector<Point> &more);
  const std::vector<Point> &all() const { return all_; }

private:
  using Cast = Point (*)(Point, const Params &, std::string);
  /// Adds a point and returns its index.
  size_t add(Cast cast, std::string label, const Point &compared);
  // Adds a rival of the point with this index.
  void add_rival(size_t index, std::string name, double law);
  void add_rival(size_t index, std::string name, const Point &compared);
  template <class M, class... Law> Stated<M> hold(Cast cast, std::string label, const M &measured, const Law &...law) {
    return {*this, add(cast, std::move(label), compare(measured, law..., units_)), measured, units_};
  }
  Params at_;
  double units_ = std::numeric_limits<double>::quiet_NaN(); // refutes comparisons before rounding() is called
  std::vector<Point> all_;
};

// Parameters that many claims take.
inline ParamSpec steps_param(int own, int low, int high) { return integer_param("T", own, low, high, "steps"); }
inline ParamSpec key_width_param(int own, int low, int high) { return integer_param("d", own, low, high, "key width"); }
inline ParamSpec value_width_param(int own, int low, int high) {
  return integer_param("dv", own, low, high, "value width");
}

class ClaimBuilder {
public:
  /// A claim that measures the row `row` of the ledger and has the same id. The expected verdict is `holds`.
  ClaimBuilder(const std::string &row, const std::string &source);
  ~ClaimBuilder();
  /// The statement: a fair paraphrase with every condition that the paper states.
  void says(const std::string &statement);
  /// The exact form, the condition under which the statement is true, or the corrected statement.
  void exactly(const std::string &form);
  /// The reason for the verdict, and what the paper meant.
  void because(const std::string &explanation);
  // The expected verdict, if it is not `holds`.
  void is_refuted(Reading reading);
  void holds_asymptotically();
  /// The condition under which the statement holds; "if " + condition must be a clause.
  void holds_under(const std::string &condition);
  /// The expected verdict is `not_tested`: no measurement here decides the claim. If part of it can be measured, that
  /// part is a separate claim.
  Claim is_not_tested(Reason reason);
  /// For a claim that trains its layers for up to 15 s. It runs in the full suite only and covers no row of the ledger.
  void is_reduced();
  void runs(std::vector<std::string> layers);
  void draws(std::vector<std::string> tasks);
  /// The parameters that --point accepts, with their defaults. `params` may be a list that several claims share; `more`
  /// is appended.
  void takes(std::vector<ParamSpec> params, const std::vector<ParamSpec> &more = {});
  /// The points of the suite, as changes of the defaults; `full` gives the points of the full suite if they differ.
  /// Without a call of at(), the only point is the defaults.
  void at(std::vector<Changes> points);
  void at(std::vector<Changes> quick, std::vector<Changes> full);
  /// A measurement that comes first and does not depend on the point.
  void first(std::function<void(Points &, const Protocol &)> more);
  /// A measurement that comes last and does not depend on the point.
  void last(std::function<void(Points &, const Protocol &)> more);
  /// A measurement that follows the suite's points and is left out at the user's point.
  void also(std::function<void(Points &, const Protocol &)> more);
  /// The claim with this measurement. It is measured at the user's point if there is one, else at the suite's points.
  Claim measure(std::function<void(Points &, const Params &, const Protocol &)> at_point);

private:
  std::vector<Params> resolved(const std::vector<Changes> &points) const;
  Claim claim_;
  std::vector<Changes> quick_{Changes()}, full_{Changes()};
  std::function<void(Points &, const Protocol &)> first_, also_, last_;
};

/// A claim that no measurement here decides. `because` may be empty.
Claim not_tested(const std::string &row, const std::string &source, Reason reason, const std::string &statement,
                 const std::string &form, const std::string &because = "");
} // namespace recollect::theory
