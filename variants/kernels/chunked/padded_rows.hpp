// SPDX-License-Identifier: Apache-2.0
// Copies of arrays whose rows do not start at multiples of 16 bytes. Kernels with static extents copy 16 bytes at a
// time. If the bytes of a row are no multiple of 16, a forward or backward pass first copies its inputs to wider rows,
// with zeros past the width, and at the end copies its results back. The zeros in additional channels of keys and
// values change no sum. One kernel copies all inputs, and one copies all results.
#pragma once
#include "harness/device/arena.hpp"
#include "variants/kernels/chunked/problem.hpp"
#include <Kokkos_Array.hpp>
#include <stdexcept>
#include <string>

namespace recollect::chunked {

/// Blocks of rows: `width` numbers per row, `rows` rows per block, and `apart` numbers from the start of one block to
/// the next.
struct RowBlocks {
  int width;
  std::size_t rows, apart;
  KOKKOS_FUNCTION std::size_t size() const { return rows * width; } // numbers of a block
};

/// A copy of `blocks` blocks from one row width to another: each row is truncated, or padded with zeros.
struct RowCopy {
  const void *from;
  void *to;
  RowBlocks given, wanted;
  std::size_t blocks;
  int bytes;              // of a number: 2 or 4
  std::uint32_t next = 0; // bits of the first number of padding (the number 1 if normalised); the rest is zeros

  std::size_t packs_of_block() const { return (wanted.size() * bytes + 15) / 16; } // a pack: 16 bytes, one store

  /// Writes the nth pack of a block.
  KOKKOS_FUNCTION void operator()(std::size_t block, std::size_t nth) const {
    if (bytes == 2)
      copy<std::uint16_t>(block, nth);
    else
      copy<std::uint32_t>(block, nth);
  }

private:
  template <class Number> KOKKOS_FUNCTION void copy(std::size_t block, std::size_t nth) const {
    struct alignas(16) Pack {
      Number x[16 / sizeof(Number)];
    };
    constexpr int pack = 16 / sizeof(Number);
    const std::size_t first = nth * pack, left = wanted.size() - first;
    std::size_t row = first / wanted.width;
    int column = int(first - row * wanted.width);
    const Number *source = static_cast<const Number *>(from) + block * given.apart + row * given.width + column;
    Number *const target = static_cast<Number *>(to) + block * wanted.apart + first;
    Pack all;
    RECOLLECT_UNROLL
    for (int e = 0; e < pack; ++e, ++source) {
      all.x[e] = row < given.rows && column < given.width ? *source : Number(column == given.width ? next : 0);
      if (++column == wanted.width) column = 0, ++row, source += given.width - wanted.width;
    }
    if (left >= pack && reinterpret_cast<std::uintptr_t>(target) % 16 == 0) {
      *reinterpret_cast<Pack *>(target) = all;
    } else {
      RECOLLECT_UNROLL
      for (int e = 0; e < pack; ++e)
        if (std::size_t(e) < left) target[e] = all.x[e];
    }
  }
};

/// Several copies in one kernel.
class RowCopies {
public:
  void add(const RowCopy &copy) {
    const std::size_t each = copy.packs_of_block(), all = copy.blocks * each;
    if (all == 0) return;
    if (count_ == most) throw std::logic_error("more copies of rows than one kernel makes");
    copies_[count_] = copy, each_[count_] = each, ends_[count_] = packs() + all;
    ++count_;
  }
  void run(const std::string &label) const {
    if (count_) parallel_loop(label, packs(), *this);
  }
  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    int nth = 0;
    while (i >= ends_[nth]) ++nth;
    if (nth) i -= ends_[nth - 1];
    const std::size_t block = copies_[nth].blocks == 1 ? 0 : i / each_[nth];
    copies_[nth](block, i - block * each_[nth]);
  }

private:
  std::size_t packs() const { return count_ ? ends_[count_ - 1] : 0; }

  static constexpr int most = 8;
  int count_ = 0;
  Kokkos::Array<RowCopy, most> copies_;
  /// each_: packs per block, for each copy; ends_: packs of each copy and of all copies before it, added.
  Kokkos::Array<std::size_t, most> each_, ends_;
};

/// The width to which a row is padded, so that its size is a multiple of 16 bytes. A number has `bytes` bytes.
inline int padded_width(int width, int bytes) { return (width * bytes + 15) / 16 * 16 / bytes; }

