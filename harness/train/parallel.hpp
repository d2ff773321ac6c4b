// SPDX-License-Identifier: Apache-2.0
// A loop over independent pieces of work on the host: what they compute does not depend on the number of threads.
#pragma once

namespace recollect::train {

template <class Work> void each_of(int count, const Work &work) {
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
  for (int i = 0; i < count; ++i) work(i);
}

} // namespace recollect::train
