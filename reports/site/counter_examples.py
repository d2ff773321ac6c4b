# SPDX-License-Identifier: Apache-2.0
"""Counter-examples that a reader can run, by claim; those on the first page come first.

`says`: the counter-example in words. `code`: at most five lines after importing NumPy; prints the found value and
the statement's value. `point`: whether these numbers are a point of the claim, measured by the program."""
from __future__ import annotations

from typing import TypedDict


class Example(TypedDict):
    says: str
    point: bool
    code: str


EXAMPLES: dict[str, Example] = {
    "vla_prop2_unit_jacobian": dict(
        says="Take the key $e1$ and the write direction $e2$ in the plane: the norm of $I - a k^T$ is the golden "
        "ratio.",
        point=True,
        code="""\
k, a = np.eye(2)
J = np.eye(2) - np.outer(a, k)
print(np.linalg.norm(J, 2), 1)  # the proposition: exactly 1""",
    ),
    "vla_prop3_min_counterexample": dict(
        says="Two unit keys at 45 degrees and values of 1 are enough: reading the second pair, just written, gives "
        "0.914.",
        point=True,
        code="""\
keys, A, S = np.array([[1, 0], [1, 1] / np.sqrt(2)]), np.eye(2) / 1e-4, np.zeros(2)
for k in keys:
    A = A - np.outer(A @ k, A @ k) / (1 + k @ A @ k)  # Eq 9 with u = k
    S = S + (1 - S @ k) * (A @ k) / np.linalg.norm(A @ k)  # Eq 10
print(S @ keys[1], 1)  # the proposition: S_2 k_2 = v_2""",
    ),
    "sstar_eq48": dict(
        says="Inputs $(1,1)$ and $(0,1)$, projections $Wk = Wv = (1,0)$: least squares gives 1, Eq 48 gives 2.",
        point=True,
        code="""\
X, W = np.array([[1.0, 1], [0, 1]]), np.array([[1.0, 0]])  # one input per row
C, pinv = X.T @ X, np.linalg.pinv(W)
exact = np.linalg.lstsq(X @ W.T, X @ W.T, rcond=None)[0]
print(exact.item(), (W @ C @ pinv @ W @ np.linalg.inv(C) @ pinv).item())""",
    ),
    "tc0_neighbourhood": dict(
        says="The majority of $n$ bits is one gate of depth 1, and each of the $n$ bits can flip it.",
        point=True,
        code="""\
n, majority = 9, lambda bits: bits.sum() > len(bits) / 2
bits = np.array([1] * 5 + [0] * 4)
flips = [majority(np.roll(bits, i)) != majority(np.roll(bits, i) - (np.arange(n) == i)) for i in range(n)]
print(sum(flips), 3)  # a constant neighbourhood: as many as of n = 3""",
    ),
    "local_linear_complexity_gram": dict(
        says="Twice the key width takes more than three times the products, and four times in the limit, not twice.",
        point=True,
        code="""\
def products(T, Dk):
    return T * (T + 1) // 2 * (Dk + 1) * (Dk + 2)  # weighted outer products of width Dk + 1, every prefix anew

print(products(16, 14), 2 * products(16, 7))""",
    ),
    "vla_prop1_counterexample_sqrt": dict(
        says="Unit keys, each at a right angle to what is stored, and values of 1: the norm is $sqrt(t)$, without a "
        "plateau.",
        point=True,
        code="""\
S = np.array([1.0, 0.0])
for t in range(2, 401):
    k = np.array([S[1], -S[0]]) / np.linalg.norm(S)
    S = S + (1 - S @ k) * k
print(np.linalg.norm(S), 4)  # a plateau since t = 16""",
    ),
    "vla_remark_u0_linear_attention": dict(
        says="Two keys at 45 degrees with values of 1: VLA without its penalty reads 1, linear attention 1.707.",
        point=False,
        code="""\
keys = np.array([[1, 0], [1, 1] / np.sqrt(2)])
S = linear = np.zeros(2)
for k in keys:
    S, linear = S + (1 - S @ k) * k, linear + k  # A = I / lambda0: a = k
print(S @ keys[1], linear @ keys[1])""",
    ),
    "qknorm_necessity": dict(
        says="A query of length 3.2 on keys of length 1: softmax is the local constant regressor, to the last digit.",
        point=False,
        code="""\
q, K = np.array([3.0, 1.0]), np.array([[1, 0], [0, 1], [0.6, 0.8]])
softmax, local = np.exp(K @ q), np.exp(-((q - K) ** 2).sum(1) / 2)
softmax, local = softmax / softmax.sum(), local / local.sum()
print(abs(softmax - local).max().round(12), 1e-6)  # the statement: they differ""",
    ),
    "linattn_optimal_only_if": dict(
        says="Three keys at 120 degrees in the plane: linear attention is the least squares solution, and $t > Dk$.",
        point=False,
        code="""\
angle, V = 2 * np.pi * np.arange(3) / 3, np.array([[1.0], [2], [4]])
K = np.sqrt(2 / 3) * np.stack([np.cos(angle), np.sin(angle)], 1)
best = np.linalg.lstsq(K, V, rcond=None)[0]
print(abs(K.T @ V - best).max().round(12), 1e-3)  # the statement: not optimal""",
    ),
    "vla_eq22_identity": dict(
        says="At $a = 0$, $b = 1$ the left side is 1, the printed right side 0.",
        point=True,
        code="""\
a, b = 0, 1
left, right = 1 - 2 * a * b + a**2, (1 - a * b) ** 2 + a**2 * (1 - b**2) - b**2 * (1 - a**2)
print(left, right)""",
    ),
    "snr_temperature": dict(
        says="At $d = 16$ the noise at $tau = 1.25$ is five times that at $tau = 2$.",
        point=True,
        code="""\
def noise(tau, d=16):
    return (1 + 4 * (tau - 1) / tau**2) ** (-d / 2)  # of one other pair, mean over Gaussian keys

print(noise(1.25) / noise(2), 1)  # the statement: at most 1""",
    ),
    "snr_exp": dict(
        says="At $d = 16$ the mean over Gaussian keys is five times the printed value; in the limit $e^4$ times.",
        point=True,
        code="""\
d, n, dv, tau = 16, 16, 12, 4
a = 2 * (tau - 1) / tau**2
print((n - 1) * dv / (dv - 2) * (1 + 2 * a) ** (-d / 2), n * np.exp(-a * d))""",
    ),
    "vla_prop2_proof_x_eq_k": dict(
        says="At the key $e1$ and the write direction $e2$ the left side is 2, the right side 1.",
        point=True,
        code="""\
k, a = np.eye(2)
J = np.eye(2) - np.outer(a, k)
print((J @ k) @ (J @ k), (1 - a @ k) ** 2)""",
    ),
    "vla_appa2_special_cases": dict(
        says="At $u = v$ the norm is 1, and 2 at $u = -v$.",
        point=True,
        code="""\
u = np.array([0.6, 0.8])
print(np.linalg.norm(np.eye(2) - np.outer(u, u), 2), 2)  # the text: 2 at u = v""",
    ),
}


def program(claim: str) -> str:
    """The lines that show a claim's counter-example, or ""."""
    return "import numpy as np\n\n" + EXAMPLES[claim]["code"] if claim in EXAMPLES else ""
