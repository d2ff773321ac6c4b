# SPDX-License-Identifier: Apache-2.0
"""Counter-examples that a reader can run, for every claim that is wrong as asserted and for some others. The first ones
of this file are on the first page.

`says` is the counter-example in words. `code` is at most five lines, besides the import of NumPy, which print the value
found and the statement's value. `point` says whether these numbers are a point of the claim, which the program
measures."""
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
    "snr_solu_eq17": dict(
        says="At $d = 16$ the noise of one other pair is $e^2 = 7.4$ times the printed value.",
        point=True,
        code="""\
d, (x, weights) = 16, np.polynomial.hermite_e.hermegauss(80)  # x = k_i . k / sqrt(d) of another key k
noise = weights @ (x * np.exp(x)) ** 2 / weights.sum()
print(noise / (np.sqrt(d) * np.exp(np.sqrt(d))) ** 2, 5 / (d * np.exp(2 * np.sqrt(d))))""",
    ),
    "footnote7_mqa_noise": dict(
        says="Eight heads with one key and value ask for the same pair: each reads the same noise, and so does their "
        "mean.",
        point=False,
        code="""\
rng = np.random.default_rng(0)
K, v = rng.normal(size=(16, 8)), rng.normal(size=16)
noises = [v[1:] @ (K[1:] @ K[0]) for head in range(8)]
print(np.mean(noises) ** 2 / noises[0] ** 2, 1 / 8)""",
    ),
    "eq63_symmetric_necessary": dict(
        says="With $A = B = [[0,1],[-1,0]]$ the map $S -> A S B$ is self-adjoint, and neither matrix is symmetric.",
        point=False,
        code="""\
A = np.array([[0, 1], [-1, 0]])
J = np.kron(A.T, A)  # the matrix of S -> A S A
assert np.array_equal(J, J.T)
print(A[0, 1], A[1, 0])  # the text: A is symmetric""",
    ),
    "table2_gated_softmax": dict(
        says="At $t = 10000$ and a gate of 0.2 the layer keeps 0.2 of its state, the printed objective 0.9999.",
        point=False,
        code="""\
t, gate = 10_000, 0.2
layer = (t - 1) / t * gate  # A of Table 2: what is kept of the state
print(layer, 1 - (1 - gate) / t)  # 1 - the gradient of the printed regulariser at S = 1""",
    ),
    "softmax_later_attenuated": dict(
        says="With equal keys the oldest and the newest of eight values have the same weight.",
        point=False,
        code="""\
weights = np.zeros(8)
for i in range(8):
    weights = weights * i / (i + 1)  # the normaliser scales what is older
    weights[i] = 1 / (i + 1)
print(weights[-1] / weights[0], 1 / 8)""",
    ),
    "complexity_inference": dict(
        says="At step 1024 and width 8 a read with the exponential kernel takes 16384 products, not 64.",
        point=True,
        code="""\
t, d = 1024, 8
K, U, q = np.ones((t, d)), np.ones((t, d)), np.ones(d)
o = np.exp(K @ q) @ U  # Eq 40: every number of K and of U is multiplied once
print(K.size + U.size, d**2)""",
    ),
    "vla_prop2_eigenvalues": dict(
        says="At the key $e1$ and the write direction $e2$: $J e1 = e1 - e2$, so that the key is no eigenvector.",
        point=False,
        code="""\
k, a = np.eye(2)
J = np.eye(2) - np.outer(a, k)
print((J @ k)[1], ((1 - a @ k) * k)[1])""",
    ),
    "vla_cor2_product_norm": dict(
        says="Write directions at a right angle to the key, each step oriented to stretch what the last one "
        "stretched: 50 steps stretch a vector by $1.618^50$.",
        point=True,
        code="""\
x, w = 1, np.exp(-0.5j * np.arctan(2))  # vectors of the plane as complex numbers
for t in range(50):
    k = x / abs(x) / w  # w: the direction that I - a k^T stretches most where k = 1
    x = x - 1j * k * (k.conjugate() * x).real  # x - a (k.x) with a = i k
print(abs(x), 1)""",
    ),
    "vla_random_product_law": dict(
        says="Write directions at a right angle to the key, in random orientation in 8 channels: the mean square grows "
        "by an eighth per step.",
        point=False,
        code="""\
k, a = np.linalg.qr(np.random.default_rng(0).normal(size=(100_000, 8, 2)))[0].transpose(2, 0, 1)
x = np.eye(8)[0]
after = x - a * (k @ x)[:, None]
print((after**2).sum(1).mean() ** 8, 1)  # eight independent steps""",
    ),
    "vla_prop2_real_runs": dict(
        says="One step from $A = I / lambda0$ with a penalty direction that is not the key: the norm exceeds 1.",
        point=False,
        code="""\
A, k, u = np.eye(2) / 0.1, np.array([1, 0]), np.array([0.6, 0.8])
A = A - np.outer(A @ u, A @ u) / (1 + u @ A @ u)  # Eq 9
a = A @ k / np.linalg.norm(A @ k)
print(np.linalg.norm(np.eye(2) - np.outer(a, k), 2), 1)""",
    ),
    "vla_cor1_adversarial_real": dict(
        says="The same step: a gradient of length 1 with respect to $S_1$ is longer with respect to $S_0$.",
        point=False,
        code="""\
A, k, u = np.eye(2) / 0.1, np.array([1, 0]), np.array([0.6, 0.8])
A = A - np.outer(A @ u, A @ u) / (1 + u @ A @ u)  # Eq 9
J = np.eye(2) - np.outer(A @ k, k) / np.linalg.norm(A @ k)
gradient = np.linalg.svd(J)[0][:, 0]  # with respect to a row of S_1
print(np.linalg.norm(gradient @ J), np.linalg.norm(gradient))""",
    ),
    "vla_prop1_residual": dict(
        says="Random unit keys with values of 1 or -1, and $u = 0$: the mean square of the residual stays at 2.",
        point=False,
        code="""\
rng, S, errors = np.random.default_rng(0), np.zeros(4), []
for k in np.linalg.qr(rng.normal(size=(5000, 4, 1)))[0][:, :, 0]:  # unit keys; with u = 0 the write is along k
    errors.append(rng.choice([-1, 1]) - S @ k)
    S = S + errors[-1] * k
print(np.mean(np.square(errors[100:])), 0)""",
    ),
    "vla_prop1_counterexample_real_a": dict(
        says="Keys in a plane, each at a right angle to the state, and penalties along the third axis: the norm is "
        "$sqrt(t)$.",
        point=True,
        code="""\
A, S = np.diag([10.0, 10, 1]), np.array([1.0, 0, 0])  # by Eq 9 u = e3 shrinks A along e3 alone
for t in range(2, 401):
    k = np.array([S[1], -S[0], 0]) / np.linalg.norm(S)
    S = S + (1 - S @ k) * (A @ k) / np.linalg.norm(A @ k)
print(np.linalg.norm(S), 4)  # a plateau since t = 16""",
    ),
    "vla_strictly_generalises": dict(
        says="In one dimension VLA ends at the last value, linear attention at the sum of the values.",
        point=True,
        code="""\
S = linear = 0.0
for v in (1.5, 1.5):
    S, linear = S + (v - S), linear + v  # k = 1, hence a = A k / |A k| = 1 whatever A
print(S, linear)""",
    ),
    "vla_suppression_by_a": dict(
        says="After 50 writes at one key $A k$ is 500 times smaller than at first, and a new value is written in full.",
        point=False,
        code="""\
A, k, e = np.eye(2) / 0.1, np.array([1, 0]), 1.0  # e: the residual of a new value
for t in range(50):
    A = A - np.outer(A @ k, A @ k) / (1 + k @ A @ k)  # Eq 9 with u = k
update = e * A @ k / np.linalg.norm(A @ k)
print(np.linalg.norm(update), 0.1 * np.linalg.norm(A @ k))  # the text: as small as A k, next to 1 / lambda0""",
    ),
    "vla_prop3_exact_recovery": dict(
        says="Two unit keys at 60 degrees and values of 1, $lambda0 = .1$: the pair just written is not recalled.",
        point=False,
        code="""\
keys, A, S = np.array([[1, 0], [0.5, 0.75**0.5]]), np.eye(2) / 0.1, np.zeros(2)
for k in keys:
    A = A - np.outer(A @ k, A @ k) / (1 + k @ A @ k)  # Eq 9 with u = k
    S = S + (1 - S @ k) * (A @ k) / np.linalg.norm(A @ k)  # Eq 10
print(S @ keys[1], 1)""",
    ),
    "vla_eq17_shrinkage": dict(
        says="One unit key with $u = k$: the minimiser of Eq 7 reads $v / (2 + lambda0)$.",
        point=False,
        code="""\
S, lambda0 = np.linspace(0, 1.2, 120_001), 0.1
loss = (1 - S) ** 2 + (lambda0 + 1) * S**2  # Eq 7: M_t = lambda0 + u^2
print(S[loss.argmin()], 1)""",
    ),
    "vla_eq10_solves_eq7": dict(
        says="One unit key with $u = k$: the recursion ends at $v$, the minimiser of Eq 7 is $v / (2 + lambda0)$.",
        point=False,
        code="""\
S, lambda0 = np.linspace(0, 1.2, 120_001), 0.1
loss = (1 - S) ** 2 + (lambda0 + 1) * S**2  # Eq 7: M_t = lambda0 + u^2
written = 0 + (1 - 0) * 1  # Eq 10: S + e a with a = 1
print(written, S[loss.argmin()])""",
    ),
    "rls_eq6_solves_eq5": dict(
        says="One unit key with $u = k$: the recursion of Eq 6 gives $v / (1 + lambda0)$, the minimiser of Eq 5 is "
        "$v / (2 + lambda0)$.",
        point=False,
        code="""\
S, lambda0 = np.linspace(0, 1.2, 120_001), 0.1
A = 1 / lambda0 - (1 / lambda0) ** 2 / (1 + 1 / lambda0)  # Sherman-Morrison
loss = (1 - S) ** 2 + (lambda0 + 1) * S**2  # Eq 5
print(0 + (1 - 0) * A, S[loss.argmin()])""",
    ),
    "vla_post_vs_pre_direction": dict(
        says="With $u = k$ the update of $A$ does not turn $A k$: both write directions are the same.",
        point=False,
        code="""\
A, k = np.array([[2.0, 1], [1, 3]]), np.array([0.6, 0.8])
later = A - np.outer(A @ k, A @ k) / (1 + k @ A @ k)  # Eq 9 with u = k
before, after = (B @ k / np.linalg.norm(B @ k) for B in (A, later))
print(abs(after - before).max().round(12), 1e-6)  # the text: they differ""",
    ),
    "vla_scan_eq12_recurrence": dict(
        says="One step from a given state: Eq 12 does not give the state of Eq 10.",
        point=False,
        code="""\
k, a, v, S = np.array([1, 0]), np.array([0.6, 0.8]), np.array([1, 2]), np.array([[1, 2], [3, 4]])
e = v - S @ k
state = S + np.outer(e, a)  # Eq 10
scanned = (np.eye(2) - np.outer(a, k)) @ S + np.outer(e, a)  # Eq 12
print(state[0, 0], scanned[0, 0])""",
    ),
    "fig2_softmax_adapts": dict(
        says="Unit keys of width 64: sixteen steps after a switch to keys at a right angle the 128 earlier pairs still "
        "have 88% of the weight.",
        point=False,
        code="""\
old, new = np.eye(64)[:2]
weights = np.exp([new @ old / 8] * 128 + [new @ new / 8] * 16)  # Eq 1: scale 1 / sqrt(64)
print(weights[:128].sum() / weights.sum(), 0)  # adapted: none""",
    ),
}


def program(claim: str) -> str:
    """The lines of Python that show a claim's counter-example; "" if it has none."""
    return "import numpy as np\n\n" + EXAMPLES[claim]["code"] if claim in EXAMPLES else ""
