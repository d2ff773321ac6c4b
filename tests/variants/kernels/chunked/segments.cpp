// SPDX-License-Identifier: Apache-2.0
// The scan of segments.hpp on the host, over chunks that multiply a state by their decays and add to it. On a GPU the
// kernels pass states in segments where forward.cpp and backward.cpp here have one head and many chunks.
#include "variants/kernels/chunked/segments.hpp"
#include "tests/testing.hpp"
#include <random>

namespace recollect {
namespace {

using chunked::Segments, chunked::SegmentDecays, chunked::ScanSegments;

/// Chunks of several heads, with states [Dv,Dk].
struct Chunks {
  int heads, chunks, Dk, Dv, decay_width;
  std::vector<float> totals, added, given; // [heads,chunks,Dk], [heads,chunks,Dv,Dk], [heads,Dv,Dk]

  Chunks(int heads, int chunks, int decay_width, int Dk = 3, int Dv = 2)
      : heads(heads), chunks(chunks), Dk(Dk), Dv(Dv), decay_width(decay_width) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> any(0, 1);
    for (int i = 0; i < heads * chunks * Dk; ++i)
      totals.push_back(i % 11 == 0 ? 0 : decay_width == 1 && i % Dk ? totals.back() : any(random));
    if (decay_width == 1)
      for (int i = 0; i < heads * chunks * Dk; ++i) totals[i] = totals[i / Dk * Dk];
    for (int i = 0; i < heads * chunks * Dv * Dk; ++i) added.push_back(any(random));
    for (int i = 0; i < heads * Dv * Dk; ++i) given.push_back(any(random));
  }
  size_t size() const { return size_t(Dv) * Dk; }
  /// Passes x through one chunk.
  void pass(int head, int chunk, float *x) const {
    const size_t nth = size_t(head) * chunks + chunk;
    for (size_t i = 0; i < size(); ++i) x[i] = totals[nth * Dk + i % Dk] * x[i] + added[nth * size() + i];
  }

  /// States before each chunk, in the order in which they are passed, and after the last: [heads,chunks + 1,Dv,Dk].
  std::vector<float> in_order(bool backwards) const {
    std::vector<float> all;
    for (int h = 0; h < heads; ++h) {
      std::vector<float> x(given.begin() + h * size(), given.begin() + (h + 1) * size());
      for (int n = 0; n < chunks; ++n) {
        all.insert(all.end(), x.begin(), x.end());
        pass(h, backwards ? chunks - 1 - n : n, x.data());
      }
      all.insert(all.end(), x.begin(), x.end());
    }
    return all;
  }

  /// The same in segments.
  std::vector<float> in_segments(Segments s, bool backwards) const {
    std::vector<float> states(heads * s.count * size(), 0), decays(heads * s.count * decay_width), end(given);
    s.states = states.data(), s.decays = decays.data();
    const auto each_chunk = [&](int h, int segment, const auto &visit) {
      const int first = segment * s.chunks, last = std::min(chunks, first + s.chunks) - 1;
      for (int n = 0; n <= last - first; ++n) visit(h, backwards ? last - n : first + n);
    };
    for (size_t i = 0; i < decays.size(); ++i) SegmentDecays{s, totals.data(), chunks, Dk}(i);
    for (int h = 0; h < heads; ++h)
      for (int segment = 0; segment < s.count; ++segment)
        each_chunk(h, segment, [&](int h, int c) { pass(h, c, &states[(h * s.count + segment) * size()]); });
    for (size_t i = 0; i < heads * size(); ++i) ScanSegments{s, end.data(), end.data(), size(), size(), backwards}(i);
    std::vector<float> all(heads * (chunks + 1) * size());
    for (int h = 0; h < heads; ++h) {
      for (int segment = 0; segment < s.count; ++segment)
        each_chunk(h, segment, [&](int h, int c) {
          float *const x = &states[(h * s.count + segment) * size()];
          std::copy(x, x + size(), &all[(size_t(h) * (chunks + 1) + (backwards ? chunks - 1 - c : c)) * size()]);
          pass(h, c, x);
        });
      std::copy(&end[h * size()], &end[h * size()] + size(), &all[(size_t(h) * (chunks + 1) + chunks) * size()]);
    }
    return all;
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(state_passing_in_segments)

BOOST_AUTO_TEST_CASE(two_segments_by_hand) {
  // Four chunks map one number x to x / 2 + 8; from 16 every state is 16. A segment of two chunks adds 12 and keeps a
  // quarter of x.
  float states[] = {12, 12}, decays[] = {0, 0}, x = 16;
  const float totals[] = {0.5, 0.5, 0.5, 0.5};
  const Segments s{2, 2, 1, states, decays};
  for (size_t i = 0; i < 2; ++i) SegmentDecays{s, totals, 4, 1}(i);
  BOOST_TEST(decays[0] == 0.25f);
  BOOST_TEST(decays[1] == 0.25f);
  ScanSegments{s, &x, &x, 1, 1}(0);
  BOOST_TEST(states[0] == 16);
  BOOST_TEST(states[1] == 16);
  BOOST_TEST(x == 16);
  states[0] = 1, states[1] = 2;
  ScanSegments{s, nullptr, nullptr, 1, 1, true}(0); // backwards from 0: the last segment adds 2
  BOOST_TEST(states[1] == 0);
  BOOST_TEST(states[0] == 2);
}

BOOST_AUTO_TEST_CASE(equal_passing_in_order) {
  for (int decay_width : {1, 3})
    for (int chunks : {32, 33, 67, 131})
      for (int heads : {1, 2})
        for (bool backwards : {false, true}) {
          const Chunks all(heads, chunks, decay_width);
          const Segments s = chunked::segments_for(heads, chunks, 100, decay_width);
          BOOST_TEST(s.count >= 4);
          const auto expected = all.in_order(backwards), found = all.in_segments(s, backwards);
          // All terms are positive, so that every operation has a relative error of at most half an epsilon.
          const double bound = 2.0 * (chunks + 1) * std::numeric_limits<float>::epsilon();
          BOOST_TEST_INFO(decay_width << " decays, " << chunks << " chunks, " << heads << " heads, " << s.count);
          double worst = 0;
          for (size_t i = 0; i < expected.size(); ++i)
            worst = std::max(worst, std::abs(double(found[i]) - expected[i]) / (expected[i] + 1e-30));
          BOOST_TEST(worst <= bound);
        }
}

BOOST_AUTO_TEST_CASE(are_cut_where_multiprocessors_would_idle) {
  BOOST_TEST(chunked::segments_for(64, 1 << 16, 132).count == 1); // most multiprocessors have work
  BOOST_TEST(chunked::segments_for(1, 31, 132).count == 1);       // too short
  BOOST_TEST(chunked::segments_for(1, 32, 132).count == 4);
  for (int blocks : {1, 3, 20, 33})
    for (int chunks : {32, 100, 1000, 1 << 16}) {
      const Segments s = chunked::segments_for(blocks, chunks, 132);
      if (s.count == 1) continue;
      BOOST_TEST((s.count - 1) * s.chunks < chunks); // none is empty
      BOOST_TEST(s.count * s.chunks >= chunks);      // all chunks are in one
      BOOST_TEST(s.count * blocks <= 132);
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

} // namespace recollect
