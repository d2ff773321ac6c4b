# SPDX-License-Identifier: Apache-2.0
"""The gated delta rule in PyTorch, in fla's layout [B,T,H,D] and with logarithms of gates, its gradients as well:

    recollect sample gated_delta_net --shape 1,2,64,16,16 --layout bthd --gate log --dtype f32 -o in.npz
    python3 kernel_torch.py in.npz out.npz
    recollect check gated_delta_net -i in.npz -c out.npz --layout bthd --gate log --dtype f32 --grad"""
import sys

import numpy as np
import torch

x = {name: torch.tensor(array, dtype=torch.float32, requires_grad=True) for name, array in np.load(sys.argv[1]).items()}
S, reads = x["state"], []  # [B,H,Dv,Dk]
for q, k, v, beta, log_alpha in zip(*(x[name].unbind(1) for name in ("q", "k", "v", "beta", "alpha"))):
    S = log_alpha.exp()[..., None, None] * S
    error = v - torch.einsum("bhvk,bhk->bhv", S, k)
    S = S + torch.einsum("bh,bhv,bhk->bhvk", beta, error, k)
    reads.append(torch.einsum("bhvk,bhk->bhv", S, q))
o = torch.stack(reads, 1)
do = torch.randn(o.shape, generator=torch.Generator().manual_seed(1))  # the loss is the sum of do * o
o.backward(do)
save = lambda path, **all: np.savez(path, **{name: tensor.detach().numpy() for name, tensor in all.items()})  # noqa: E731
save(sys.argv[1], **x, do=do)
save(sys.argv[2], o=o, state=S, **{"d" + name: tensor.grad for name, tensor in x.items()})
