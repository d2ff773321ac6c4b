// SPDX-License-Identifier: Apache-2.0
#include "harness/device/stream.hpp"
#include "harness/device/each_index.hpp"
#include "tests/testing.hpp"
#include <memory>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(streams)

constexpr size_t n = 1000;

Array<double> ones() {
  return uploaded<double>("ones", n, [](size_t) { return 1.0; });
}
/// x <- 2 x + y, many times over.
void grow(const Array<double> &x, double y, int times) {
  for (int i = 0; i < times; ++i)
    each_index(
        "grow", n, KOKKOS_LAMBDA(size_t at) { x[at] = 2 * x[at] + y; });
}
bool all_are(const Array<double> &x, double expected) {
  for (double found : download(x))
    if (found != expected) return false;
  return true;
}

BOOST_AUTO_TEST_CASE(what_is_put_into_one_runs_in_order_beside_the_others) {
  std::vector<std::unique_ptr<DeviceStream>> all;
  std::vector<Array<double>> arrays;
  for (int i = 0; i < 3; ++i) {
    all.push_back(std::make_unique<DeviceStream>());
    const DeviceStream::Within here(*all.back());
    arrays.push_back(ones());
  }
  for (int round = 0; round < 10; ++round)
    for (size_t i = 0; i < all.size(); ++i) {
      const DeviceStream::Within here(*all[i]);
      grow(arrays[i], double(i), 3);
    }
  for (size_t i = 0; i < all.size(); ++i) {
    const DeviceStream::Within here(*all[i]);
    BOOST_TEST(all_are(arrays[i], 0x1p30 + double(i) * (0x1p30 - 1)));
  }
}

BOOST_AUTO_TEST_CASE(arrays_are_handed_out_again_in_their_own_stream_alone) {
  if (on_host) return; // a CPU does not cache arrays
  const DeviceStream one, other;
  const void *first = nullptr;
  {
    const DeviceStream::Within here(one);
    first = ones().data();
  }
  {
    const DeviceStream::Within here(other);
    BOOST_TEST(ones().data() != first);
  }
  const DeviceStream::Within here(one);
  const Array<double> again = ones();
  BOOST_TEST(again.data() == first);
}

BOOST_AUTO_TEST_CASE(they_nest_and_their_numbers_are_given_again) {
  BOOST_TEST(recollect::streams::number() == 0u);
  size_t of_first = 0;
  {
    const DeviceStream first;
    const DeviceStream::Within here(first);
    of_first = recollect::streams::number();
    const DeviceStream second;
    {
      const DeviceStream::Within there(second);
      BOOST_TEST(recollect::streams::number() != of_first);
    }
    BOOST_TEST(recollect::streams::number() == of_first);
  }
  BOOST_TEST(recollect::streams::number() == 0u);
  const DeviceStream next;
  const DeviceStream::Within here(next);
  BOOST_TEST(recollect::streams::number() == of_first);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