/// The arrays of a pass, in rows that start at multiples of 16 bytes. Each function returns the given array if its rows
/// need no padding, else an array in the arena. A null array stays null. read() fills the copies of inputs, and write()
/// copies results back.
class PaddedRows {
public:
  /// `bytes` is the size of the narrowest number in rows of keys and of values. If `normalised`, each row of values
  /// (float32) is followed by a 1, and each state [Dv,Dk] by the state's row for that additional value.
  PaddedRows(Arena &arena, int Dk, int Dv, int bytes, bool normalised = false)
      : arena_(arena), normalised_(normalised), Dk_(Dk), Dv_(Dv), K_(padded_width(Dk, bytes)),
        V_(padded_width(Dv + normalised, bytes)) {}

  int keys() const { return K_; }   // padded width
  int values() const { return V_; } // padded width
  bool normalised() const { return normalised_; }
  bool pads() const { return K_ != Dk_ || V_ != Dv_; }

  /// The copy of an input [rows,Dk]. The next function returns the copy of an input [rows,Dv].
  template <class Number> const Number *keys(const Number *array, std::size_t rows) {
    return input(array, rows, Dk_, K_);
  }
  template <class Number> const Number *values(const Number *array, std::size_t rows) {
    return input(array, rows, Dv_, V_, normalised_ ? one : 0);
  }
  /// The copy of a result [rows,Dk]. The next function returns the copy of a result [rows,Dv].
  template <class Number> Number *keys_of_result(Number *array, std::size_t rows) {
    return result(array, rows, Dk_, K_);
  }
  template <class Number> Number *values_of_result(Number *array, std::size_t rows) {
    return result(array, rows, Dv_, V_);
  }
  /// The copies of states [Dv,Dk], which lie `apart` numbers apart; the copies lie states_apart() numbers apart. read()
  /// fills the copies. If `written`, write() copies them back.
  template <class Number> Number *states(Number *array, std::size_t count, std::size_t apart, bool written) {
    if (!array || !pads()) return array;
    const RowBlocks own{Dk_, std::size_t(Dv_ + normalised_), apart}, wide{K_, std::size_t(V_), states_apart(apart)};
    using Plain = std::remove_const_t<Number>;
    Plain *const copy = arena_.take<Plain>(count * wide.apart).data();
    in_.add({array, copy, own, wide, count, int(sizeof(Number))});
    if constexpr (!std::is_const<Number>::value)
      if (written) out_.add({copy, array, wide, own, count, int(sizeof(Number))});
    return copy;
  }
  std::size_t states_apart(std::size_t apart) const { return pads() ? std::size_t(V_) * K_ : apart; }

  void read(const std::string &label) const { in_.run(label + "::padded_rows"); }
  void write(const std::string &label) const { out_.run(label + "::given_rows"); }

private:
  static bool starts_on_16_bytes(const void *array) { return reinterpret_cast<std::uintptr_t>(array) % 16 == 0; }
  template <class Number> Number *take(const Number *array, std::size_t rows, int own, int wide) {
    if (!array || (own == wide && starts_on_16_bytes(array))) return nullptr;
    return arena_.take<Number>(rows * wide).data();
  }
  template <class Number>
  const Number *input(const Number *array, std::size_t rows, int own, int wide, std::uint32_t next = 0) {
    Number *const copy = take(array, rows, own, wide);
    if (copy) in_.add({array, copy, {own, rows, 0}, {wide, rows, 0}, 1, int(sizeof(Number)), next});
    return copy ? copy : array;
  }
  template <class Number> Number *result(Number *array, std::size_t rows, int own, int wide) {
    Number *const copy = take<Number>(array, rows, own, wide);
    if (copy) out_.add({copy, array, {wide, rows, 0}, {own, rows, 0}, 1, int(sizeof(Number))});
    return copy ? copy : array;
  }

  static constexpr std::uint32_t one = 0x3f800000; // bits of float32
  Arena &arena_;
  bool normalised_;
  int Dk_, Dv_, K_, V_;
  RowCopies in_, out_;
};

#ifdef __CUDACC__
/// The call's inputs in padded rows, except for the states: the caller sets `start`, and calls read() before any
/// kernel.
template <class Stored> Inputs<Stored> in_padded_rows(Inputs<Stored> in, PaddedRows &rows) {
  const std::size_t steps = std::size_t(in.B) * in.T;
  in.q = rows.keys(in.q, in.key_heads * steps), in.k = rows.keys(in.k, in.key_heads * steps);
  in.v = rows.values(in.v, in.H * steps);
  in.Dk = rows.keys(), in.Dv = rows.values(), in.state_stride = rows.states_apart(in.state_stride);
  return in;
}
#endif

} // namespace recollect::chunked
