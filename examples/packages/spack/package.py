# SPDX-License-Identifier: Apache-2.0
# A Spack recipe. It was not run: Spack was not at hand when it was written, and the names of its packages and variants are
# those of Spack's built-in repository. Put it in packages/recollect/ of a repository of your own, and name the Git address:
#
#   spack repo create mine && mkdir -p mine/packages/recollect && cp package.py mine/packages/recollect/
#   spack repo add mine && spack install recollect
from spack.package import *


class Recollect(CMakePackage):
    """Benchmarks and verifies associative memory in sequence models."""

    git = "https://github.com/OWNER/recollect.git"

    license("Apache-2.0")

    version("main", branch="main")
    version("0.2.0", tag="v0.2.0")

    variant("openmp", default=True, description="Kokkos's OpenMP backend")
    variant("cuda", default=False, description="Kokkos's CUDA backend; choose the architecture as kokkos cuda_arch=90")
    variant("mpi", default=False, description="mpirun -n N recollect run")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("git", type="build")
    depends_on("kokkos@3.4:+serial")
    depends_on("kokkos+openmp", when="+openmp")
    depends_on("kokkos+cuda+cuda_lambda+wrapper", when="+cuda")
    depends_on("kokkos-kernels+blas")
    depends_on("blas")
    depends_on("openblas threads=openmp", when="+openmp ^[virtuals=blas] openblas")
    depends_on("boost@1.74:")  # headers: Boost.Math, and Boost.Test of the tests
    depends_on("cli11")
    depends_on("eigen@3.4:")
    depends_on("hdf5")
    depends_on("libzip")
    depends_on("mpi", when="+mpi")
    depends_on("nlohmann-json")
    depends_on("random123")
    depends_on("tomlplusplus")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("py-h5py", type=("build", "run"))  # `recollect report`
    depends_on("py-jinja2", type=("build", "run"))
    depends_on("py-matplotlib", type=("build", "run"))

    def cmake_args(self):
        spec = self.spec
        args = [
            self.define("BUILD_TESTING", self.run_tests),
            self.define_from_variant("RECOLLECT_MPI", "mpi"),
            self.define("RECOLLECT_PYTHON", spec["python"].command.path),
            self.define("Kokkos_ROOT", spec["kokkos"].prefix),
            self.define("KokkosKernels_ROOT", spec["kokkos-kernels"].prefix),
        ]
        if spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CXX_COMPILER", spec["kokkos"].kokkos_cxx))
        return args
