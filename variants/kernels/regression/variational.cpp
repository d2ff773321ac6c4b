// SPDX-License-Identifier: Apache-2.0
#include "variants/kernels/chunked/delta_rule.hpp"
#include "variants/kernels/regression/variational_directions.hpp"

namespace recollect::variants {

template <class Real> void variational_chunked(const std::string &label, const Call<Real> &call, bool normalised) {
  const VariationalDirections<Real> d = variational_directions(label, call, normalised);
  Call<Real> mapped = call;
  mapped.q = d.rows.query;
  delta_rule(label, mapped, {1, d.rows.key, d.write, {}, {}, {}, {}});
  if (d.rule.elu)
    each_row((label + "::divide").c_str(), int(call.steps()), call.shape.Dv,
             DivideRows<Real>{call.o, call.o, d.weight, call.shape.Dv});
}

template void variational_chunked(const std::string &, const Call<float> &, bool);
template void variational_chunked(const std::string &, const Call<double> &, bool);

} // namespace recollect::variants
