// SPDX-License-Identifier: Apache-2.0
#include "harness/device/algebra.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(algebra)
using namespace engine;

/// Declares all that an algebra must have.
struct Whole {
  using Real = float;
  struct Summary {};
  struct Scratch {};
  static constexpr bool carries_by_reading = false, elementwise = false, fetches = false;
  size_t state_size() const;
  int parts() const;
  void load(const Team &, size_t head, float *state) const;
  void store(const Team &, size_t head, const float *state) const;
  Summary summary(Stack<float> &) const;
  Scratch summarising(Stack<float> &) const;
  Scratch carrying(Stack<float> &) const;
  Scratch reading(Stack<float> &) const;
  void chunk_local(const Team &, const Chunk &, const Summary &, const Scratch &) const;
  void state_passing(const Team &, const Chunk &, const Summary &, const Part &, const float *, float *,
                     const Scratch &) const;
  void chunk_output(const Team &, const Chunk &, const Summary &, const float *before, const Scratch &) const;
};
static_assert(is_algebra<Whole>());

BOOST_AUTO_TEST_CASE(what_is_missing_is_noticed) {
  struct NoStore : Whole {
    void store() const;
  };
  BOOST_TEST((has<Loads, Whole> && !has<Loads, NoStore>));
  struct OtherSummary : Whole {
    int summary(Stack<float> &) const;
  };
  BOOST_TEST((has<PlacesSummary, Whole> && !has<PlacesSummary, OtherSummary>));
  struct ChangesItself : Whole { // called on a const algebra
    void state_passing(const Team &, const Chunk &, const Summary &, const Part &, const float *, float *,
                       const Scratch &);
  };
  BOOST_TEST((has<HasStatePassing, Whole> && !has<HasStatePassing, ChangesItself>));
  struct WritesBefore : Whole { // the state before a chunk is read only
    void chunk_output(const Team &, const Chunk &, const Summary &, float *before, const Scratch &) const;
  };
  BOOST_TEST((has<HasChunkOutput, Whole> && !has<HasChunkOutput, WritesBefore>));
}

BOOST_AUTO_TEST_CASE(what_an_algebra_says_it_does_it_must_have) {
  BOOST_TEST((!has<Fetches, Whole> && !has<CarriesElements, Whole> && !has<PassesInOutput, Whole>));
  struct More : Whole {
    int buffers() const;
    void fetch(const Team &, const Chunk &, const Summary &, const Part &, const Scratch &) const;
    Affine<float> affine(const Summary &, size_t at) const;
    void chunk_output(const Team &, const Chunk &, const Summary &, const float *before, float *after,
                      const Scratch &) const;
  };
  BOOST_TEST((has<Fetches, More> && has<CarriesElements, More> && has<PassesInOutput, More>));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
