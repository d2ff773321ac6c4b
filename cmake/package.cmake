# SPDX-License-Identifier: Apache-2.0
# cpack -G DEB --config build/CPackConfig.cmake: the packages recollect (program, report, Python module) and
# recollect-dev (find_package). They run on processors that have the instructions of the one that built Kokkos (ci/setup.sh).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME recollect)
set(CPACK_PACKAGE_VENDOR recollect)
set(CPACK_PACKAGE_CONTACT "The recollect developers <recollect@localhost>") # Debian wants an address: set your own
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "associative memory in sequence models, benchmarked and verified")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_COMPONENTS_GROUPING IGNORE) # a package a component
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT) # name_version_architecture.deb
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME recollect)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
# Threads of this OpenBLAS are those of OpenMP, which Kokkos uses too.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "libopenblas0-openmp, python3, python3-h5py, python3-matplotlib, python3-jinja2")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS katex)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME recollect-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "recollect (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
include(CPack)
