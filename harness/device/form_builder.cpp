// SPDX-License-Identifier: Apache-2.0
#include "harness/device/form_builder.hpp"

namespace recollect {

FormBuilder fast(std::string name, std::function<void(const Call<float> &)> f32,
                 std::function<void(const Call<double> &)> f64) {
  return FormBuilder(Form(std::move(name), std::move(f32), std::move(f64)));
}

} // namespace recollect
