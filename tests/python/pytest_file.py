# SPDX-License-Identifier: Apache-2.0
"""A user's pytest file; test_package.py runs it in a separate pytest process."""
import numpy as np
from kernels import linear

import recollect.testing as rt


@rt.cases("linear", dtypes=["f32"], grad=True, only="T6*")
def test_right(case):
    case.check(linear(**case.inputs(), **case.weights()))


@rt.cases("linear", dtypes=["bf16"], state=[None], only="T63*")
def test_right_in_bf16(case):
    assert "state" not in case.arrays
    case.check(linear(**case.inputs()))


@rt.cases("linear", only="T250*", state=["given"])
def test_wrong(case):
    x = case.inputs()
    case.check(linear(x["q"], x["k"], x["v"], np.swapaxes(x["state"], -1, -2) if case.sizes()["K"] < 2 else None))


@rt.cases("linear", only="T65*")
def test_small_shapes_are_refused(case):
    if case.sizes()["T"] < 64:
        raise NotImplementedError("T is at least 64")
    found = linear(**case.inputs())
    case.check(2 * found["o"])
