#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times training in PyTorch of models like those that `recollect train` trains for 004: key-value recall, with the steps
captured in a CUDA graph.

    peers_training.py softmax|linear_elu|vla [--pairs 24] [--steps 2000] [--eager]

The model has width 128 and two blocks of layer norm, a mixer with 4 heads, and an MLP. Training uses AdamW, warm-up and cosine,
clipping, and a new batch of 64 texts at every step, all in float32. Softmax attention is scaled_dot_product_attention; linear
attention is a masked product, because texts are short; VLA is a loop over the steps of a text (004 Algorithm 1 without its
refreshes). Prints a line: mixer, seconds per training step, last loss."""
import argparse
import math
import time

import torch
import torch.nn.functional as F

VOCABULARY, WIDTH, HEADS, FFN, LAYERS, BATCH = 128, 128, 4, 256, 2, 64


def texts(pairs, device):
    """(tokens, answers) of a batch. A text has alternating keys and values, a separator, and the keys in another order; the
    answers are the values of these last keys."""
    keys = torch.rand(BATCH, VOCABULARY // 2, device=device).argsort(1)[:, :pairs]
    values = torch.randint(VOCABULARY // 2, VOCABULARY - 1, (BATCH, pairs), device=device)
    order = torch.rand(BATCH, pairs, device=device).argsort(1)
    written = torch.stack([keys, values], 2).flatten(1)
    separator = torch.full((BATCH, 1), VOCABULARY - 1, device=device)
    return torch.cat([written, separator, keys.gather(1, order)], 1), values.gather(1, order)


def vla(q, k, v, u):
    """At every step: A <- A - A u (A u)^T / (1 + u^T A u), S <- S + (v - S k) (A u)^T with the new A, o = S q. k and u are
    scaled to length 1."""
    B, H, T, D = q.shape
    k, u = F.normalize(k, dim=-1), F.normalize(u, dim=-1)
    S, A = q.new_zeros(B, H, D, D), torch.eye(D, device=q.device).expand(B, H, D, D) * 10
    reads = []
    for t in range(T):
        read = (A @ u[:, :, t, :, None])[..., 0]
        gain = read / (1 + (u[:, :, t] * read).sum(-1, keepdim=True))
        A = A - gain[..., :, None] * read[..., None, :]
        wrong = v[:, :, t] - (S @ k[:, :, t, :, None])[..., 0]
        S = S + wrong[..., :, None] * gain[..., None, :]
        reads.append((S @ q[:, :, t, :, None])[..., 0])
    return torch.stack(reads, 2)


class Block(torch.nn.Module):
    def __init__(self, mixer):
        super().__init__()
        linear = lambda rows, columns, bias=False: torch.nn.Linear(rows, columns, bias=bias)
        self.mixer, self.norms = mixer, torch.nn.ModuleList([torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)])
        self.projections = torch.nn.ModuleList([linear(WIDTH, WIDTH) for _ in range(4 if mixer == "vla" else 3)])
        self.out, self.up, self.down = linear(WIDTH, WIDTH), linear(WIDTH, FFN, True), linear(FFN, WIDTH)

    def forward(self, x):
        B, T, _ = x.shape
        normed = self.norms[0](x)
        q, k, v, *u = (p(normed).view(B, T, HEADS, -1).transpose(1, 2) for p in self.projections)
        if self.mixer == "softmax":
            read = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        elif self.mixer == "linear_elu":
            weights = ((F.elu(q) + 1) @ (F.elu(k) + 1).transpose(-1, -2)).tril()
            read = weights @ v / weights.sum(-1, keepdim=True)
        else:
            read = vla(q, k, v, u[0])
        x = x + self.out(read.transpose(1, 2).reshape(B, T, -1))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


class Model(torch.nn.Module):
    def __init__(self, mixer):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        torch.nn.init.normal_(self.embedding.weight, std=WIDTH**-0.5)
        self.blocks = torch.nn.ModuleList([Block(mixer) for _ in range(LAYERS)])
        self.norm = torch.nn.LayerNorm(WIDTH)

    def loss(self, tokens, answers):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        logits = self.norm(x[:, -answers.shape[1]:]) @ self.embedding.weight.T
        return F.cross_entropy(logits.flatten(0, 1), answers.flatten())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mixer", choices=("softmax", "linear_elu", "vla"))
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--eager", action="store_true", help="run without a CUDA graph, as on a CPU")
    a = parser.parse_args()
    torch.manual_seed(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    graphs = device == "cuda" and not a.eager
    model = Model(a.mixer).to(device)
    rate = torch.tensor(0.0, device=device) if graphs else 0.0
    adam = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01, capturable=graphs, foreach=True)
    tokens, answers = texts(a.pairs, device)

    def step():
        adam.zero_grad(set_to_none=False)
        loss = model.loss(tokens, answers)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        adam.step()
        return loss

    replay = step
    if graphs:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loss = step()

        def replay():
            graph.replay()
            return loss

    rising = 0.1 * a.steps
    start = time.perf_counter()
    for i in range(a.steps):
        now = a.lr * ((i + 1) / rising if i + 1 < rising else
                      (1 + math.cos(math.pi * (i + 1 - rising) / (a.steps - rising))) / 2)
        for group in adam.param_groups:
            if graphs:
                group["lr"].fill_(now)
            else:
                group["lr"] = now
        for kept, fresh in zip((tokens, answers), texts(a.pairs, device)):
            kept.copy_(fresh)
        last = replay()
    last = float(last)  # waits for the device
    print(f"{a.mixer} {(time.perf_counter() - start) / a.steps:.3e} s per step, {'graph' if graphs else 'eager'}, loss {last:.3f}")


if __name__ == "__main__":
    main()
