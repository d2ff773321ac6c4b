#!/usr/bin/env bash
# Makes the machine ready to build recollect:  Kokkos_ROOT=$(ci/setup.sh)
#
# Installs the missing packages (Debian and Ubuntu) and builds Kokkos and Kokkos Kernels once per user, with OpenMP.
# Standard output: the prefix that holds both CMake packages, and nothing else. Standard error: what it does.
# Environment: Kokkos_ROOT (your own Kokkos: nothing is built), CXX, RECOLLECT_CACHE. Exit: 0 ready, 3 something is missing.
set -euo pipefail
source "$(dirname "$0")/beat.sh"
exec 3>&1 1>&2   # tools print to standard error; descriptor 3 is the real standard output

packages=(g++ cmake ninja-build git xz-utils
  libhdf5-dev libzip-dev libcli11-dev libboost-dev libboost-test-dev librandom123-dev libtomlplusplus-dev nlohmann-json3-dev
  libeigen3-dev libopenblas-openmp-dev   # this flavour of OpenBLAS shares its threads with Kokkos's OpenMP backend
  python3 python3-h5py python3-matplotlib python3-jinja2 katex   # katex: formulas on the pages of the report
  python3-pytest python3-pandas python3-pip python3-setuptools python3-wheel mypy flake8)   # the Python package's tests
mpi_packages=(libopenmpi-dev openmpi-bin)   # optional: mpirun -n N recollect run
fuzz_packages=(clang libclang-rt-dev)       # optional: libFuzzer, for ci/fuzz.sh
linked_data_packages=(python3-pyld)            # optional: a test reads `verify --json-ld` with it
serial_kokkos_packages=(libtrilinos-kokkos-dev libtrilinos-kokkos-kernels-dev)

step() { printf 'setup [%3ds] %s\n' "$SECONDS" "$*"; }
die() { printf 'setup: error: %s\n' "$*"; exit 3; }
finish() { step "ready: $1"; printf '%s\n' "$1" >&3; exit 0; }
newest() { tail -n 1 "$log" | cut -c -100; }
logged() {
  local status=0
  beat "setup" newest
  "$@" >>"$log" 2>&1 || status=$?
  end_beat
  return $status
}
build_failed() { tail -n 25 "$log"; die "$1 did not build; the whole log is $log"; }

need_space() {   # MiB
  local free
  free=$(df --output=avail -k "$cache" | tail -n 1) || return 0
  ((free >= $1 * 1024)) || die "$cache has $((free / 1024)) MiB left, needs $1: make room or name another folder in RECOLLECT_CACHE"
}

holds() { compgen -G "$1/lib*/cmake/$2/$2Config.cmake" || compgen -G "$1/lib*/*/cmake/$2/$2Config.cmake"; } >/dev/null

# A Kokkos that the user names is not rebuilt; CMake checks its version and back ends.
use_own_kokkos() {
  [[ -n ${Kokkos_ROOT:-} ]] || return 0
  holds "$Kokkos_ROOT" Kokkos || die "Kokkos_ROOT=$Kokkos_ROOT holds no lib/cmake/Kokkos: correct it or unset it"
  holds "$Kokkos_ROOT" KokkosKernels || holds "${KokkosKernels_ROOT:-/nonexistent}" KokkosKernels ||
    die "no lib/cmake/KokkosKernels in Kokkos_ROOT=$Kokkos_ROOT: install Kokkos Kernels there or set KokkosKernels_ROOT"
  finish "$Kokkos_ROOT"
}

