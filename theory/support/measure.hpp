// SPDX-License-Identifier: Apache-2.0
// Measures a claim by a function that takes the claim's parameters as arguments:
//
//   c.takes({integer_param("n", 6, 2, 64, "pairs"), real_param("beta", 0.3, 0, 4, "write strength")});
//   return measure(c, [](Points &points, Seed seed, int n, double beta) { ... });
#pragma once
#include "theory/support/claim_builder.hpp"
#include <memory>
#include <tuple>

namespace recollect::theory {

using Seed = std::uint64_t;

/// The values of a claim's parameters, in the order in which they are declared.
struct Arguments {
  const Protocol &protocol;
  const std::vector<ParamSpec> &declared;
  const Params *values = nullptr; // null: take() only checks the kinds of the parameters
  size_t next = 0;
  bool fit = true;

  /// The next argument: the protocol, its seed, the whole point, the shape of one head, or one parameter.
  template <class T> T take() {
    if constexpr (std::is_same_v<T, Protocol>)
      return protocol;
    else if constexpr (std::is_same_v<T, Params>)
      return values ? *values : Params();
    else if constexpr (std::is_same_v<T, Seed>)
      return protocol.seed;
    else if constexpr (std::is_same_v<T, Shape>)
      return {1, 1, take<int>(), take<int>(), take<int>()}; // T, Dk, Dv
    else
      return one<T>();
  }

private:
  template <class T> T one() {
    constexpr bool text = std::is_same_v<T, std::string>, whole = std::is_same_v<T, int>;
    static_assert(text || whole || std::is_same_v<T, double>, "a parameter is an int, a double or a string");
    if (next == declared.size()) return fit = false, T();
    const ParamSpec &spec = declared[next++];
    fit = fit && (spec.kind == ParamSpec::choice) == text && (spec.kind == ParamSpec::integer || !whole);
    if (!fit || !values) return T();
    if constexpr (text)
      return values->text(spec.name);
    else
      return T(values->real(spec.name));
  }
};

template <class F, class... Given>
Claim measure_with(ClaimBuilder &c, const F &f, void (F::*)(Points &, Given...) const) {
  const auto declared = std::make_shared<std::vector<ParamSpec>>(); // filled below, when the claim is built
  Claim claim = c.measure([f, declared](Points &points, const Params &p, const Protocol &protocol) {
    [[maybe_unused]] Arguments arguments{protocol, *declared, &p};
    // braces: the arguments are evaluated from left to right
    const std::tuple<std::decay_t<Given>...> given{arguments.take<std::decay_t<Given>>()...};
    std::apply([&](const auto &...each) { f(points, each...); }, given);
  });
  *declared = claim.params;
  Arguments check{{}, *declared};
  (check.take<std::decay_t<Given>>(), ...);
  if (!check.fit || check.next != declared->size())
    throw std::logic_error(claim.id + ": the arguments of its measurement are not the parameters that it takes");
  return claim;
}
/// The claim, measured by f(points, ...). After `points`, f may take the protocol or its seed, and the point (Params).
/// Then it takes all parameters in the order in which takes() declares them; one Shape stands for T, Dk and Dv.
template <class F> Claim measure(ClaimBuilder &c, const F &f) { return measure_with(c, f, &F::operator()); }

} // namespace recollect::theory
