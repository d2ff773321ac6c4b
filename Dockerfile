# docker build -t recollect . && docker run --rm -v "$PWD:/work" recollect verify snr_linear
#
# Builds the Debian packages in one stage and installs the program in another. The image runs on processors that have the
# instructions of the one that built it. BASE may be any image of Debian 12.
#
# What was run: the commands of the last stage, in a chroot made by debootstrap (bookworm, minbase), with the Debian package that
# cpack made on Debian 12; there `verify`, `run` and `report` worked. The first stage was not run, nor Docker itself.
ARG BASE=debian:12
FROM ${BASE} AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git g++ dpkg-dev file
COPY . /source
WORKDIR /source
RUN git config --global --add safe.directory /source && rm -rf build && \
    Kokkos_ROOT=$(ci/setup.sh) && export Kokkos_ROOT && \
    cmake --preset openmp -DBUILD_TESTING=OFF && cmake --build --preset openmp && \
    cpack -G DEB --config build/CPackConfig.cmake -B /packages -D CPACK_COMPONENTS_ALL=program

FROM ${BASE}
COPY --from=build /packages/recollect_*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/recollect_*.deb && rm -rf /tmp/recollect_*.deb /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["recollect"]
