// SPDX-License-Identifier: Apache-2.0
// What reading and writing of HDF5 share. Only hdf5_image.cpp and hdf5_file.cpp include this header.
#pragma once
#include "harness/core/error.hpp"
#include "harness/files/hdf5_file.hpp"
#include <cstdlib>
#include <hdf5.h>

namespace recollect::hdf5 {

/// Must be called before any other function of the library. Disables the library's error messages and exit handler.
/// Also disables file locking, so that a file can be read while a run still writes it or this process resumes it.
inline void start_library() {
  static const bool once = [] {
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    return true;
  }();
  (void)once;
}

/// Closes any kind of HDF5 identifier.
class Handle {
public:
  Handle(hid_t id, const std::string &what) : id_(id) {
    if (id < 0) input_error(what);
  }
  Handle(Handle &&other) noexcept : id_(other.id_) { other.id_ = -1; }
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;
  ~Handle() {
    if (id_ >= 0) H5Idec_ref(id_);
  }
  operator hid_t() const { return id_; }

private:
  hid_t id_;
};

inline const char *const no_memory = "HDF5 could not build a file in memory (is there memory left?)";
inline void require(herr_t status, const std::string &what) {
  if (status < 0) input_error(what);
}

inline Handle text_type() {
  Handle type(H5Tcopy(H5T_C_S1), no_memory);
  require(H5Tset_size(type, H5T_VARIABLE), no_memory);
  require(H5Tset_cset(type, H5T_CSET_UTF8), no_memory);
  return type;
}

constexpr size_t cell_bytes = 8; // a number, or a pointer to a text

inline hid_t number_type(Kind kind) {
  return kind == Kind::whole ? H5T_NATIVE_UINT64 : kind == Kind::integer ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
}

} // namespace recollect::hdf5