# ---- Systems without apt: say what is needed, check it, and rely on the user's own Kokkos -------------------------------
check_other_system() {
  cat <<'LIST'
setup: this system has no apt-get; please install:
  build      a C++17 compiler with OpenMP, CMake >= 3.18, Ninja, git
  libraries  HDF5, libzip, CLI11, Boost (Math, Test), Random123, toml++, nlohmann-json, Eigen 3.4, OpenBLAS
  report     Python 3 with h5py, matplotlib and jinja2
  Kokkos     Kokkos >= 3.4 with OpenMP and Kokkos Kernels of the same version; name their prefix in Kokkos_ROOT
Headers outside the compiler's own folders are found through CPATH.
LIST
  local compiler=${CXX:-c++} tool header missing=()
  for tool in "$compiler" cmake ninja git python3; do command -v "$tool" >/dev/null || missing+=("$tool"); done
  for header in hdf5.h zip.h CLI/CLI.hpp boost/math/special_functions/hypergeometric_0F1.hpp boost/test/unit_test.hpp Random123/philox.h toml++/toml.h nlohmann/json.hpp Eigen/Dense cblas.h; do
    "$compiler" -std=c++17 -E -include "$header" -x c++ /dev/null >/dev/null 2>&1 || missing+=("$header")
  done
  [[ -n ${Kokkos_ROOT:-} ]] || missing+=("Kokkos_ROOT")
  ((${#missing[@]} == 0)) || die "not found: ${missing[*]}"
  use_own_kokkos
}

# ---- Packages -------------------------------------------------------------------------------------------------------------
as_root() { if ((EUID == 0)); then "$@"; else sudo "$@"; fi; }

install_missing() {
  local package missing=()
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  ((EUID == 0)) || command -v sudo >/dev/null || { step "neither root nor sudo: have an administrator install ${missing[*]}"; return 1; }
  step "installing ${missing[*]}"
  # If the update fails, the machine's package lists may still suffice.
  logged as_root apt-get update || step "warning: apt-get update failed; going on with the package lists at hand"
  logged as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "${missing[@]}"
}

# ---- Kokkos from the distribution's own source ----------------------------------------------------------------------------
# Trilinos's source package contains Kokkos and Kokkos Kernels (3.4.1 in Debian 12) as separate CMake projects. They are
# built here, because the binary packages only have the Serial backend.
#
# Kokkos Kernels is built without explicit instantiations, which would take minutes: the program's own files instantiate
# the templates, and gemm on host views calls the BLAS in any case.
kokkos_options=(-DKokkos_ENABLE_OPENMP=ON -DKokkos_ENABLE_SERIAL=ON -DKokkos_CXX_STANDARD=17)
kernels_options=(-DKokkosKernels_ADD_DEFAULT_ETI=OFF -DKokkosKernels_ENABLE_TPL_BLAS=ON -DBLAS_LIBRARIES=openblas
  -DKokkosKernels_ENABLE_TPL_LAPACK=OFF)
common_options=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=17 -DCMAKE_CXX_FLAGS=-march=native
  -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_LIBDIR=lib)

# Hash of what a build of Kokkos depends on: the distribution's release (which fixes Trilinos's version), the options
# and functions of this script, compiler and processor.
cache_key() {
  { grep -E '^(ID|VERSION_ID)=' /etc/os-release
    declare -p kokkos_options kernels_options common_options
    declare -f download_source build_kokkos
    "${CXX:-g++}" --version | head -n 1
    grep -E '^(model name|flags|Features|CPU part)' /proc/cpuinfo | sort -u
  } | sha256sum | cut -c 1-16
}

# Source entries (deb-src) are often disabled, and this script must not change the system's settings. So apt gets a
# private copy of the machine's sources with source entries only. It still checks signatures.
download_source() {
  local work=$1 sources=$1/sources lists=$1/lists file private_apt
  mkdir -p "$sources" "$lists/partial"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [[ -f $file ]] && sed -nE '/cdrom:/d; s/^deb[[:space:]]/deb-src /p' "$file" >"$sources/${file##*/}.list"
  done
  for file in /etc/apt/sources.list.d/*.sources; do
    [[ -f $file ]] && sed -E 's/^Types:.*/Types: deb-src/I' "$file" >"$sources/${file##*/}"
  done
  private_apt=(apt-get -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$sources" -o Dir::State::lists="$lists"
    -o Acquire::Retries=2 -o Acquire::http::Timeout=30)
  logged "${private_apt[@]}" update || true   # may fail for one of several entries; the download decides
  (cd "$work" && logged "${private_apt[@]}" source --download-only trilinos) || return 1
  logged tar -xf "$work"/trilinos_*.orig.tar.* -C "$work" --strip-components=1 --wildcards '*/packages/kokkos' '*/packages/kokkos-kernels'
}

build_kokkos() {
  local work=$1 stage=$1/prefix prefix=$2 project file
  local -A options=([kokkos]="${kokkos_options[*]}" [kokkos-kernels]="${kernels_options[*]}")
  for project in kokkos kokkos-kernels; do
    step "building $project"
    # shellcheck disable=SC2086  # the options contain no spaces and must be split
    logged env Kokkos_ROOT="$stage" cmake -S "$work/packages/$project" -B "$work/$project" "${common_options[@]}" \
      -DCMAKE_INSTALL_PREFIX="$stage" ${options[$project]} || build_failed "$project"
    logged cmake --build "$work/$project" --target install --parallel "$(nproc)" || build_failed "$project"
  done
  # Kokkos 3.4 cannot export a "native" architecture, so this line compiles its users for this processor.
  echo 'set_property(TARGET Kokkos::kokkoscore APPEND PROPERTY INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:-march=native>")' \
    >>"$stage/lib/cmake/Kokkos/KokkosConfig.cmake"
  for file in "$stage"/lib/cmake/*/*.cmake; do sed -i "s|$stage|$prefix|g" "$file"; done
  mv -T "$stage" "$prefix"   # in one step, so that the prefix is never incomplete
}

# Debian's binary packages have Trilinos's target names and a wrong include path; this small prefix corrects both. It is
# written at every run, and the next run that has a network builds Kokkos from source.
use_serial_kokkos() {
  local system shim=$cache/kokkos-serial package
  system=/usr/lib/$(gcc -print-multiarch)/cmake
  step "WARNING: the source of Kokkos cannot be had (see $log); falling back to the distribution's binary: Serial, one thread"
  install_missing "${serial_kokkos_packages[@]}" || die "neither the source nor the binary package of Kokkos can be had; the log is $log"
  for package in Kokkos KokkosKernels; do
    mkdir -p "$shim/lib/cmake/$package"
    echo "include($system/$package/${package}Config.cmake)" >"$shim/lib/cmake/$package/${package}Config.cmake"
  done
  echo 'set_property(TARGET Kokkos::kokkos PROPERTY INTERFACE_INCLUDE_DIRECTORIES ${Kokkos_INCLUDE_DIRS})' \
    >>"$shim/lib/cmake/Kokkos/KokkosConfig.cmake"
  cp "$system/Kokkos/KokkosConfigVersion.cmake" "$shim/lib/cmake/Kokkos/"
  cat >>"$shim/lib/cmake/KokkosKernels/KokkosKernelsConfig.cmake" <<'CMAKE'
include(CMakeFindDependencyMacro)
find_dependency(Kokkos)
if(NOT TARGET Kokkos::kokkoskernels)
  add_library(Kokkos::kokkoskernels INTERFACE IMPORTED)
  set_target_properties(Kokkos::kokkoskernels PROPERTIES INTERFACE_LINK_LIBRARIES "trilinos_kokkoskernels;Kokkos::kokkos")
endif()
CMAKE
  finish "$shim"
}

# ---- Main -------------------------------------------------------------------------------------------------------------------
command -v apt-get >/dev/null || check_other_system

home=${HOME:-$(getent passwd "$EUID" | cut -d: -f6)} || true
cache=${RECOLLECT_CACHE:-${XDG_CACHE_HOME:-${home:+$home/.cache}}}
[[ -n $cache ]] || die "no home directory: name a folder for Kokkos in RECOLLECT_CACHE"
[[ -n ${RECOLLECT_CACHE:-} ]] || cache+=/recollect
mkdir -p "$cache" || die "cannot create $cache: name another folder in RECOLLECT_CACHE"
log=$cache/setup.log
exec 9>"$cache/lock" || die "cannot write in $cache: name another folder in RECOLLECT_CACHE"
flock --nonblock 9 || { step "waiting for another run of setup"; flock 9; }
# On a full disk, apt would hold its lock and retry for minutes, so free space is checked first.
date >"$log" || die "cannot write $log: is the disk full?"
need_space 16

install_missing "${packages[@]}" || die "the packages above are not installed; the log is $log"
install_missing "${mpi_packages[@]}" || step "warning: going on without ${mpi_packages[*]}: no mpirun"
install_missing "${fuzz_packages[@]}" || step "warning: going on without ${fuzz_packages[*]}: ci/fuzz.sh has no libFuzzer"
install_missing "${linked_data_packages[@]}" || step "warning: going on without ${linked_data_packages[*]}: one test is skipped"
use_own_kokkos
blas=$(readlink -f "/usr/lib/$(gcc -print-multiarch)/libopenblas.so.0")
[[ $blas == *openmp* ]] || step "warning: libopenblas.so.0 is ${blas:-not there}: another flavour than OpenMP, whose threads may compete with Kokkos's"

prefix=$cache/kokkos-$(cache_key)
if [[ ! -d $prefix ]]; then
  need_space 1024   # for the source package, the unpacked source and the build
  rm -rf "$cache"/build.*   # left by killed runs; because of the lock, no other run is active
  work=$(mktemp -d "$cache/build.XXXXXX")
  trap 'end_beat; rm -rf "$work"' EXIT
  step "downloading the source package of Trilinos"
  if ! download_source "$work"; then use_serial_kokkos; fi
  build_kokkos "$work" "$prefix"
fi
finish "$prefix"
