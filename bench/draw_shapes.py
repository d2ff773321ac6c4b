#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws shapes at random, so that timings cover not only shapes that somebody chose.

    bench/draw_shapes.py SEED COUNT > bench/drawn_shapes.txt

T (1 to 20,000) and B H (1 to 512) are uniform in their logarithms; Dk and Dv are 32, 64, 96, 128 or 256. A shape whose
largest array has more than 2^29 elements is drawn again. bench/drawn_shapes.txt is committed before its shapes are timed."""
import random
import sys

WIDTHS = (32, 64, 96, 128, 256)
MOST_ELEMENTS = 2**29


def drawn(seed: int, count: int) -> list[tuple[int, int, int, int, int]]:
    """`count` shapes (B, H, T, Dk, Dv)."""
    random_numbers, shapes = random.Random(seed), []
    by_logarithm = lambda most: round(most ** random_numbers.random())  # noqa: E731
    while len(shapes) < count:
        T, heads = by_logarithm(20000), by_logarithm(512)
        B = random_numbers.choice([b for b in range(1, heads + 1) if heads % b == 0])
        Dk, Dv = random_numbers.choice(WIDTHS), random_numbers.choice(WIDTHS)
        if heads * T * max(Dk, Dv) <= MOST_ELEMENTS:
            shapes.append((B, heads // B, T, Dk, Dv))
    return shapes


def main() -> None:
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    print(f"# B,H,T,Dk,Dv drawn by bench/draw_shapes.py {seed} {count}")
    for shape in drawn(seed, count):
        print(",".join(map(str, shape)))


if __name__ == "__main__":
    main()
